// Leak checks every few milliseconds while 64 threads wait with a deadline or for each other, in every call of
// signal(7) that a handler interrupts, through libc and through syscall(): each wait ends as the call says: not with
// EINTR, not early, and it does end. SIGCHLD, which nobody handles, reaches no sigtimedwait and no signalfd.
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t 4
// ENV: LIBLEAK_OPTIONS=snapshot_every=10ms
// EXPECT: ^[0-9]+ waits, 0 wrong, all kinds ended$
// JSON: p.snapshot.rung == "parked" and p.snapshot.threads_missed == 0

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum { THREADS = 64, NS = 30000000 };
static volatile int stop;
static int pipe_fd[2], empty_event, epoll, listener, sems, queue;
static char address[108];
static sem_t never;
static mqd_t mail;

struct wait { /* of one thread */
    struct timespec rest, until, clock; /* relative; absolute, by CLOCK_REALTIME and CLOCK_MONOTONIC */
    struct timeval tv;
    int pair[2], fd, other;
    pid_t child;
    void *place;
};

#define IS(condition) ((condition) ? NULL : "another result")
static const char *ends(long result, long wanted, int error)
{
    if (result == wanted && (result >= 0 || errno == error))
        return NULL;
    return result < 0 ? strerror(errno) : "another result";
}
#define TIMES_OUT(call) ends((call), 0, 0)
#define FAILS(call, error) ends((call), -1, error)
#define ERROR_IS(call, wanted) ({ int e_ = (call); e_ == (wanted) ? NULL : strerror(e_); })

#define KIND(name, ...) static const char *name(struct wait *w) { __VA_ARGS__; }
KIND(do_poll, struct pollfd p = {pipe_fd[0], POLLIN}; return TIMES_OUT(poll(&p, 1, NS / 1000000)))
KIND(do_ppoll, struct pollfd p = {pipe_fd[0], POLLIN}; sigset_t s; sigfillset(&s); return TIMES_OUT(ppoll(&p, 1, &w->rest, &s)))
KIND(do_select, fd_set s; FD_ZERO(&s); FD_SET(pipe_fd[0], &s); return TIMES_OUT(select(pipe_fd[0] + 1, &s, 0, 0, &w->tv)))
KIND(do_pselect, fd_set s; FD_ZERO(&s); FD_SET(pipe_fd[0], &s); sigset_t m; sigemptyset(&m); return TIMES_OUT(pselect(pipe_fd[0] + 1, &s, 0, 0, &w->rest, &m)))
KIND(do_epoll_wait, struct epoll_event e; return TIMES_OUT(epoll_wait(epoll, &e, 1, NS / 1000000)))
KIND(do_epoll_pwait, struct epoll_event e; sigset_t s; sigfillset(&s); return TIMES_OUT(epoll_pwait(epoll, &e, 1, NS / 1000000, &s)))
KIND(do_nanosleep, return TIMES_OUT(nanosleep(&w->rest, NULL)))
KIND(do_usleep, return TIMES_OUT(usleep(NS / 1000)))
KIND(do_clock_nanosleep, return ERROR_IS(clock_nanosleep(CLOCK_MONOTONIC, 0, &w->rest, NULL), 0))
KIND(do_clock_nanosleep_abs, return ERROR_IS(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &w->clock, NULL), 0))
KIND(do_sem_timedwait, return FAILS(sem_timedwait(&never, &w->until), ETIMEDOUT))
KIND(do_cond, pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int r;
     pthread_mutex_lock(&m); do r = pthread_cond_timedwait(&c, &m, &w->until); while (r == 0); pthread_mutex_unlock(&m); return ERROR_IS(r, ETIMEDOUT))
