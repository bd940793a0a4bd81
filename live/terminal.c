/* terminal.c - puts a pseudo-terminal before leakwatch; described in terminal.h. */
#include "live/terminal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/term_text.h"
#include "live/child.h"

/* What the session leader tells the process at the user's terminal. */
struct news {
    pid_t leader;           /* the third process, which is the leader of its process group */
    int status;             /* its wait status: it has stopped or ended; -1: it has started */
    struct termios modes;   /* settings of the pseudo-terminal at the end */
    size_t unread;          /* number of bytes that were typed and not read */
    char bytes[4096 - 256]; /* these bytes */
};

static_assert(sizeof(struct news) <= PIPE_BUF, "a pipe passes it on as a whole");

/* ---- The session leader ---------------------------------------------------------------------- */

/* Takes what was typed and not read from the terminal. For this, the session leader's own group
 * becomes the foreground group. So only this group gets the SIGHUP that the kernel sends to the
 * foreground group when the session leader ends, and processes that outlive the program do not. */
static void take_unread(int slave, struct news *news)
{
    struct termios raw;
    tcsetpgrp(slave, getpgrp());
    tcgetattr(slave, &news->modes);
    raw = news->modes;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &raw);
    ssize_t n = read(slave, news->bytes, sizeof news->bytes);
    news->unread = n > 0 ? (size_t)n : 0;
}

/* Says whether the pseudo-terminal has hung up, because the process at the user's terminal was
 * killed. */
static bool is_hung_up(int slave)
{
    struct pollfd terminal = {.fd = slave};
    return poll(&terminal, 1, 0) > 0 && terminal.revents & POLLHUP;
}

/* Waits until the third process stops or ends. False: the pseudo-terminal has hung up. */
static bool wait_for_change(int slave, pid_t leader, int *status)
{
    sigset_t all;
    sigfillset(&all);
    while (!is_hung_up(slave)) {
        pid_t pid = waitpid(leader, status, WUNTRACED | WNOHANG);
        if (pid != 0)
            return pid == leader;
        sigwaitinfo(&all, NULL); /* SIGCHLD, or SIGHUP from the pseudo-terminal */
    }
    return false;
}

/* Waits until the third process ends, and tells when it stops. If the pseudo-terminal hangs up, ends
 * at once: then the kernel sends SIGHUP to the program. */
static void lead_session(int slave, pid_t leader, int to)
{
    static struct news news;
    news = (struct news){.leader = leader, .status = -1};
    (void)!write(to, &news, sizeof news);
    while (wait_for_change(slave, leader, &news.status)) {
        if (!WIFSTOPPED(news.status))
            take_unread(slave, &news);
        (void)!write(to, &news, sizeof news);
        if (!WIFSTOPPED(news.status))
            break;
    }
    _exit(0);
}

/* Makes the pseudo-terminal the standard descriptors that were the user's terminal. */
static void take_descriptors(int slave, const bool replace[3])
{
    for (int fd = 0; fd <= 2; fd++)
        if (replace[fd])
            dup2(slave, fd);
    close(slave);
}

/* Runs in the session leader, and returns in the third process. */
static void start_session(int slave, int to, const bool replace[3])
{
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    pid_t pid = fork();
    if (pid < 0)
        _exit(0);
    setpgid(pid, pid);
    tcsetpgrp(slave, pid ?: getpid());
    if (pid)
        lead_session(slave, pid, to);
    close(to);
    take_descriptors(slave, replace);
}

/* ---- The process at the user's terminal ------------------------------------------------------ */

struct relay {
    const struct typed *typed;
    int master, signals, from; /* from: the descriptor that tells news */
    pid_t leader;              /* the third process; 0: not yet known */
    bool open;                 /* the user's terminal is open */
    bool raw;                  /* this process is in the foreground, and has made the user's
                                * terminal raw */
    uint64_t written;          /* number of bytes that the program has written */
    char keys[4096];           /* input that the pseudo-terminal had no room for */
    size_t key_count;
};

/* Number of bytes that are passed on at once: more than a pseudo-terminal keeps. */
#define OUTPUT_MOST (128 << 10)

