/* library.c - loads libleak into a process, attaches and detaches it, through a thread at a safe
 * place. */
#include "attach/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/inject.h"
#include "attach/loaded_objects.h"
#include "attach/preflight.h"
#include "attach/priority.h"
#include "attach/refusal.h"
#include "attach/safe_place.h"
#include "attach/thread_choice.h"
#include "attach/tracee.h"
#include "common/base/proc.h"
#include "common/base/string_list.h"
#include "common/base/term_text.h"

/* Milliseconds in which a thread has to stop. A thread that does not stop waits in the kernel, and
 * leakctl tries the next one. */
#define STOP_TIMEOUT 100
#define LOCK_TIMEOUT 2000
/* Milliseconds that dlopen may take; long, because the state of a thread inside of dlopen cannot be
 * restored. */
#define LOAD_TIMEOUT 60000
/* Longest time in milliseconds between two tries to stop a thread at a safe place. */
#define NAP_MOST 20
/* leakctl gives up when it has waited this many nanoseconds, and in that time the only thread of
 * the process was waiting for at least this many vfork children, one after the other. */
#define VFORKS_TIMEOUT 1700000000ull
#define VFORKS_MANY 3
/* Most bytes that one read of a text takes; the page size is a multiple of this number. */
#define TEXT_STEP 256
/* Offsets of texts in the area of memory that leakctl uses in the process. At 0 is the path of
 * the library, and later the result of dladdr. */
#define FILE_NAME_AT 64
#define FUNCTION_NAME_AT 96
#define CALL_AT 128
#define OPTIONS_AT 160
#define MEMFD_EXEC 0x10u
/* The flag of __libc_dlopen_mode with which it does the same as dlopen. */
#define AS_DLOPEN 0x80000000u
/* Result of libleak_attach: libleak runs already (preload/hooks/hook_attach.c). */
#define ATTACHED_ALREADY 1

/* Addresses of functions of the process; 0: it has none. They are found before a thread is stopped,
 * because a program with many symbols takes milliseconds to search. */
struct functions {
    uint64_t find_errno, dladdr, dlopen, dlsym, dlerror, malloc, free;
    uint64_t libc_dlopen; /* __libc_dlopen_mode, for glibc before 2.34, whose libc has no dlopen */
    uint64_t entry;       /* libleak_attach or libleak_detach of a library that is loaded already */
};

struct session {
    struct tracee tracee;
    struct objects objects;
    struct functions functions;
    struct injection injection;
    struct safe_place *place;
    struct attachment *attachment;
    uint64_t errno_at; /* address of the thread's errno; 0: unknown */
    int error;
    bool loading;    /* a call is in progress that leakctl must not interrupt */
    bool loads;      /* libleak.so is not in the process yet, and has to be loaded */
    int64_t file;    /* the process's descriptor of the library's file; negative: -errno */
    uint64_t result; /* result of libleak_attach or libleak_detach */
};

static bool refuse(struct session *session, enum attach_refusal refusal, const char *text,
                   const char *more)
{
    return attach_refuse(session->tracee.pid, refusal, text, more);
}

/* Reads a text of the process, cut to the size. */
static void read_text(struct session *session, uint64_t address, char *to, size_t size)
{
    size_t length = 0, step = TEXT_STEP;

    while (length + 1 < size && !memchr(to, '\0', length)) {
        step -= (address + length) % step; /* the memory may end at a page boundary */
        if (step > size - 1 - length)
            step = size - 1 - length;
        if (!tracee_read(&session->tracee, address + length, to + length, step))
            break;
        length += step;
        step = TEXT_STEP;
    }
    to[length] = '\0';
}

/* Finds libleak.so beside leakctl in a build directory, else where it is installed. The caller
 * frees the path. */
static char *find_library(void)
{
    char *path = proc_find_tool(NULL, "libleak.so");

    return path ? path : proc_find_tool(NULL, LEAK_PARTS "/libleak.so");
}

/* ---- Stopping a thread at a safe place ------------------------------------------------------- */

enum try { TRY_STOPPED, TRY_UNSAFE, TRY_GONE, TRY_REFUSED };

/* Stops a thread. TRY_STOPPED: it is stopped at a safe place. TRY_UNSAFE: it is not; *obstacle says
 * why. TRY_GONE: it has ended. TRY_REFUSED: the kernel refuses ptrace. */
