/* typed.c - keeps what is typed on a terminal, and types it again; described in typed.h. */
#include "live/typed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/term_text.h"
#include "live/listening.h"
#include "common/base/proc.h"

/* The time is in ms. The program waits for input if it sleeps for STILL without output. If it has
 * not written as much as in the first run, it gets its input after PATIENT without output, or if it
 * never sleeps, LATE after the time of the first run. */
#define STILL 10
#define PATIENT 1000
#define LATE 5000
#define STEP 5 /* between two looks at the program */

/* ---- Recording ------------------------------------------------------------------------------- */

struct event {
    uint64_t time_ns, written;
    uint32_t size; /* number of bytes of input that follow; 0: `window` is the new size */
    struct winsize window;
};

static void add_event(const struct typed *typed, const struct event *event, const char *bytes)
{
    char piece[sizeof *event + 4096];
    struct stat file;
    if (fstat(typed->file, &file) != 0 || file.st_size > TYPED_MOST)
        return;
    memcpy(piece, event, sizeof *event);
    memcpy(piece + sizeof *event, bytes, event->size);
    ssize_t size = (ssize_t)(sizeof *event + event->size);
    if (pwrite(typed->file, piece, (size_t)size, file.st_size) != size)
        (void)!ftruncate(typed->file, file.st_size);
}

void typed_add_input(const struct typed *typed, const char *bytes, size_t size, uint64_t written)
{
    struct event event = {time_steady_ns(), written, size < 4096 ? size : 4096, {0}};
    if (size)
        add_event(typed, &event, bytes);
}

void typed_add_window(const struct typed *typed, const struct winsize *window, uint64_t written)
{
    struct event event = {time_steady_ns(), written, 0, *window};
    add_event(typed, &event, "");
}

void typed_end(struct typed *typed)
{
    struct stat file;
    if (typed->end_ns)
        return;
    typed->end_ns = time_steady_ns();
    typed->size = fstat(typed->file, &file) == 0 ? file.st_size : 0;
}

/* ---- Typing again ---------------------------------------------------------------------------- */

struct typist {
    const struct typed *typed;
    int master, slave;
    off_t at;          /* position of the next event in the recording */
    uint64_t began_ns; /* when the previous event was typed; at first, when the run began */
    uint64_t recorded; /* when the event of began_ns was typed in the first run, or when that run
                        * began */
    uint64_t busy_ns;  /* when the program last wrote something, or did not sleep */
    uint64_t written;  /* number of bytes that the program has written */
    bool in_line;      /* the last typed byte belongs to a line that is not yet ended */
};

static uint64_t ms_since(uint64_t then)
{
    return (time_steady_ns() - then) / 1000000;
}

/* Says whether all threads of the process sleep. */
static bool sleeps(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    struct dirent *task;
    bool sleeping = tasks != NULL;
    while (sleeping && (task = readdir(tasks))) {
        uint64_t start;
        char state;
        if (*task->d_name != '.' && proc_read_stat(atoi(task->d_name), &start, &state))
            sleeping = state == 'S';
    }
    if (tasks)
        closedir(tasks);
    return sleeping;
}

/* Returns the pid of the program, which leads the session on the terminal; 0: it has not begun. */
static pid_t program_of(const struct typist *typist)
{
    pid_t program;
    return ioctl(typist->master, TIOCGSID, &program) == 0 ? program : 0;
}

/* Says whether the program has read all that was typed, and sleeps. */
static bool waits_for_input(const struct typist *typist)
{
    int unread = 0;
    pid_t program = program_of(typist);
    return program && ioctl(typist->slave, FIONREAD, &unread) == 0 && !unread && sleeps(program);
}

/* Says whether a server waits for clients. Then the user has to end it, when they have come. */
static bool waits_for_clients(const struct typist *typist)
{
    pid_t program = program_of(typist);
    return program && listening_is_process(program);
}

/* Reads and drops what the program writes. */
static void drop_output(struct typist *typist)
{
    static char bytes[16 << 10];
    struct pollfd ready = {.fd = typist->master, .events = POLLIN};
    for (int wait = STEP; poll(&ready, 1, wait) > 0 && ready.revents & POLLIN; wait = 0) {
        ssize_t n = read(typist->master, bytes, sizeof bytes);
        if (n <= 0)
            break;
        typist->written += (size_t)n;
        typist->busy_ns = time_steady_ns();
    }
    if (!waits_for_input(typist))
        typist->busy_ns = time_steady_ns();
}