static bool is_in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void pass_window(const struct relay *relay)
{
    struct winsize now, before;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &now) != 0 ||
        ioctl(relay->master, TIOCGWINSZ, &before) != 0 || memcmp(&now, &before, sizeof now) == 0)
        return;
    ioctl(relay->master, TIOCSWINSZ, &now);
    typed_add_window(relay->typed, &now, relay->written);
}

/* Makes the user's terminal raw, if this process is in the foreground. The pseudo-terminal gets the
 * settings that the user's terminal had. */
static void take_terminal(struct relay *relay)
{
    struct termios modes;
    if (relay->raw || !relay->open || !is_in_foreground() || tcgetattr(STDIN_FILENO, &modes) != 0)
        return;
    tcsetattr(relay->master, TCSANOW, &modes);
    cfmakeraw(&modes);
    relay->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0;
    pass_window(relay);
}

/* Looks at the user's terminal after SIGCONT. The shell may have given it other settings and another
 * foreground group while SIGSTOP, which only this process gets, stopped this process. */
static void retake_terminal(struct relay *relay)
{
    struct termios modes;
    if (!relay->raw)
        return take_terminal(relay);
    relay->raw = is_in_foreground() && tcgetattr(STDIN_FILENO, &modes) == 0;
    if (!relay->raw)
        return;
    cfmakeraw(&modes);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
}

/* Gives the user's terminal the settings that the program's has. */
static void give_terminal(struct relay *relay, const struct termios *modes)
{
    if (relay->raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, modes);
    relay->raw = false;
}

static void write_all(const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(STDOUT_FILENO, bytes, size);
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
        else if (n < 0 && errno != EINTR)
            return;
        bytes += n < 0 ? 0 : n;
        size -= n < 0 ? 0 : (size_t)n;
    }
}

/* Waits for output for at most *left ns, and subtracts the time from *left. */
static bool wait_for_output(const struct relay *relay, uint64_t *left)
{
    struct pollfd ready = {.fd = relay->master, .events = POLLIN};
    uint64_t began = time_steady_ns();
    bool found = poll(&ready, 1, (int)(*left / 1000000)) > 0 && ready.revents & POLLIN;
    uint64_t waited = time_steady_ns() - began;
    *left -= waited < *left ? waited : *left;
    return found;
}

/* Passes on what was written to the pseudo-terminal, and waits for more for `wait` ms in all. Ends
 * also if processes write without end. */
static void pass_output(struct relay *relay, unsigned wait)
{
    static char bytes[16 << 10];
    uint64_t end = relay->written + OUTPUT_MOST, left = wait * UINT64_C(1000000);
    while (relay->written < end && wait_for_output(relay, &left)) {
        ssize_t n = read(relay->master, bytes, sizeof bytes);
        if (n <= 0)
            return;
        write_all(bytes, (size_t)n);
        relay->written += (size_t)n;
    }
}

static void pass_keys(struct relay *relay)
{
    ssize_t n = write(relay->master, relay->keys, relay->key_count);
    if (n <= 0)
        return;
    relay->key_count -= (size_t)n;
    memmove(relay->keys, relay->keys + n, relay->key_count);
}

/* Reads what the user types. If the terminal is gone, the program's one hangs up, too. */
static void read_keys(struct relay *relay)
{
    ssize_t n = read(STDIN_FILENO, relay->keys, sizeof relay->keys);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        relay->open = false;
        kill(-relay->leader, SIGHUP);
        return;
    }
    relay->key_count = (size_t)n;
    typed_add_input(relay->typed, relay->keys, relay->key_count, relay->written);
    pass_keys(relay);
}

