/* name_server.c - the name process: answers requests about ELF files, within limits of time and
 * memory.
 *
 * libdw follows paths in debug information (.gnu_debuglink, .gnu_debugaltlink, DW_AT_dwo_name)
 * with open(), and offers no hook. So this file defines open(), which the linker prefers to
 * libc's, also for calls from libraries. In other processes that open() only calls libc's.
 *
 * Each file has an amount of processor time in proportion to its size, which all requests about
 * the file share; memory is limited in the same way. When a limit is exceeded, its signal ends
 * the process. */
#include "common/names/name_server.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/names/message.h"
#include "common/names/names.h"
#include "common/names/type_requests.h"

/* A build with AddressSanitizer has no memory limit and no sandbox, and keeps its signal handlers:
 * it maps terabytes, handles signals, and writes its findings at exit. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Seconds of processor time that even the smallest file gets. */
#define TIME_LEAST 3.0
/* A file gets one second more for each so many bytes of its size. */
#define BYTES_A_SECOND (8.0 * (1 << 20))
/* Bytes of memory that the process may use beyond what it has at its start. */
#define MEMORY_LEAST ((rlim_t)1 << 30)
#define MEMORY_A_BYTE 8 /* bytes of memory that each byte of an opened file adds to the limit */

struct served_file {
    struct arena *mem;
    struct elf_binary *binary;
    struct type_index types;
    double seconds_left;
};

static struct {
    bool runs;    /* true in the name process, false in others that are linked with this file */
    bool opening; /* foreign_file_open() is running, whose own open() calls go to libc */
    int socket;
    rlim_t memory;
    double started; /* processor time when the request began, in seconds */
    struct served_file *files, *current;
    size_t count, capacity;
} server;

/* ---- Limits of time and memory --------------------------------------------------------------- */