static bool read_bytes(const struct typist *typist, const struct event *event, char bytes[4096])
{
    return event->size <= 4096 && pread(typist->typed->file, bytes, event->size,
                                        typist->at + (off_t)sizeof *event) == (ssize_t)event->size;
}

/* Says whether the event is a key that sends a signal, such as Ctrl-C. */
static bool sends_signal(const struct typist *typist, const struct event *event)
{
    struct termios modes;
    char bytes[4096];
    return event->size && read_bytes(typist, event, bytes) &&
           tcgetattr(typist->master, &modes) == 0 && modes.c_lflag & ISIG &&
           (*bytes == (char)modes.c_cc[VINTR] || *bytes == (char)modes.c_cc[VQUIT]);
}

/* A key that sends a signal ends what the program does, so it is typed at the time of the first run;
 * and not to a server. */
static bool is_signal_due(const struct typist *typist, uint64_t then)
{
    return ms_since(typist->began_ns) >= then && !waits_for_clients(typist);
}

static bool is_due(const struct typist *typist, const struct event *event)
{
    uint64_t still = ms_since(typist->busy_ns), waited = ms_since(typist->began_ns);
    uint64_t then = (event->time_ns - typist->recorded) / 1000000;
    if (sends_signal(typist, event))
        return is_signal_due(typist, then);
    if (typist->in_line && event->size)
        return true;
    if (still >= STILL && typist->written >= event->written)
        return true;
    return (still >= PATIENT && waited >= (then < LATE ? then : LATE)) || waited >= then + LATE;
}

/* Writes the bytes, and drops output meanwhile: a program that waits for room for its output reads
 * nothing. */
static void write_input(struct typist *typist, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(typist->master, bytes, size);
        if (n < 0 && errno == EAGAIN)
            drop_output(typist);
        else if (n < 0 && errno != EINTR)
            return;
        bytes += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
}

static bool is_in_line(int master, char last)
{
    struct termios modes;
    return tcgetattr(master, &modes) == 0 && modes.c_lflag & ICANON && last != '\n' &&
           last != '\r' && last != (char)modes.c_cc[VEOF] && last != (char)modes.c_cc[VINTR];
}

static void type_event(struct typist *typist, const struct event *event)
{
    char bytes[4096];
    typist->in_line = false;
    if (!event->size) {
        ioctl(typist->master, TIOCSWINSZ, &event->window);
    } else if (read_bytes(typist, event, bytes)) {
        write_input(typist, bytes, event->size);
        typist->in_line = is_in_line(typist->master, bytes[event->size - 1]);
    }
    typist->at += (off_t)sizeof *event + event->size;
    typist->began_ns = typist->busy_ns = time_steady_ns();
    typist->recorded = event->time_ns;
}

/* Types all events, and returns when the terminal shall hang up. */
static void type_all(struct typist *typist)
{
    struct event event;
    while (typist->at < typist->typed->size &&
           pread(typist->typed->file, &event, sizeof event, typist->at) == (ssize_t)sizeof event) {
        while (!is_due(typist, &event))
            drop_output(typist);
        type_event(typist, &event);
    }
    event = (struct event){.time_ns = typist->typed->end_ns};
    while (ms_since(typist->busy_ns) < 2 * PATIENT ||
           ms_since(typist->began_ns) < (event.time_ns - typist->recorded) / 1000000 + LATE ||
           waits_for_clients(typist))
        drop_output(typist);
}

bool typed_open_terminal(const struct typed *typed, int *master, int *slave)
{
    char name[64];
    *slave = -1;
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0 &&
        ptsname_r(*master, name, sizeof name) == 0)
        *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave >= 0 && tcsetattr(*slave, TCSANOW, &typed->modes) == 0 &&
        ioctl(*slave, TIOCSWINSZ, &typed->window) == 0)
        return true;
    if (*slave >= 0)
        close(*slave);
    if (*master >= 0)
        close(*master);
    return false;
}

pid_t typed_start_again(const struct typed *typed, int *slave)
{
    int master;
    pid_t parent = getpid();
    uint64_t now = time_steady_ns();
    if (!typed_open_terminal(typed, &master, slave))
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct typist typist = {.typed = typed,
                                .master = master,
                                .slave = *slave,
                                .began_ns = now,
                                .recorded = typed->begin_ns,
                                .busy_ns = now};
        fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* then the terminal hangs up */
        if (getppid() == parent)
            type_all(&typist);
        _exit(0);
    }
    close(master);
    if (pid > 0)
        return pid;
    close(*slave);
    return 0;
}