static enum try try_thread(struct session *session, pid_t tid, const char **obstacle)
{
    struct tracee *tracee = &session->tracee;

    tracee->tid = tid;
    if (!tracee_is_held(tracee) && !tracee_seize(tracee, tid))
        return errno == ESRCH || tracee_has_ended(tracee) ? TRY_GONE : TRY_REFUSED;
    if (!tracee_interrupt(tracee, STOP_TIMEOUT)) {
        *obstacle = "waits in the kernel";
        return TRY_UNSAFE;
    }
    *obstacle = safe_place_obstacle(session->place, tracee);
    if (!*obstacle)
        return TRY_STOPPED;
    tracee_release(tracee);
    return TRY_UNSAFE;
}

/* Tries the threads of the list until one is at a safe place. TRY_UNSAFE: none was; TRY_GONE: the
 * process has no threads. */
static enum try try_threads(struct session *session, struct thread_choice *choice,
                            const char **obstacle)
{
    for (size_t i = 0; i < choice->count; i++) {
        enum try result = try_thread(session, choice->tid[i], obstacle);

        session->attachment->tries++;
        if (result == TRY_STOPPED || result == TRY_REFUSED)
            return result;
        /* a thread that did not stop in time is still traced, and is tried again */
        if (!tracee_is_held(&session->tracee))
            thread_choice_refuse(choice, i);
    }
    return choice->threads ? TRY_UNSAFE : TRY_GONE;
}

/* Children of a thread that cannot be stopped while it waits for one of them. */
struct vforks {
    pid_t last;
    unsigned count;
    uint64_t end; /* time, of CLOCK_MONOTONIC in nanoseconds, after which VFORKS_MANY children are a
                   * reason to give up */
};

/* Says whether the only thread of the process has waited for different vfork children for two
 * seconds. One child alone may be the last one. */
static bool is_always_in_vfork(const struct session *session, struct vforks *vforks)
{
    pid_t child = preflight_vfork_child(session->tracee.pid);

    if (session->attachment->threads != 1)
        return false;
    vforks->count += child && child != vforks->last;
    vforks->last = child ? child : vforks->last;
    return vforks->count >= VFORKS_MANY && time_steady_ns() > vforks->end;
}

/* Tries all threads again and again until one is at a safe place. False: refused, and a message
 * says why. */
static bool stop_safely(struct session *session, uint64_t timeout)
{
    struct thread_choice choice = {.pid = session->tracee.pid};
    uint64_t end = time_steady_ns() + timeout * 1000000;
    struct vforks vforks = {.end = time_steady_ns() + VFORKS_TIMEOUT};
    struct timespec nap = {.tv_nsec = 1000000};
    const char *obstacle = "there is no thread";
    bool vforking = false;
    enum try result = TRY_UNSAFE;

    while (result == TRY_UNSAFE && !vforking && time_steady_ns() < end) {
        thread_choice_list(&choice);
        session->attachment->threads = (unsigned)choice.threads;
        vforking = is_always_in_vfork(session, &vforks);
        result = try_threads(session, &choice, &obstacle);
        if (result == TRY_UNSAFE)
            nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec < NAP_MOST * 1000000 ? nap.tv_nsec * 5 / 4 : nap.tv_nsec;
    }
    thread_choice_end(&choice);
    if (result == TRY_REFUSED)
        return preflight_refuse_right(session->tracee.pid);
    if (result == TRY_GONE)
        return refuse(session, ATTACH_GONE, NULL, NULL);
    if (result == TRY_UNSAFE && vforking)
        return refuse(session, ATTACH_VFORKS, NULL, NULL);
    if (result == TRY_UNSAFE) {
        char span[TIME_TEXT_SIZE];

        return refuse(session, ATTACH_NO_PLACE, time_format_span(timeout * 1000000, span),
                      obstacle);
    }
    return true;
}

/* ---- Calls in the stopped thread ------------------------------------------------------------- */

static bool refuse_slow(struct session *session)
{
    session->loading = true;
    return refuse(session, ATTACH_SLOW, NULL, NULL);
}

static bool refuse_result(struct session *session, enum inject_result result, const char *what)
{
    switch (result) {
    case INJECT_TIMEOUT:
        return attach_refuse(session->tracee.pid, ATTACH_BUSY, what);
    case INJECT_FAULT:
        return attach_refuse(session->tracee.pid, ATTACH_FAULT, session->injection.fault);
    default:
        return attach_refuse(session->tracee.pid, ATTACH_GONE);
    }
}

