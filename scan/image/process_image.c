/* process_image.c - stops a running process, and reads its registers, mappings and memory. */
#include "scan/image/process_image.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/term_text.h"
#include "common/processes/ptrace_right.h"
#include "common/processes/traced_thread.h"
#include "scan/image/registers.h"

/* Longest wait for a thread to stop; a thread that sleeps uninterruptibly does not stop, and counts
 * as missed. */
#define STOP_PATIENCE_MS 1000
#define PAGEMAP_PRESENT (3ull << 62) /* the page is in memory, or swapped out */

struct traced {
    pid_t tid;
    bool stopped;
    int signal; /* signal to deliver when the thread is resumed; 0: none */
};

struct process_image {
    struct image *image;
    pid_t pid;
    int pagemap;
    struct traced *threads;
    size_t count, capacity;
    unsigned missed;
    uint64_t since; /* when the first thread was stopped, as CLOCK_MONOTONIC ns; 0: the threads
                     * run */
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t read_process(struct image *image, uint64_t address, void *buffer, size_t size)
{
    struct process_image *process = image->source;
    struct iovec local = {buffer, size}, remote = {(void *)(uintptr_t)address, size};
    ssize_t got = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);

    return got > 0 ? (size_t)got : 0;
}

static bool find_untouched(struct image *image, uint64_t start, size_t count, bool *untouched)
{
    struct process_image *process = image->source;
    const struct image_mapping *mapping = image_find(image, start);
    uint64_t entries[512];

    if (process->pagemap < 0 || !mapping || (mapping->path && mapping->path[0] == '/') ||
        mapping->end < start + count * IMAGE_PAGE)
        return false;
    for (size_t done = 0; done < count;) {
        size_t some = count - done < 512 ? count - done : 512;
        ssize_t wanted = (ssize_t)(some * sizeof(*entries));

        if (pread(process->pagemap, entries, (size_t)wanted,
                  (off_t)((start / IMAGE_PAGE + done) * sizeof(*entries))) != wanted)
            return false;
        for (size_t i = 0; i < some; i++)
            untouched[done + i] = !(entries[i] & PAGEMAP_PRESENT);
        done += some;
    }
    return true;
}

/* ---- Opening a process ----------------------------------------------------------------------- */

static const char *explain(struct image *image, enum ptrace_refusal refusal)
{
    return arena_format(image->mem, "%s: %s", ptrace_refusal_reason(refusal),
                        ptrace_refusal_next(refusal));
}

static const char *explain_refusal(struct image *image, pid_t pid)
{
    char status[PROC_STATUS_SIZE];
    int tracer;

    proc_read_text(pid, "status", status, sizeof(status));
    tracer = atoi(proc_status_value(status, "TracerPid"));
    if (tracer)
        return arena_format(image->mem, "a debugger (pid %d) is attached: detach it first", tracer);
    return explain(image, ptrace_right_explain(pid));
}

static char *read_link(struct image *image, const char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target));

    return length > 0 && length < (ssize_t)sizeof(target)
               ? arena_copy(image->mem, target, (size_t)length)
               : NULL;
}

/* Finds out the size of the program's words. Returns NULL, or why the program cannot be read. */
static const char *read_word_size(struct image *image, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf32_Ehdr header; /* 32-bit and 64-bit headers have e_machine at the same place */
    bool narrow = fd >= 0 && read(fd, &header, sizeof(header)) == sizeof(header) &&
                  header.e_ident[EI_CLASS] == ELFCLASS32;

    if (fd >= 0)
        close(fd);
    if (narrow && (!LEAK_CPU_MACHINE_32 || header.e_machine != LEAK_CPU_MACHINE_32))
        return "a 32-bit program of another kind of machine";
    image->word = narrow ? 4 : 8;
    return NULL;
}

