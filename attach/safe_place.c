/* safe_place.c - judges whether a stopped thread may be made to call dlopen. */
#include "attach/safe_place.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/inject.h"
#include "common/processes/traced_thread.h"

#define FRAMES 256
#define PAGE 4096
#define SCANNED (64u << 10) /* most bytes of a stack that are searched if its frames are unknown */

/* mov $15, %rax; syscall: the code to which a signal handler returns */
static const unsigned char sigreturn_code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

struct range {
    uint64_t start, end;
};

/* A copy of the structure in preload/hooks/hook_attach.c, with offsets of variables of a thread
 * that show whether it is in the runtime. */
struct libleak_thread {
    int64_t sp, held, put_off;
};

struct safe_place {
    const struct tracee *tracee;
    const struct objects *objects;
    struct range allocator; /* addresses of malloc and its local functions in libc */
    struct libleak_thread places;
    bool in_runtime;
    Dwfl *dwfl;
};

/* ---- Code that is no safe place -------------------------------------------------------------- */

/* Finds malloc's code in libc: the local functions of malloc are in front of its exported ones, in
 * one piece with them. The range begins at the end of the exported function in front of this piece
 * and ends at the beginning of the exported function behind it. */
static struct range find_allocator(const struct object *libc)
{
    static const char *const names[] = {
        "malloc",         "free",          "calloc",      "realloc",
        "memalign",       "aligned_alloc", "valloc",      "pvalloc",
        "posix_memalign", "malloc_trim",   "malloc_info", "malloc_usable_size",
        "mallinfo",       "mallinfo2",     "mallopt",     "malloc_stats"};
    struct range range = {UINT64_MAX, 0};
    uint64_t before = libc->code, behind = libc->code_end;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        uint64_t address = object_symbol(libc, names[i]);

        if (address && address < range.start)
            range.start = address;
        if (address > range.end)
            range.end = address;
    }
    for (size_t i = 0; i < libc->count; i++) {
        uint64_t start = libc->symbols[i].st_value + libc->bias;
        uint64_t end = start + libc->symbols[i].st_size;

        if (ELF64_ST_TYPE(libc->symbols[i].st_info) != STT_FUNC || start < libc->code)
            continue;
        if (start < range.start && end > before && end <= range.start)
            before = end;
        if (start > range.end && start < behind)
            behind = start;
    }
    return (struct range){before, behind};
}