KIND(do_mutex, pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); return ERROR_IS(pthread_mutex_timedlock(&m, &w->until), ETIMEDOUT))
KIND(do_sigtimedwait, sigset_t s; sigfillset(&s); return FAILS(sigtimedwait(&s, NULL, &w->rest), EAGAIN))
KIND(do_signalfd, sigset_t s; sigfillset(&s); if (w->fd < 0) w->fd = signalfd(-1, &s, 0); struct pollfd p = {w->fd, POLLIN}; return TIMES_OUT(poll(&p, 1, NS / 1000000)))
KIND(do_recv, char c; return FAILS(recv(w->pair[0], &c, 1, 0), EAGAIN))
KIND(do_read_socket, char c; return FAILS(read(w->pair[0], &c, 1), EAGAIN))
KIND(do_recvmsg, char c; struct iovec v = {&c, 1}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1}; return FAILS(recvmsg(w->pair[0], &m, 0), EAGAIN))
KIND(do_recvmmsg, char c; struct iovec v = {&c, 1}; struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}; return FAILS(recvmmsg(w->pair[0], &m, 1, 0, NULL), EAGAIN))
KIND(do_recvfrom, char c; struct sockaddr_un a; socklen_t l = sizeof a; return FAILS(recvfrom(w->pair[0], &c, 1, 0, (void *)&a, &l), EAGAIN))
KIND(do_send, static char much[1 << 20]; while (send(w->pair[0], much, sizeof much, MSG_DONTWAIT) > 0) ; return FAILS(send(w->pair[0], "x", 1, 0), EAGAIN))
KIND(do_accept, return FAILS(accept(listener, NULL, NULL), EAGAIN))
KIND(do_accept4, return FAILS(accept4(listener, NULL, NULL, 0), EAGAIN))
static const char *connect_when_full(struct wait *w)
{
    struct sockaddr_un a = {AF_UNIX};
    strcpy(a.sun_path, address);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &w->tv, sizeof w->tv);
    const char *wrong = FAILS(connect(s, (void *)&a, sizeof a), EAGAIN);
    close(s);
    return wrong;
}
KIND(do_connect, return connect_when_full(w))
KIND(do_mq_receive, char b[64]; return FAILS(mq_timedreceive(mail, b, sizeof b, NULL, &w->until), ETIMEDOUT))
KIND(do_semtimedop, struct sembuf b = {0, -1, 0}; return FAILS(semtimedop(sems, &b, 1, &w->rest), EAGAIN))
KIND(do_timerfd, struct itimerspec t = {.it_value = w->rest}; unsigned long long n = 0; if (w->fd < 0) w->fd = timerfd_create(CLOCK_MONOTONIC, 0);
     timerfd_settime(w->fd, 0, &t, NULL); return ends(read(w->fd, &n, 8), 8, 0))
/* Woken by another process, which the wait reaps, too. */
static pid_t start_child(void (*act)(struct wait *), struct wait *w)
{
    pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        syscall(SYS_nanosleep, &w->rest, NULL);
        if (act)
            act(w);
        syscall(SYS_exit_group, 5);
    }
    return w->child = pid;
}
static const char *reap(struct wait *w, const char *wrong)
{
    int status = 0;
    pid_t pid = waitpid(w->child, &status, 0);
    return wrong ? wrong : pid == w->child && WEXITSTATUS(status) == 5 ? NULL : strerror(errno);
}
static void write_byte(struct wait *w) { syscall(SYS_write, w->pair[1], "x", 1); }
static void post(struct wait *w) { struct sembuf b = {1, 1, 0}; syscall(SYS_semop, sems, &b, 1); }
static void mailing(struct wait *w) { struct { long type; char text[8]; } m = {1}; syscall(SYS_msgsnd, queue, &m, 8, 0); }
static void wake(struct wait *w) { *(int *)w->place = 1; syscall(SYS_futex, w->place, FUTEX_WAKE, 1, 0, 0, 0); }
static void kick(struct wait *w) { syscall(SYS_write, w->other, "12345678", 8); }
KIND(do_waitpid, start_child(NULL, w); return reap(w, NULL))
KIND(do_waitid, start_child(NULL, w); siginfo_t i; return ends(waitid(P_PID, w->child, &i, WEXITED), 0, 0))
KIND(do_read_pipe, char c; start_child(write_byte, w); return reap(w, ends(read(w->pair[0], &c, 1), 1, 0)))
KIND(do_recv_no_limit, char c; start_child(write_byte, w); return reap(w, ends(recv(w->pair[0], &c, 1, 0), 1, 0)))
KIND(do_epoll_no_limit, char c; struct epoll_event e = {EPOLLIN}; if (w->fd < 0) w->fd = epoll_create1(0), epoll_ctl(w->fd, EPOLL_CTL_ADD, w->pair[0], &e);
     start_child(write_byte, w); const char *wrong = ends(epoll_wait(w->fd, &e, 1, -1), 1, 0); recv(w->pair[0], &c, 1, 0); return reap(w, wrong))
KIND(do_semop, struct sembuf b = {1, -1, 0}; start_child(post, w); return reap(w, ends(semop(sems, &b, 1), 0, 0)))
KIND(do_msgrcv, struct { long type; char text[8]; } m; start_child(mailing, w); return reap(w, ends(msgrcv(queue, &m, 8, 0, 0), 8, 0)))
KIND(do_futex_no_limit, *(int *)w->place = 0; start_child(wake, w); int r = 0; while (!*(volatile int *)w->place && r == 0) r = syscall(SYS_futex, w->place, FUTEX_WAIT, 0, NULL, 0, 0);
     return reap(w, r == 0 || errno == EAGAIN ? NULL : strerror(errno)))