static const char *check_program(struct image *image, pid_t pid)
{
    enum ptrace_refusal proc = ptrace_right_check_proc();
    char path[64], status[PROC_STATUS_SIZE];
    struct stat about;

    if (proc)
        return explain(image, proc);
    if (!proc_read_text(pid, "status", status, sizeof(status)))
        return "no such process";
    if (proc_status_ended(status))
        return "it has ended (zombie): a core file of it can be read with "
               "leakreport core";
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &about) == 0)
        image->owner = (struct file_owner){about.st_uid, about.st_gid};
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    image->program = read_link(image, path);
    if (!image->program)
        return errno == ENOENT ? "a kernel thread has no heap" : explain_refusal(image, pid);
    return read_word_size(image, path);
}

struct process_image *process_image_open(struct image *image, pid_t pid, const char **trouble)
{
    struct process_image *process;
    char path[64];

    *trouble = check_program(image, pid);
    if (*trouble)
        return NULL;
    process = arena_alloc(image->mem, sizeof(*process));
    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
    *process = (struct process_image){
        .image = image, .pid = pid, .pagemap = open(path, O_RDONLY | O_CLOEXEC)};
    image->pid = pid;
    image->read = read_process;
    image->find_untouched = find_untouched;
    image->source = process;
    return process;
}

void process_image_close(struct process_image *process)
{
    if (!process)
        return;
    process_image_resume(process);
    if (process->pagemap >= 0)
        close(process->pagemap);
    free(process->threads);
}

unsigned process_image_missed(const struct process_image *process)
{
    return process->missed;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static bool is_traced(const struct process_image *process, pid_t tid)
{
    for (size_t i = 0; i < process->count; i++)
        if (process->threads[i].tid == tid)
            return true;
    return false;
}

/* Seizes the threads that are not yet seized. False: there was no new one. *error: errno if the
 * kernel refuses. */
static bool seize_new(struct process_image *process, int *error)
{
    char path[64];
    struct dirent *entry;
    bool found = false;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        pid_t tid = (pid_t)atoi(entry->d_name);

        if (tid <= 0 || is_traced(process, tid))
            continue;
        if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0) {
            if (errno != ESRCH)
                *error = errno;
            continue; /* ESRCH: the thread has ended */
        }
        ptrace(PTRACE_INTERRUPT, tid, 0, 0);
        process->threads = array_grow(process->threads, &process->capacity, process->count + 1,
                                      sizeof(*process->threads));
        process->threads[process->count++] = (struct traced){.tid = tid};
        found = true;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

/* Waits until a thread has stopped or ended, or until the deadline. */
static void await_stop(struct traced *thread, uint64_t deadline)
{
    int status;

    while (!thread->stopped) {
        pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);

        if (got == thread->tid && WIFSTOPPED(status)) {
            thread->stopped = true;
            /* The thread has stopped as requested, or just before a signal is delivered. */
            thread->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
        } else if (got != 0 || time_steady_ns() > deadline) {
            return;
        } else {
            sched_yield();
        }
    }
}

static bool stop_threads(struct process_image *process, int *error)
{
    uint64_t deadline = time_steady_ns() + STOP_PATIENCE_MS * 1000000ull;
    size_t first = 0;

    *error = 0;
    while (seize_new(process, error) && !*error) {
        for (; first < process->count; first++)
            await_stop(&process->threads[first], deadline);
    }
    return !*error && process->count;
}

static void read_registers(struct process_image *process, struct traced *thread)
{
    uint8_t area[8192];
    struct iovec memory = {area, sizeof(area)};
    struct image_thread *found = image_add_thread(process->image, thread->tid);
    unsigned tls = registers_tls(process->image->word);

    if (!thread->stopped || ptrace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS, &memory) != 0) {
        process->missed++;
        return;
    }
    registers_take_general(process->image, found, area, memory.iov_len);
    memory = (struct iovec){area, sizeof(area)};
    if (ptrace(PTRACE_GETREGSET, thread->tid, REGISTERS_VECTORS, &memory) == 0)
        registers_take_more(process->image, found, area, memory.iov_len);
    memory = (struct iovec){area, sizeof(area)};
    if (tls && ptrace(PTRACE_GETREGSET, thread->tid, tls, &memory) == 0)
        registers_take_tls(process->image, found, area, memory.iov_len);
}