static double processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Lets SIGPROF end the process after so much processor time; 0: no limit. */
static void limit_time(double seconds)
{
    struct itimerval timer = {0};

    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void begin_request(struct served_file *file)
{
    server.current = file;
    server.started = processor_time();
    limit_time(file->seconds_left > 0.001 ? file->seconds_left : 0.001);
}

static void end_request(void)
{
    server.current->seconds_left -= processor_time() - server.started;
    server.current = NULL;
    limit_time(0);
}

static void limit_memory(void)
{
    struct rlimit limit;

    if (SANITIZED || getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    limit.rlim_cur = server.memory < limit.rlim_max ? server.memory : limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

/* Raises the limits in proportion to the disk space of a file that was opened. A file that is
 * only holes raises nothing. */
static void allow_for_file(int fd)
{
    struct stat status;
    double bytes;

    if (fstat(fd, &status) != 0)
        return;
    bytes = (double)status.st_blocks * 512;
    server.memory += (rlim_t)bytes * MEMORY_A_BYTE;
    limit_memory();
    if (server.current) {
        server.current->seconds_left += bytes / BYTES_A_SECOND;
        limit_time(server.current->seconds_left - (processor_time() - server.started));
    }
}

/* ---- The open() that libdw calls ------------------------------------------------------------- */

typedef int open_function(const char *path, int flags, ...);

static int open_for_server(const char *path)
{
    int fd;

    server.opening = true;
    fd = foreign_file_open(path);
    server.opening = false;
    if (fd >= 0)
        allow_for_file(fd);
    return fd;
}

static int open_any(const char *path, int flags, mode_t mode)
{
    static open_function *next;

    if (server.runs && !server.opening)
        return open_for_server(path);
    if (!next)
        next = (open_function *)dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
    __attribute__((visibility("default"))) int name(const char *path, int flags, ...)              \
    {                                                                                              \
        va_list rest;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(rest, flags);                                                                     \
        mode = mode_of(flags, rest);                                                               \
        va_end(rest);                                                                              \
        return open_any(path, flags, mode);                                                        \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

/* ---- Answers to requests --------------------------------------------------------------------- */

static struct served_file *file_at(uint64_t number)
{
    static const struct served_file fresh = {.seconds_left = TIME_LEAST};

    if (number >= 1 << 24)
        _exit(1);
    while (server.count <= number) {
        server.files =
            array_grow(server.files, &server.capacity, server.count + 1, sizeof(*server.files));
        server.files[server.count++] = fresh;
    }
    return &server.files[number];
}

static void close_file(struct served_file *file)
{
    if (file->binary)
        elf_binary_close(file->binary);
    type_index_end(&file->types);
    arena_end(file->mem);
    *file = (struct served_file){.seconds_left = TIME_LEAST};
}

static void open_file(struct served_file *file, const struct binary_search_path *search,
                      struct message *request, struct message *answer)
{
    struct binary_name name = {.path = message_text(request)};

    name.build_id = message_bytes(request, &name.build_id_length);
    name.seen_ns = message_number(request);
    if (request->bad || !name.path)
        _exit(1);
    file->mem = arena_begin();
    file->binary = elf_binary_open(file->mem, search, &name);
    message_put_number(answer, elf_binary_state(file->binary));
}

static void find_frames(struct elf_binary *binary, struct message *request, struct message *answer)
{
    struct dwarf_frame frames[DWARF_INLINE_MAX];
    size_t count = elf_binary_find_frames(binary, message_number(request), frames);

    message_put_number(answer, count);
    for (size_t i = 0; i < count; i++) {
        message_put_text(answer, frames[i].name);
        message_put_text(answer, frames[i].file);
        message_put_number(answer, frames[i].line);
        message_put_number(answer, frames[i].column);
        message_put_number(answer, frames[i].inlined);
        message_put_text(answer, frames[i].scope);
        message_put_number(answer, frames[i].in_lambda);
    }
}

static void answer_variable(struct elf_binary *binary, struct message *request,
                            struct message *answer)
{
    struct binary_variable found = {0};
    struct variable_location place;

    message_take_location(request, &place);
    if (!elf_binary_find_variable(binary, &place, &found))
        return;
    message_put_text(answer, found.symbol);
    message_put_text(answer, found.name);
    message_put_text(answer, found.function);
    message_put_text(answer, found.file);
    message_put_number(answer, found.line);
    message_put_number(answer, found.offset);
}

struct counterpart_search {
    const char *maker; /* demangled */
    char words[2][NAME_WORD_SIZE];
    size_t word_count;
    struct arena *mem;
};

/* Says whether the symbol may be that of a counterpart. In a unit of thousands of functions, to
 * demangle and split all their names would take as long as the rest of the report. */
static bool may_be_counterpart(const struct counterpart_search *search, const char *symbol)
{
    return search->word_count < 2 || strcasestr(symbol, search->words[0]) ||
           strcasestr(symbol, search->words[1]);
}

static unsigned fits_counterpart(const char *name, void *context)
{
    const struct counterpart_search *search = context;

    return may_be_counterpart(search, name)
               ? name_undoes(demangle(search->mem, name), search->maker)
               : 0;
}

static void find_counterpart(struct elf_binary *binary, struct message *request,
                             struct message *answer)
{
    uint64_t offset = message_number(request);
    struct counterpart_search search = {.maker = message_text(request)};
    struct dwarf_frame found;

    if (!search.maker)
        return;
    search.word_count = name_first_words(search.maker, search.words);
    search.mem = arena_begin();
    if (elf_binary_find_named(binary, offset, fits_counterpart, &search, &found)) {
        message_put_text(answer, found.name);
        message_put_text(answer, found.file);
        message_put_number(answer, found.line);
    }
    arena_end(search.mem);
}

static void answer_request(const struct binary_search_path *search, struct message *request,
                           struct message *answer)
{
    enum name_request what = (enum name_request)message_number(request);
    struct served_file *file = file_at(message_number(request));

    message_clear(answer);
    begin_request(file);
    if (what == NAME_OPEN)
        open_file(file, search, request, answer);
    else if (what == NAME_CLOSE)
        close_file(file);
    else if (!file->binary)
        _exit(1);
    else if (what == NAME_FRAMES)
        find_frames(file->binary, request, answer);
    else if (what == NAME_COUNTERPART)
        find_counterpart(file->binary, request, answer);
    else if (what == NAME_TYPE)
        type_requests_answer(file->binary, &file->types, request, answer);
    else
        answer_variable(file->binary, request, answer);
    end_request();
}

/* ---- Starting the process -------------------------------------------------------------------- */

static rlim_t own_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Closes all descriptors from `first` on, one by one, because close_range() needs Linux 5.9. */
static void close_each(int first)
{
    struct rlimit most = {.rlim_cur = 0};
    DIR *folder = opendir("/proc/self/fd");

    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        int fd = atoi(entry->d_name);

        if (fd >= first && fd != dirfd(folder))
            close(fd);
    }
    if (folder)
        closedir(folder);
    else if (getrlimit(RLIMIT_NOFILE, &most) == 0)
        for (int fd = first; fd < (int)(most.rlim_cur < 65536 ? most.rlim_cur : 65536); fd++)
            close(fd);
}

static void leave_descriptors(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO); /* stderr stays open for a sanitizer's report */
    server.socket = dup2(server.socket, STDERR_FILENO + 1);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, STDERR_FILENO + 2, ~0u, 0) == 0)
        return;
#endif
    close_each(STDERR_FILENO + 2);
}

static void drop_rights(struct file_owner reader)
{
    static const struct rlimit none;
    sigset_t all;

    if (!foreign_file_become(reader))
        _exit(1);
    foreign_file_forget_readers();
    prctl(PR_SET_DUMPABLE, 0); /* the process has a copy of the report's memory, which the user
                                * of `reader` must not read */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    for (int number = 1; number < NSIG && !SANITIZED; number++)
        signal(number, SIG_DFL);
    signal(SIGPROF, SIG_DFL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C at the terminal reaches this process as well, but the
                              * report decides when to end it */
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (!getenv("DEBUGINFOD_URLS") && !SANITIZED) /* libdebuginfod, if configured, downloads into
                                                   * a cache, which the sandbox would forbid */
        name_sandbox_enter();
}

_Noreturn void name_server_run(int socket, const struct binary_search_path *search,
                               struct file_owner reader)
{
    struct message request = {0}, answer = {0};

    server.socket = socket;
    leave_descriptors();
    server.memory = own_memory() + MEMORY_LEAST;
    limit_memory();
    drop_rights(reader);
    server.runs = true;
    while (message_receive(server.socket, &request)) {
        answer_request(search, &request, &answer);
        if (!message_send(server.socket, &answer))
            break;
    }
    _exit(0);
}