static uint64_t find_allocator(const struct objects *objects, const char *name)
{
    for (size_t i = 0; i < objects->count; i++) {
        const struct object *object = &objects->at[i];
        uint64_t address = object_symbol(object, name);

        if (address && object != objects->libc && object != objects->loader &&
            object != objects->library)
            return address;
    }
    return object_symbol(objects->libc, name);
}

static void find_functions(struct session *session, const char *entry)
{
    const struct objects *objects = &session->objects;

    session->functions = (struct functions){
        .find_errno = loaded_objects_symbol(objects, "__errno_location"),
        .dladdr = loaded_objects_symbol(objects, "dladdr"),
        .dlopen = loaded_objects_symbol(objects, "dlopen"),
        .dlsym = loaded_objects_symbol(objects, "dlsym"),
        .dlerror = loaded_objects_symbol(objects, "dlerror"),
        .malloc = find_allocator(objects, "malloc"),
        .free = find_allocator(objects, "free"),
        .libc_dlopen = loaded_objects_symbol(objects, "__libc_dlopen_mode"),
        .entry = object_symbol(objects->library, entry),
    };
}

static const struct inject_limits to_the_end = {.time = LOAD_TIMEOUT};

/* Makes a child of the process try the calls that leakctl makes, because a seccomp filter that is
 * older than the program may kill a process for them. Calls that every program makes while it is
 * loaded are left out. libleak tries its own calls in the same way. False: refused, and a message
 * says why. */
static bool try_filter(struct session *session)
{
    static const uint64_t calls[] = {SYS_memfd_create, SYS_ppoll, SYS_sigaltstack, 0};
    struct inject_step step = {INJECT_TRY, {0}, 0};
    enum inject_result result;

    if (!preflight_is_filtered(session->tracee.pid))
        return true;
    step.argument[0] = inject_bytes(&session->injection, 0, calls, sizeof(calls));
    result = inject_steps(&session->injection, &step, 1, to_the_end);
    if (result != INJECT_DONE)
        return refuse_result(session, result, "a child");
    return step.result == 0 || refuse(session, ATTACH_FILTER, NULL, NULL);
}

/* Calls dladdr, malloc and free in the stopped thread, and then makes the call *last, all in one
 * list. dladdr, malloc and free take locks of libc for a moment. If the thread waits for such a
 * lock its state can be restored, since it holds no lock; once they succeed, the last call will not
 * wait for a lock whose holder waits for this thread. Each list of calls costs a switch between the
 * two processes. */
static bool call_first(struct session *session, struct inject_step *last)
{
    struct injection *injection = &session->injection;
    const struct functions *functions = &session->functions;
    uint64_t dladdr_at = functions->dladdr ? functions->dladdr : functions->find_errno;
    uint64_t place = inject_text(injection, 0, "the result of dladdr is written over this text");
    struct inject_step steps[] = {
        {functions->find_errno, {0}, 0},
        {INJECT_READ_INT, {0}, 0},
        inject_altstack(injection),
        {dladdr_at, {session->objects.libc->code, place}, 0},
        {functions->malloc, {1}, 0},
        {INJECT_PASS, {functions->free}, 0},
        *last,
    };
    size_t count = sizeof(steps) / sizeof(*steps);
    struct inject_limits limits = {count - 1, LOCK_TIMEOUT, LOAD_TIMEOUT};
    enum inject_result result = inject_steps(injection, steps, count, limits);

    session->errno_at = injection->at > 1 ? steps[0].result : 0;
    session->error = (int)steps[1].result;
    last->result = steps[count - 1].result;
    if (result == INJECT_TIMEOUT && injection->running)
        return refuse_slow(session);
    return result == INJECT_DONE || refuse_result(session, result, "dladdr or malloc");
}

/* Makes calls that must not be interrupted, such as dlopen. False: refused, and a message says
 * why. */
static bool call(struct session *session, struct inject_step *steps, size_t count)
{
    enum inject_result result = inject_steps(&session->injection, steps, count, to_the_end);

    if (result == INJECT_TIMEOUT)
        return refuse_slow(session);
    return result == INJECT_DONE || refuse_result(session, result, "libleak");
}