KIND(do_flock, int a = open("lock", O_RDWR | O_CREAT, 0600); const char *wrong = ends(flock(a, LOCK_EX), 0, 0); nanosleep(&w->rest, NULL); close(a); return wrong)
KIND(do_fcntl, struct flock l = {.l_type = F_WRLCK}; int a = open("range", O_RDWR | O_CREAT, 0600); const char *wrong = ends(fcntl(a, F_OFD_SETLKW, &l), 0, 0); nanosleep(&w->rest, NULL); close(a); return wrong)
static void open_writer(struct wait *w) { syscall(SYS_openat, AT_FDCWD, w->place, O_WRONLY, 0); }
KIND(do_open_fifo, static __thread char name[32]; if (!*name) sprintf(name, "fifo%d", (int)syscall(SYS_gettid)), mkfifo(name, 0600); w->place = name;
     start_child(open_writer, w); int fd = open(name, O_RDONLY); const char *wrong = fd < 0 ? strerror(errno) : NULL; close(fd); return reap(w, wrong))
KIND(do_pause, sigset_t s; sigfillset(&s); sigsuspend(&s); return stop ? NULL : strerror(errno))
/* Through syscall(): relative deadlines that no hook of libc's functions sees. */
KIND(raw_futex, int word = 0; return FAILS(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &w->rest, 0, 0), ETIMEDOUT))
KIND(raw_futex_abs, int word = 0; return FAILS(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &w->clock, 0, -1), ETIMEDOUT))
KIND(raw_futex_waitv, int word = 0; struct futex_waitv v = {0, (unsigned long)&word, FUTEX_32, 0}; return FAILS(syscall(SYS_futex_waitv, &v, 1, 0, &w->clock, CLOCK_MONOTONIC), ETIMEDOUT))
KIND(raw_epoll_pwait, struct epoll_event e; return TIMES_OUT(syscall(SYS_epoll_pwait, epoll, &e, 1, NS / 1000000, NULL, 8)))
KIND(raw_epoll_pwait2, struct epoll_event e; return TIMES_OUT(syscall(SYS_epoll_pwait2, epoll, &e, 1, &w->rest, NULL, 8)))
KIND(raw_sigtimedwait, unsigned long s = 1ul << (SIGUSR2 - 1); return FAILS(syscall(SYS_rt_sigtimedwait, &s, NULL, &w->rest, 8), EAGAIN))
KIND(raw_semtimedop, struct sembuf b = {0, -1, 0}; return FAILS(syscall(SYS_semtimedop, sems, &b, 1, &w->rest), EAGAIN))
KIND(raw_ppoll, struct pollfd p = {pipe_fd[0], POLLIN}; return TIMES_OUT(syscall(SYS_ppoll, &p, 1, &w->rest, NULL, 8)))
KIND(raw_pselect, fd_set s; FD_ZERO(&s); FD_SET(pipe_fd[0], &s); return TIMES_OUT(syscall(SYS_pselect6, pipe_fd[0] + 1, &s, 0, 0, &w->rest, NULL)))
KIND(raw_nanosleep, return TIMES_OUT(syscall(SYS_nanosleep, &w->rest, NULL)))
KIND(raw_recv, char c; return FAILS(syscall(SYS_recvfrom, w->pair[0], &c, 1, 0, NULL, NULL), EAGAIN))
KIND(raw_getevents, static __thread aio_context_t c; struct io_event e; if (!c && syscall(SYS_io_setup, 1, &c) < 0) return pause(), NULL;
     return TIMES_OUT(syscall(SYS_io_getevents, c, 1, 1, &e, &w->rest)))
KIND(raw_uring, struct io_uring_params p = {0}; if (w->fd < 0 && (w->fd = syscall(SYS_io_uring_setup, 1, &p)) < 0) return pause(), NULL;
     struct __kernel_timespec t = {0, NS}; struct io_uring_getevents_arg a = {.ts = (unsigned long)&t};
     return FAILS(syscall(SYS_io_uring_enter, w->fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &a, sizeof a), ETIME))