static void pass_signal(struct relay *relay)
{
    struct signalfd_siginfo info;
    if (read(relay->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if ((pid_t)info.ssi_pid == getpid())
        return; /* SIGXFSZ: the limit of file sizes holds for the recording, too */
    int sig = (int)info.ssi_signo;
    if (sig == SIGWINCH)
        pass_window(relay);
    else if (sig == SIGCONT)
        retake_terminal(relay);
    else if (sig != SIGCHLD)
        kill(relay->leader, sig);
}

/* Stops this process as the program has stopped; when it continues, continues the program. */
static void stop_with_program(struct relay *relay, int sig)
{
    struct termios modes;
    pass_output(relay, 20);
    if (tcgetattr(relay->master, &modes) == 0)
        give_terminal(relay, &modes);
    child_stop_like(sig);
    take_terminal(relay);
    kill(-relay->leader, SIGCONT);
}

/* Ends this process as the program has ended. */
static void end_with_program(struct relay *relay, const struct news *news)
{
    pass_output(relay, 100);
    for (size_t i = 0; i < news->unread && relay->raw; i++)
        ioctl(STDIN_FILENO, TIOCSTI, &news->bytes[i]);
    give_terminal(relay, &news->modes);
    exit_like_child(news->status);
}

static void read_news(struct relay *relay)
{
    static struct news news;
    ssize_t n = read(relay->from, &news, sizeof news);
    if (n < 0 && errno == EINTR)
        return;
    if (n != (ssize_t)sizeof news) { /* the session leader was killed */
        give_terminal(relay, &relay->typed->modes);
        exit_like_child(SIGKILL);
    }
    relay->leader = news.leader;
    if (news.status == -1)
        return;
    if (WIFSTOPPED(news.status))
        stop_with_program(relay, WSTOPSIG(news.status));
    else
        end_with_program(relay, &news);
}

/* in the background, ms between two looks whether the shell has given back the terminal */
#define FOREGROUND_STEP 200

static void relay_terminal(struct relay *relay)
{
    take_terminal(relay);
    for (;;) {
        bool reads = relay->raw && relay->open && relay->leader && !relay->key_count;
        struct pollfd ready[] = {
            {.fd = relay->master, .events = relay->key_count ? POLLIN | POLLOUT : POLLIN},
            {.fd = relay->leader ? relay->signals : -1, .events = POLLIN},
            {.fd = relay->from, .events = POLLIN},
            {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN}};
        poll(ready, 4, relay->raw || !relay->open ? -1 : FOREGROUND_STEP);
        if (ready[0].revents & POLLIN)
            pass_output(relay, 0);
        if (ready[0].revents & POLLOUT)
            pass_keys(relay);
        if (ready[1].revents)
            pass_signal(relay);
        if (ready[3].revents && relay->raw)
            read_keys(relay);
        if (ready[2].revents)
            read_news(relay);
        take_terminal(relay);
    }
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static bool is_same_terminal(int fd, const struct stat *terminal)
{
    struct stat other;
    return isatty(fd) && fstat(fd, &other) == 0 && other.st_rdev == terminal->st_rdev;
}

static bool is_suitable(struct typed *typed, const struct stat *terminal)
{
    return is_same_terminal(STDIN_FILENO, terminal) && is_same_terminal(STDOUT_FILENO, terminal) &&
           is_in_foreground() && tcgetattr(STDIN_FILENO, &typed->modes) == 0 &&
           typed->modes.c_lflag & ICANON && ioctl(STDIN_FILENO, TIOCGWINSZ, &typed->window) == 0;
}

static int open_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

void terminal_begin(struct typed *typed)
{
    struct stat terminal;
    int slave, ends[2];
    *typed = (struct typed){.file = -1, .begin_ns = time_steady_ns()};
    if (fstat(STDIN_FILENO, &terminal) != 0 || !is_suitable(typed, &terminal))
        return;
    bool replace[3] = {true, true, is_same_terminal(STDERR_FILENO, &terminal)};
    struct relay relay = {.typed = typed, .open = true, .signals = open_signals()};
    typed->file = memfd_create("leakrun-typed", MFD_CLOEXEC);
    if (typed->file < 0 || relay.signals < 0 || pipe2(ends, O_CLOEXEC) != 0 ||
        !typed_open_terminal(typed, &relay.master, &slave)) {
        print_notice("--when-lost: cannot record what is typed: %m");
        typed->file = -1;
        return;
    }
    relay.from = ends[0];
    pid_t pid = fork();
    if (pid > 0) {
        close(slave);
        close(ends[1]);
        fcntl(relay.master, F_SETFL, O_RDWR | O_NONBLOCK);
        relay_terminal(&relay);
    }
    close(relay.master);
    close(relay.signals);
    close(ends[0]);
    if (pid == 0)
        start_session(slave, ends[1], replace);
    else
        typed->file = -1;
}