/* ---- The library's file ---------------------------------------------------------------------- */

/* Returns the number of bytes of an ELF file up to the end of its last loaded segment; sections and
 * debug information behind that end are not needed. */
static size_t loaded_size(const unsigned char *file, size_t size)
{
    const Elf64_Ehdr *header = (const void *)file;
    size_t end = 0;

    if (size < sizeof(*header) || header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > size)
        return size;
    for (size_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *part = (const void *)(file + header->e_phoff + i * sizeof(*part));

        if (part->p_type == PT_LOAD && part->p_offset + part->p_filesz > end)
            end = part->p_offset + part->p_filesz;
    }
    return end < size ? end : size;
}

static bool copy_file(const char *path, int to)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    unsigned char *file;
    size_t done = 0, size;

    if (fd < 0 || fstat(fd, &status) != 0)
        return false;
    file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return false;
    size = loaded_size(file, (size_t)status.st_size);
    while (done < size) {
        ssize_t n = write(to, file + done, size - done);

        if (n <= 0)
            break;
        done += (size_t)n;
    }
    munmap(file, (size_t)status.st_size);
    return done == size;
}

static struct inject_step make_file(struct session *session, uint64_t flags)
{
    uint64_t name = inject_text(&session->injection, FILE_NAME_AT, "libleak.so");

    return (struct inject_step){INJECT_SYSCALL, {SYS_memfd_create, name, flags}, 0};
}

/* Makes the file for the library once more, without the flag MFD_EXEC, which Linux before 6.3
 * refuses. */
static bool make_file_again(struct session *session)
{
    struct inject_step step = make_file(session, MFD_CLOEXEC);

    if (!call(session, &step, 1))
        return false;
    session->file = (int64_t)step.result;
    return true;
}

static struct inject_step close_file(const struct session *session)
{
    return (struct inject_step){INJECT_SYSCALL, {SYS_close, (uint64_t)session->file}, 0};
}

/* Writes the library into the file that the process has made. False: refused, and a message says
 * why. */
static bool send_library(struct session *session)
{
    char *path = find_library(), there[64];
    struct inject_step closing;
    bool sent;
    int to, error;

    if (!path)
        return refuse(session, ATTACH_NO_LIBRARY, "not found", NULL);
    if (session->file == -EINVAL && !make_file_again(session))
        return free(path), false;
    if (session->file < 0)
        return free(path),
               refuse(session, ATTACH_NO_SYSCALL, "memfd_create", strerror((int)-session->file));
    snprintf(there, sizeof(there), "/proc/%d/fd/%d", (int)session->tracee.pid, (int)session->file);
    to = open(there, O_WRONLY | O_CLOEXEC);
    sent = to >= 0 && copy_file(path, to);
    error = errno;
    if (to >= 0)
        close(to);
    free(path);
    closing = close_file(session);
    return sent || (call(session, &closing, 1) &&
                    refuse(session, ATTACH_NO_LIBRARY, strerror(error), NULL));
}

static bool refuse_dlopen(struct session *session)
{
    struct inject_step why = {session->functions.dlerror, {0}, 0};
    char words[256] = "it does not say why";

    if (why.function && call(session, &why, 1) && why.result)
        read_text(session, why.result, words, sizeof(words));
    return refuse(session, ATTACH_DLOPEN, words, NULL);
}

static bool find_dlopen(struct session *session, struct inject_step *step)
{
    const struct functions *functions = &session->functions;

    *step = (struct inject_step){functions->dlopen, {0, RTLD_NOW}, 0};
    if (!step->function)
        *step = (struct inject_step){functions->libc_dlopen, {0, RTLD_NOW | AS_DLOPEN}, 0};
    return step->function || refuse(session, ATTACH_NO_DLOPEN, NULL, NULL);
}

static struct inject_step find_attach(struct session *session)
{
    return (struct inject_step){
        INJECT_PASS,
        {session->functions.dlsym,
         inject_text(&session->injection, FUNCTION_NAME_AT, "libleak_attach")},
        0};
}

/* Loads the library into a process that cannot open the path of the file, because it has no /proc:
 * the loader's open is replaced by a copy of the file's descriptor. */
static bool load_without_proc(struct session *session, struct inject_step *opening,
                              struct inject_step attaching)
{
    struct injection *injection = &session->injection;
    struct inject_step steps[] = {find_attach(session), attaching};
    char path[64];
    bool good;