static const struct kind {
    const char *name;
    const char *(*wait)(struct wait *);
    int soft; /* may end before its time: another thread or process ends it */
} kinds[] = {
#define K(name) {#name, name, 0}
#define W(name) {#name, name, 1}
    K(do_poll), K(do_ppoll), K(do_select), K(do_pselect), K(do_epoll_wait), K(do_epoll_pwait), K(do_nanosleep), K(do_usleep),
    K(do_clock_nanosleep), K(do_clock_nanosleep_abs), K(do_sem_timedwait), K(do_cond), K(do_mutex), K(do_sigtimedwait), K(do_signalfd),
    K(do_recv), K(do_read_socket), K(do_recvmsg), K(do_recvmmsg), K(do_recvfrom), K(do_send), K(do_accept), K(do_accept4), K(do_connect),
    K(do_mq_receive), K(do_semtimedop), K(do_timerfd), W(do_waitpid), W(do_waitid), W(do_read_pipe), W(do_recv_no_limit),
    W(do_epoll_no_limit), W(do_semop), W(do_msgrcv), W(do_futex_no_limit), W(do_flock), W(do_fcntl), W(do_open_fifo), W(do_pause),
    K(raw_futex), K(raw_futex_abs), K(raw_futex_waitv), K(raw_epoll_pwait), K(raw_epoll_pwait2), K(raw_sigtimedwait), K(raw_semtimedop),
    K(raw_ppoll), K(raw_pselect), K(raw_nanosleep), K(raw_recv), K(raw_getevents), K(raw_uring),
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static long counts[THREADS], wrong_ones[THREADS], longest[THREADS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
static struct timespec later(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += NS;
    if (t.tv_nsec >= 1000000000)
        t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static void *thread(void *argument)
{
    long at = (long)argument;
    const struct kind *kind = &kinds[at % KINDS];
    struct wait w = {.fd = -1};
    sigset_t all;
    struct timeval tv = {0, NS / 1000};
    sigfillset(&all);
    /* SIGCHLD becomes pending, without libleak as well, when the thread that made the child blocks it. */
    if (at % 2 && !kind->soft || kind->wait == do_sigtimedwait || kind->wait == raw_sigtimedwait)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    socketpair(AF_UNIX, SOCK_STREAM, 0, w.pair);
    if (!kind->soft) {
        setsockopt(w.pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
        setsockopt(w.pair[0], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    }
    w.place = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (!stop) {
        void *p = malloc(100 + counts[at] % 1000);
        w.rest = (struct timespec){0, NS}, w.tv = tv;
        w.until = later(CLOCK_REALTIME), w.clock = later(CLOCK_MONOTONIC);
        double begun = now();
        const char *wrong = kind->wait(&w);
        long took = (now() - begun) * 1e9;
        if (!wrong && !kind->soft && took < NS - 4200000) /* socket limits are rounded to jiffies */
            wrong = "too early";
        if (took > longest[at])
            longest[at] = took;
        counts[at]++;
        if (wrong && !stop && wrong_ones[at]++ < 3)
            dprintf(1, "%s: %s after %ld us\n", kind->name, wrong, took / 1000);
        free(p);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct epoll_event e = {EPOLLIN};
    struct timeval tv = {0, NS / 1000};
    struct sockaddr_un name = {AF_UNIX, "listener"}, full = {AF_UNIX, "full"};
    struct mq_attr attr = {0, 4, 64};
    char box[32];
    long waits = 0, wrong = 0, missing = 0;

    pipe(pipe_fd), epoll = epoll_create1(0), empty_event = eventfd(0, 0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, empty_event, &e);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink("listener"), bind(listener, (void *)&name, sizeof name), listen(listener, 1);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    int s = socket(AF_UNIX, SOCK_STREAM, 0), c;
    unlink("full"), bind(s, (void *)&full, sizeof full), listen(s, 0), strcpy(address, "full");
    do
        c = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    while (connect(c, (void *)&full, sizeof full) == 0);
    sem_init(&never, 0, 0);
    sprintf(box, "/waits%d", (int)getpid());
    mail = mq_open(box, O_CREAT | O_RDWR, 0600, &attr), mq_unlink(box);
    sems = semget(IPC_PRIVATE, 2, 0600), queue = msgget(IPC_PRIVATE, 0600);
    for (long i = 0; i < THREADS; i++) {
        pthread_t t;
        pthread_create(&t, NULL, thread, (void *)i);
    }
    double end = now() + (argc > 1 ? atof(argv[1]) : 4);
    while (now() < end)
        usleep(100000);
    for (int i = 0; i < THREADS; i++) {
        waits += counts[i], wrong += wrong_ones[i];
        if (argc > 2)
            printf("%-24s %7ld waits, longest %ld us\n", kinds[i % KINDS].name, counts[i], longest[i] / 1000);
        if (!counts[i] && kinds[i % KINDS].wait != do_pause && strncmp(kinds[i % KINDS].name, "raw_uring", 9) && kinds[i % KINDS].wait != raw_getevents)
            missing++, printf("%s never ended\n", kinds[i % KINDS].name);
    }
    printf("%ld waits, %ld wrong, %s\n", waits, wrong, missing ? "some kinds did not end" : "all kinds ended");
    fflush(stdout);
    stop = 1;
    semctl(sems, 0, IPC_RMID, 0), msgctl(queue, IPC_RMID, NULL);
    return wrong || missing;
}