/* Repeats a system call that ended only because the thread was stopped. */
static void repeat_call(struct process_image *process, const struct traced *thread)
{
    uint8_t area[1024];
    struct iovec memory = {area, sizeof(area)};

    if (!thread->stopped || thread->signal ||
        ptrace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS, &memory) != 0 ||
        !registers_repeat_call(area, memory.iov_len) ||
        traced_thread_awaits_signal(process->pid, thread->tid))
        return;
    ptrace(PTRACE_SETREGSET, thread->tid, NT_PRSTATUS, &memory);
}

uint64_t process_image_resume(struct process_image *process)
{
    uint64_t paused;

    for (size_t i = 0; i < process->count; i++) {
        struct traced *thread = &process->threads[i];

        repeat_call(process, thread);
        /* This fails for a thread that still sleeps in the kernel; the end of this program
         * detaches it. */
        ptrace(PTRACE_DETACH, thread->tid, 0, (void *)(intptr_t)thread->signal);
    }
    process->count = 0;
    paused = process->since ? time_steady_ns() - process->since : 0;
    process->since = 0;
    return paused;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static bool parse_mapping(struct image *image, char *line)
{
    struct proc_mapping found;
    struct image_mapping mapping;
    const char *access = found.access;

    if (!proc_parse_mapping(line, &found))
        return false;
    mapping =
        (struct image_mapping){.start = found.start, .end = found.end, .offset = found.offset};
    mapping.access = (access[0] == 'r' ? IMAGE_READ : 0) | (access[1] == 'w' ? IMAGE_WRITE : 0) |
                     (access[2] == 'x' ? IMAGE_EXECUTE : 0);
    mapping.shared = access[3] == 's';
    if (*found.path)
        mapping.path = arena_copy(image->mem, found.path, strlen(found.path));
    if (mapping.path && strcmp(mapping.path, "[stack]") == 0)
        image->main_stack = mapping.end - 8;
    image_add_mapping(image, &mapping);
    return true;
}

static bool read_maps(struct process_image *process)
{
    char path[64], *line = NULL;
    size_t size = 0;
    FILE *maps;
    bool some = false;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
    maps = fopen(path, "re");
    process->image->mapping_count = 0;
    while (maps && getline(&line, &size, maps) > 0)
        some |= parse_mapping(process->image, line);
    free(line);
    if (maps)
        fclose(maps);
    return some && image_sort(process->image);
}

static void keep_stacks(struct image *image)
{
    for (size_t i = 0; i < image->thread_count; i++) {
        uint64_t low = image->threads[i].sp - REGISTERS_RED_ZONE;
        const struct image_mapping *mapping = image_find(image, image->threads[i].sp);

        if (image->threads[i].sp && mapping && (mapping->access & IMAGE_READ))
            image_keep(image, low < mapping->start ? mapping->start : low & ~7ull, mapping->end);
    }
}

static void keep_everything(struct image *image)
{
    for (size_t i = 0; i < image->mapping_count; i++) {
        const struct image_mapping *mapping = &image->mappings[i];

        if ((mapping->access & IMAGE_WRITE) && (mapping->access & IMAGE_READ) && !mapping->shared)
            image_keep(image, mapping->start, mapping->end);
    }
}

bool process_image_stop(struct process_image *process, bool keep_all, const char **trouble)
{
    struct image *image = process->image;
    int error;

    image_drop_copies(image);
    image->thread_count = 0;
    process->missed = 0;
    process->since = time_steady_ns();
    if (!stop_threads(process, &error)) {
        process_image_resume(process);
        *trouble = error ? explain_refusal(image, process->pid) : "it has ended";
        return false;
    }
    for (size_t i = 0; i < process->count; i++)
        read_registers(process, &process->threads[i]);
    if (!read_maps(process)) {
        process_image_resume(process);
        *trouble = "its memory map cannot be read";
        return false;
    }
    keep_stacks(image);
    if (keep_all)
        keep_everything(image);
    return true;
}