    if (!make_file_again(session) || !send_library(session))
        return false;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)session->file);
    opening[0].argument[0] = inject_text(injection, 0, path);
    opening[1] = close_file(session);
    injection->opened_path = path;
    injection->opened_fd = (int)session->file;
    good = call(session, opening, 2);
    injection->opened_path = NULL;
    if (!good || !opening->result)
        return good && refuse_dlopen(session);
    steps[0].function = steps[0].argument[0];
    steps[0].argument[0] = opening->result;
    if (!call(session, steps, 2))
        return false;
    session->result = steps[1].result;
    return steps[0].result || refuse(session, ATTACH_OLD_LIBRARY, NULL, NULL);
}

/* A copy of struct syscall_interrupted in preload/signals/syscall_restart.h. */
struct interrupted_call {
    int64_t number, first;
    uint64_t pc, sp;
};
_Static_assert(CALL_AT + sizeof(struct interrupted_call) <= OPTIONS_AT,
               "the options are behind it");

/* Copies the system call that the stop has interrupted into the process, for libleak. */
static uint64_t send_call(struct session *session)
{
    const struct user_regs_struct *now = &session->tracee.before;
    struct interrupted_call call = {(int64_t)now->orig_rax, (int64_t)now->rdi, now->rip, now->rsp};

    return inject_bytes(&session->injection, CALL_AT, &call, sizeof(call));
}

/* Calls dlopen, libleak_attach and close in the process, one after the other. */
static bool load_library(struct session *session, uint64_t environment)
{
    struct inject_step attaching = {INJECT_CALL, {environment, send_call(session)}, 0}, steps[4];
    struct inject_step making = make_file(session, MFD_CLOEXEC | MEMFD_EXEC);
    char path[64];

    if (!find_dlopen(session, &steps[0]) || !call_first(session, &making))
        return false;
    session->file = (int64_t)making.result;
    if (!send_library(session))
        return false;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)session->file);
    steps[0].argument[0] = inject_text(&session->injection, 0, path);
    steps[1] = find_attach(session);
    steps[2] = attaching;
    steps[3] = close_file(session);
    if (!call(session, steps, 4))
        return false;
    session->result = steps[2].result;
    if (!steps[0].result)
        return load_without_proc(session, steps, attaching);
    return steps[1].result || refuse(session, ATTACH_OLD_LIBRARY, NULL, NULL);
}

/* ---- Attaching and detaching ----------------------------------------------------------------- */

/* Reads the path of the recording that libleak_attach or libleak_detach has returned. False: there
 * is no recording, and a message says why. */
static bool take_path(struct session *session, uint64_t path)
{
    if (path == ATTACHED_ALREADY)
        return attach_refuse(session->tracee.pid, ATTACH_HAS_LIBLEAK, (int)session->tracee.pid);
    if (path)
        read_text(session, path, session->attachment->recording, LIBRARY_PATH_SIZE);
    return path;
}

/* Calls a function of the library that an earlier attach has left in the process. */
static bool call_library(struct session *session, uint64_t first, uint64_t second)
{
    struct inject_step step = {session->functions.entry, {first, second}, 0};

    if (!step.function)
        return refuse(session, ATTACH_OLD_LIBRARY, NULL, NULL);
    if (!call_first(session, &step))
        return false;
    session->result = step.result;
    return true;
}

static bool attach_stopped(struct session *session, const char *options)
{
    char *text = string_format("LIBLEAK_OPTIONS=%s", options);
    uint64_t environment = inject_text(&session->injection, OPTIONS_AT, text);

    free(text);
    if (!environment)
        return refuse(session, ATTACH_OLD_LIBRARY, NULL, NULL);
    if (!(session->loads ? load_library(session, environment)
                         : call_library(session, environment, send_call(session))))
        return false;
    return session->result ? take_path(session, session->result)
                           : refuse(session, ATTACH_SILENT, NULL, NULL);
}

static bool detach_stopped(struct session *session, const char *options)
{
    (void)options;
    if (!call_library(session, 0, 0))
        return false;
    return take_path(session, session->result) ||
           attach_refuse(session->tracee.pid, ATTACH_NOT_ATTACHED, (int)session->tracee.pid);
}