static bool is_fork_or_end(const char *name)
{
    static const char *const names[] = {
        "fork",         "__fork",       "__libc_fork",    "_Fork",           "vfork",
        "__vfork",      "clone",        "__clone",        "clone3",          "posix_spawn",
        "posix_spawnp", "exit",         "_exit",          "quick_exit",      "abort",
        "pthread_exit", "system",       "popen",          "dl_iterate_phdr", "_dl_addr",
        "on_exit",      "__cxa_atexit", "__cxa_finalize", "pthread_create",  "pthread_cancel"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Says why a thread must not be interrupted at an address in libc; NULL = it may. */
static const char *judge_libc(const struct safe_place *place, uint64_t pc)
{
    const struct object *libc = place->objects->libc;
    const Elf64_Sym *symbol = object_nearest(libc, pc);

    if (pc - place->allocator.start < place->allocator.end - place->allocator.start)
        return "in malloc or free";
    if (symbol && pc - libc->bias - symbol->st_value < symbol->st_size &&
        is_fork_or_end(libc->names + symbol->st_name) &&
        /* clone and clone3 are allowed: the outermost frame of every thread is in one of them. */
        strcmp(libc->names + symbol->st_name, "clone") != 0 &&
        strcmp(libc->names + symbol->st_name, "clone3") != 0)
        return "in a function of libc that forks, ends or lists objects";
    return NULL;
}

static bool is_handler_return(const struct safe_place *place, uint64_t pc)
{
    unsigned char code[sizeof(sigreturn_code)];

    return tracee_read(place->tracee, pc, code, sizeof(code)) &&
           memcmp(code, sigreturn_code, sizeof(code)) == 0;
}

/* Says why code at pc is no safe place; NULL = it is one. For a caller, pc is the byte before
 * its return address. */
static const char *judge_code(const struct safe_place *place, uint64_t pc)
{
    const struct object *object = loaded_objects_find(place->objects, pc);

    if (!object)
        return inject_is_own_code(place->tracee, pc) ? "in calls that leakctl has made" : NULL;
    if (object == place->objects->loader)
        return "in the loader";
    if (object == place->objects->library)
        return place->in_runtime ? "in libleak" : NULL;
    if (object == place->objects->libc)
        return judge_libc(place, pc);
    if (object != place->objects->program && object_symbol(object, "malloc"))
        return "in the allocator";
    return NULL;
}

/* ---- The frames of a stack ------------------------------------------------------------------- */

struct walk {
    struct safe_place *place;
    const char *obstacle;
    unsigned frames;
    bool interrupted; /* a signal interrupted the next frame, so that frame is not at a call */
};

/* Says whether the instruction in front of pc is a system call. A thread that a signal interrupted
 * in other code of libc may hold one of libc's locks. */
static bool is_behind_syscall(const struct safe_place *place, uint64_t pc)
{
    unsigned char code[2];

    return tracee_read(place->tracee, pc - sizeof(code), code, sizeof(code)) && code[0] == 0x0f &&
           code[1] == 0x05;
}

static const char *judge_interrupted(const struct safe_place *place, uint64_t pc)
{
    const char *obstacle = judge_code(place, pc);

    if (!obstacle && loaded_objects_find(place->objects, pc) == place->objects->libc &&
        !is_behind_syscall(place, pc))
        return "in a signal handler";
    return obstacle;
}

/* Judges one frame. A signal handler may run as long as the process, so the code that it
 * interrupted is judged as well. */
static int visit_frame(Dwfl_Frame *frame, void *context)
{
    struct walk *walk = context;
    bool interrupted = walk->interrupted;
    Dwarf_Addr pc;
    bool exact;

    if (!dwfl_frame_pc(frame, &pc, &exact) || !pc)
        return DWARF_CB_ABORT;
    walk->interrupted = walk->frames && is_handler_return(walk->place, pc);
    if (interrupted)
        walk->obstacle = judge_interrupted(walk->place, pc);
    else if (!walk->interrupted)
        walk->obstacle = judge_code(walk->place, exact ? pc : pc - 1);
    return walk->obstacle || ++walk->frames == FRAMES ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* Judges all words of a stack that look like return addresses, if its frames are unknown. */
static const char *scan_stack(const struct safe_place *place, uint64_t sp)
{
    const struct mapping *stack = loaded_objects_find_mapping(place->objects, sp);
    size_t size = stack && stack->end - sp < SCANNED ? stack->end - sp : SCANNED;
    uint64_t *words = malloc(SCANNED);
    const char *obstacle = NULL;

    if (!words || !tracee_read(place->tracee, sp, words, size))
        obstacle = "on an unknown stack";
    for (size_t i = 0; !obstacle && i < size / sizeof(*words); i++) {
        const struct mapping *code = loaded_objects_find_mapping(place->objects, words[i]);

        if (!code || !code->executable)
            continue;
        obstacle = judge_code(place, words[i] - 1);
        if (!obstacle && is_handler_return(place, words[i]))
            obstacle = "in a signal handler";
    }
    free(words);
    return obstacle;
}

static const char *judge_stack(struct safe_place *place)
{
    struct walk walk = {.place = place};
    int end = place->dwfl
                  ? dwfl_getthread_frames(place->dwfl, place->tracee->tid, visit_frame, &walk)
                  : -1;

    if (walk.obstacle)
        return walk.obstacle;
    return end == 0 && walk.frames > 1 ? NULL : scan_stack(place, place->tracee->before.rsp);
}

/* ---- The thread as a whole ------------------------------------------------------------------- */

/* Says whether a system call is one that malloc, the loader or libc makes while it holds a lock. */
static bool is_inner_call(uint64_t call)
{
    switch (call) {
    case SYS_brk:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_rt_sigreturn:
        return true;
    }
    return false;
}

/* Says whether the thread executes code of the runtime. True also if that cannot be found out. */
static bool is_in_runtime(const struct safe_place *place)
{
    uint64_t block = place->tracee->before.fs_base, sp;
    uint32_t held;
    bool put_off;

    return !place->places.sp || !tracee_read(place->tracee, block + place->places.sp, &sp, 8) ||
           !tracee_read(place->tracee, block + place->places.held, &held, 4) ||
           !tracee_read(place->tracee, block + place->places.put_off, &put_off, 1) || sp || held ||
           put_off;
}

const char *safe_place_obstacle(struct safe_place *place, const struct tracee *tracee)
{
    const struct user_regs_struct *now = &tracee->before;
    bool in_call = (int64_t)now->orig_rax >= 0;

    place->tracee = tracee;
    place->in_runtime = is_in_runtime(place);
    if (now->cs != 0x33)
        return "in 32-bit code";
    /* The signal of the fault would be delivered while libleak is loaded. */
    if (traced_thread_has_faulted(tracee->pid, tracee->tid))
        return "about to handle a fault";
    if (in_call && is_inner_call(now->orig_rax))
        return "in a system call of the allocator or the loader";
    if (!in_call && loaded_objects_find(place->objects, now->rip) == place->objects->libc)
        return "in libc";
    if (tracee_is_in_rseq(tracee))
        return "in a restartable sequence";
    return judge_stack(place);
}

/* ---- Preparation before a thread is stopped -------------------------------------------------- */

static int find_no_file(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
                        char **file, Elf **elf)
{
    (void)module, (void)context, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

static int find_no_debuginfo(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)context, (void)name, (void)base, (void)file, (void)link, (void)crc;
    (void)found;
    return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_no_file,
                                         .find_debuginfo = find_no_debuginfo};

/* Opens the file of an object as the process sees it. libleak.so may have been loaded from memory;
 * then the process sees no file of it. So for libleak.so opens the file `library`, if its first
 * page, which has the build-id, equals that in the process. -1: there is no file. */
static int open_object(const struct tracee *tracee, const struct object *object, bool is_library,
                       const char *library)
{
    char path[4096], file[PAGE], memory[PAGE];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)tracee->pid, object->path);
    fd = open(is_library && library ? library : path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !is_library ||
        (pread(fd, file, PAGE, 0) == PAGE && tracee_read(tracee, object->start, memory, PAGE) &&
         memcmp(file, memory, PAGE) == 0))
        return fd;
    close(fd);
    return -1;
}

/* Reports the loaded files to libdwfl, so that it unwinds through them. Through an object whose
 * file was deleted it cannot unwind then. */
static void report_objects(Dwfl *dwfl, const struct tracee *tracee, const struct objects *objects,
                           const char *library)
{
    dwfl_report_begin(dwfl);
    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = &objects->at[i];
        int fd;

        if (!object->symbols || *object->path != '/')
            continue;
        fd = open_object(tracee, object, object == objects->library, library);
        if (fd >= 0 && !dwfl_report_elf(dwfl, object->path, object->path, fd, object->start, false))
            close(fd);
    }
    dwfl_report_end(dwfl, NULL, NULL);
}

struct safe_place *safe_place_begin(const struct tracee *tracee, const struct objects *objects,
                                    const char *library)
{
    struct safe_place *place = malloc(sizeof(*place));
    uint64_t places = object_symbol(objects->library, "libleak_thread");

    *place = (struct safe_place){.tracee = tracee,
                                 .objects = objects,
                                 .allocator = find_allocator(objects->libc),
                                 .dwfl = dwfl_begin(&callbacks)};
    if (places)
        tracee_read(tracee, places, &place->places, sizeof(place->places));
    if (!place->dwfl)
        return place;
    report_objects(place->dwfl, tracee, objects, library);
    if (dwfl_linux_proc_attach(place->dwfl, tracee->pid, true) != 0) {
        dwfl_end(place->dwfl);
        place->dwfl = NULL;
    }
    return place;
}

void safe_place_end(struct safe_place *place)
{
    dwfl_end(place->dwfl);
    free(place);
}