/* Runs `what` in the stopped thread, and restores the thread afterwards, errno included. */
static bool perform_stopped(struct session *session, const char *options,
                            bool (*what)(struct session *session, const char *options))
{
    struct tracee *tracee = &session->tracee;
    struct injection *injection = &session->injection;
    bool good = (inject_begin(injection) || refuse(session, ATTACH_NO_SYSCALL, "mmap", "failed")) &&
                try_filter(session) && what(session, options);

    if (session->loading && injection->running)
        return false; /* the thread returns to the program later, without leakctl */
    if (session->errno_at)
        tracee_write(tracee, session->errno_at, &session->error, sizeof(session->error));
    inject_end(injection);
    session->attachment->pause_ns = time_steady_ns() - tracee->stopped_ns;
    tracee_release(tracee);
    return good;
}

/* Stops a thread and runs `what` in it. leakctl blocks its signals until the state of the thread is
 * restored. */
static bool perform(struct session *session, uint64_t timeout, const char *options,
                    bool (*what)(struct session *session, const char *options))
{
    char *library;
    sigset_t all, before;
    bool good;

    if (!inject_prepare(&session->injection, &session->objects, &session->tracee))
        return refuse(session, ATTACH_NO_CODE, NULL, NULL);
    library = find_library();
    session->place = safe_place_begin(&session->tracee, &session->objects, library);
    free(library);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    good = stop_safely(session, timeout) && perform_stopped(session, options, what);
    sigprocmask(SIG_SETMASK, &before, NULL);
    safe_place_end(session->place);
    return good;
}

/* ---- Working in a child process -------------------------------------------------------------- */

struct job {
    pid_t pid;
    const char *options; /* options for libleak; NULL: detach */
    uint64_t timeout;
    struct attachment attachment;
};

/* Returns the name of an option in the text that makes libleak set breakpoints or watchpoints,
 * which a detach would leave behind. NULL: there is none. */
static const char *find_unsuitable(const char *options)
{
    static const char *const names[] = {"start_at", "follow_blocks", "pair"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t length = strlen(names[i]);

        for (const char *at = options; (at = strstr(at, names[i])); at += length)
            if ((at == options || at[-1] == ':') && at[length] == '=')
                return names[i];
    }
    return NULL;
}

static bool do_job(struct job *job)
{
    static struct session session;
    bool good;

    session.attachment = &job->attachment;
    if (job->options && find_unsuitable(job->options))
        return attach_refuse(job->pid, ATTACH_OPTION, find_unsuitable(job->options));
    if (!preflight_process(&session.tracee, &session.objects, job->pid))
        return false;
    session.loads = job->options && !session.objects.library;
    find_functions(&session, job->options ? "libleak_attach" : "libleak_detach");
    if (session.objects.library && !strstr(session.objects.library->path, "/memfd:"))
        good = attach_refuse(job->pid, job->options ? ATTACH_HAS_LIBLEAK : ATTACH_STARTED_WITH,
                             (int)job->pid);
    else if (job->options)
        good = preflight_loading(&session.tracee, &session.objects) &&
               perform(&session, job->timeout, job->options, attach_stopped);
    else
        good = session.objects.library
                   ? perform(&session, job->timeout, "", detach_stopped)
                   : attach_refuse(job->pid, ATTACH_NOT_ATTACHED, (int)job->pid);
    preflight_end(&session.tracee, &session.objects);
    return good;
}

/* Does the work in a child process. If leakctl is killed, the child goes on and restores the
 * thread. */
static bool do_apart(const struct job *given, struct attachment *attachment)
{
    struct job *job =
        mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status = 1;

    if (job == MAP_FAILED)
        return attach_refuse(given->pid, ATTACH_NO_LIBRARY, strerror(errno));
    *job = *given;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setsid();
        signal(SIGCHLD, SIG_DFL); /* an ignored signal would not end tracee_wait's naps */
        priority_raise_own();
        _exit(do_job(job) ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *attachment = job->attachment;
    munmap(job, sizeof(*job));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool library_attach(pid_t pid, const char *options, uint64_t timeout, struct attachment *attachment)
{
    return do_apart(&(struct job){.pid = pid, .options = options, .timeout = timeout}, attachment);
}

bool library_detach(pid_t pid, uint64_t timeout, struct attachment *attachment)
{
    return do_apart(&(struct job){.pid = pid, .timeout = timeout}, attachment);
}
