/* blocked KIND SECONDS - makes blocking calls of one kind, one after the other, and compares each
 * result with the right one: the data that a child process sent, or the end of a time limit. Prints
 * "ready", a line for each call with a wrong result, and "done CALLS LONGEST", the longest call in
 * ms. SIGTERM ends the program early. Without arguments, prints the kinds, one a line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
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

#define MOMENT_MS 120 /* time after which the child acts, and time limit of calls that have one */
#define FAILS(call, error) ((call) < 0 && errno == (error))

static struct shared {
    sem_t sem;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int flag, word;
} * shared;
static int in[2], out[2], pair[2], limited[2], listener, unheard, epoll, event, notify, timer,
    signals;
static int sem_id, queue_id;
static mqd_t queue;
static char fifo[80], watched[64];
static struct sockaddr_un address = {.sun_family = AF_UNIX}, full;
static const struct timespec moment = {0, MOMENT_MS * 1000000};
static const struct timeval moment_us = {0, MOMENT_MS * 1000};
static char byte, room[1 << 16];
static sigset_t usr1;
static pid_t parent;
static volatile sig_atomic_t is_over;
static struct message {
    long type;
    char text[4];
} message = {1, "abc"};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void nap(void)
{
    struct timespec rest = moment;

    while (nanosleep(&rest, &rest) != 0)
        ;
}

static struct timespec *soon(clockid_t clock)
{
    static struct timespec at;

    clock_gettime(clock, &at);
    at.tv_nsec += MOMENT_MS * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return &at;
}

static void fill(int fd)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, room, 4096) > 0)
        ;
    fcntl(fd, F_SETFL, 0);
}

static void drain(int fd)
{
    while (recv(fd, room, sizeof(room), MSG_DONTWAIT) > 0)
        ;
}

static void connect_once(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    connect(fd, (struct sockaddr *)&address, sizeof(address));
    close(fd);
}

static bool accept_once(void)
{
    int fd = accept(listener, NULL, NULL);

    close(fd);
    return fd >= 0;
}

/* The listener accepts nothing, so that the third connection waits. */
static bool connect_to_full(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool failed;

    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &moment_us, sizeof(moment_us));
    failed = FAILS(connect(fd, (struct sockaddr *)&full, sizeof(full)), EAGAIN);
    close(fd);
    return failed;
}

/* A ring with one request at a time; without io_uring the calls are pauses. */
static struct {
    int fd;
    struct io_uring_params params;
    char *submissions, *completions;
    struct io_uring_sqe *entries;
} uring;

static void prepare_uring(void)
{
    size_t size = 1 << 14;

    uring.fd = (int)syscall(SYS_io_uring_setup, 4, &uring.params);
    if (uring.fd < 0)
        return;
    uring.submissions =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, uring.fd, IORING_OFF_SQ_RING);
    uring.completions =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, uring.fd, IORING_OFF_CQ_RING);
    uring.entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, uring.fd, IORING_OFF_SQES);
}

/* The call as liburing makes it, not by syscall(), in which its number would be lost. */
static long uring_enter(unsigned submit, unsigned complete, unsigned flags, void *argument,
                        size_t size)
{
#ifdef __x86_64__
    register long r10 __asm__("r10") = flags, r8 __asm__("r8") = (long)argument;
    register long r9 __asm__("r9") = (long)size;
    long result;

    __asm__ volatile("mov %1, %%eax; syscall"
                     : "=&a"(result)
                     : "i"(SYS_io_uring_enter), "D"(uring.fd), "S"(submit), "d"(complete), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    errno = result < 0 ? (int)-result : errno;
    return result < 0 ? -1 : result;
#else
    return syscall(SYS_io_uring_enter, uring.fd, submit, complete, flags, argument, size);
#endif
}

static unsigned *uring_word(char *ring, unsigned offset)
{
    return (unsigned *)(ring + offset);
}

/* Submits a timeout, then waits for it. */
static bool wait_for_uring(void)
{
    static struct __kernel_timespec time = {0, MOMENT_MS * 1000000};
    unsigned *tail, *head, at;

    if (uring.fd < 0)
        return nap(), true;
    tail = uring_word(uring.submissions, uring.params.sq_off.tail);
    head = uring_word(uring.completions, uring.params.cq_off.head);
    at = *tail & (uring.params.sq_entries - 1);
    uring.entries[at] = (struct io_uring_sqe){
        .opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)&time, .len = 1, .off = 0};
    uring_word(uring.submissions, uring.params.sq_off.array)[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (uring_enter(1, 0, 0, NULL, 0) != 1 ||
        uring_enter(0, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 0 ||
        *uring_word(uring.completions, uring.params.cq_off.tail) != *head + 1)
        return false;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return true;
}

static bool wait_for_uring_timed(void)
{
    struct __kernel_timespec time = {0, MOMENT_MS * 1000000};
    struct io_uring_getevents_arg argument = {.ts = (uintptr_t)&time};

    if (uring.fd < 0)
        return nap(), true;
    return FAILS(uring_enter(0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                             sizeof(argument)),
                 ETIME);
}

static bool wait_cond(void)
{
    pthread_mutex_lock(&shared->mutex);
    while (!shared->flag)
        if (pthread_cond_wait(&shared->cond, &shared->mutex) != 0)
            return false;
    shared->flag = 0;
    return pthread_mutex_unlock(&shared->mutex) == 0;
}

static void signal_cond(void)
{
    pthread_mutex_lock(&shared->mutex);
    shared->flag = 1;
    pthread_cond_signal(&shared->cond);
    pthread_mutex_unlock(&shared->mutex);
}

static bool wait_cond_timed(void)
{
    pthread_mutex_lock(&shared->mutex);
    int error = pthread_cond_timedwait(&shared->cond, &shared->mutex, soon(CLOCK_REALTIME));
    pthread_mutex_unlock(&shared->mutex);
    return error == ETIMEDOUT;
}

static bool wait_futex(void)
{
    while (!__atomic_load_n(&shared->word, __ATOMIC_SEQ_CST))
        if (syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno != EAGAIN)
            return false;
    __atomic_store_n(&shared->word, 0, __ATOMIC_SEQ_CST);
    return true;
}

static void set_futex(void)
{
    __atomic_store_n(&shared->word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool wait_child(int how)
{
    int status = 0;
    siginfo_t info;
    pid_t child = fork();

    if (child == 0) {
        nap();
        _exit(7);
    }
    if (how == 0)
        return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
    return waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == 7;
}

/* Locks the file in the child for a moment, so that the process has to wait for the lock. */
static void lock_it(int how)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open(watched, O_RDWR);

    if (how == 0)
        flock(fd, LOCK_EX);
    else
        fcntl(fd, how == 1 ? F_SETLKW : F_OFD_SETLKW, &lock);
    if (write(in[1], "x", 1) != 1)
        abort();
    nap();
    close(fd);
}

static bool wait_lock(int how)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open(watched, O_RDWR), result;

    if (read(in[0], &byte, 1) != 1)
        return false;
    result = how == 0 ? flock(fd, LOCK_EX) : fcntl(fd, how == 1 ? F_SETLKW : F_OFD_SETLKW, &lock);
    close(fd);
    return result == 0;
}

static bool suspend(void)
{
    sigset_t none;

    sigemptyset(&none);
    return sigsuspend(&none) < 0 && errno == EINTR;
}

static bool read_and_watch(void)
{
    struct epoll_event got;

    return epoll_wait(epoll, &got, 1, -1) == 1 && read(in[0], &byte, 1) == 1;
}

static void touch(void)
{
    char name[80];

    snprintf(name, sizeof(name), "%s.d/new", watched);
    close(open(name, O_CREAT | O_RDWR, 0600));
    unlink(name);
}

static bool open_fifo(void)
{
    int fd = open(fifo, O_RDONLY);

    close(fd);
    return fd >= 0;
}

static bool wait_timer(void)
{
    struct itimerspec at = {.it_value = moment};
    uint64_t count;

    timerfd_settime(timer, 0, &at, NULL);
    return read(timer, &count, 8) == 8 && count == 1;
}

static bool readable(int fd, int milliseconds, int expected)
{
    struct pollfd one = {fd, POLLIN, 0};

    return poll(&one, 1, milliseconds) == expected && (!expected || read(fd, &byte, 1) == 1);
}

static bool selected(bool timed)
{
    struct timeval limit = moment_us;
    fd_set set;

    FD_ZERO(&set);
    FD_SET(in[0], &set);
    if (timed)
        return select(in[0] + 1, &set, NULL, NULL, &limit) == 0;
    return select(in[0] + 1, &set, NULL, NULL, NULL) == 1 && read(in[0], &byte, 1) == 1;
}

static bool waits_for(int id, short change, const struct timespec *limit)
{
    struct sembuf one = {0, change, 0};

    return semtimedop(id, &one, 1, limit) == 0;
}

static bool vfork_child(void)
{
    int status = 0;
    pid_t child = vfork();

    if (child == 0) {
        syscall(SYS_nanosleep, &moment, NULL);
        _exit(7);
    }
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
}

static void add_to_semaphore(void)
{
    waits_for(sem_id, 1, NULL);
}

static struct epoll_event got;
static uint64_t count8;
static struct signalfd_siginfo info;
static char event_room[512];
static struct iovec vector = {&byte, 1};
static struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
static struct mmsghdr headers = {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}};

/* The kinds of blocking calls: K(name, what the process calls: true if the result is right, what
 * the child does a moment later to end the call). */
#define WRITE_BYTE (void)!write(in[1], "x", 1)
#define KINDS(K)                                                                                   \
    K(read, read(in[0], &byte, 1) == 1, WRITE_BYTE)                                                \
    K(readv, readv(in[0], &vector, 1) == 1, WRITE_BYTE)                                            \
    K(write, (fill(out[1]), write(out[1], room, 4096) == 4096),                                    \
      (void)!read(out[0], room, sizeof(room)))                                                     \
    K(splice, splice(in[0], NULL, out[1], NULL, 1, 0) == 1 && read(out[0], &byte, 1) == 1,         \
      WRITE_BYTE)                                                                                  \
    K(open_fifo, open_fifo(), close(open(fifo, O_WRONLY)))                                         \
    K(poll, readable(in[0], -1, 1), WRITE_BYTE)                                                    \
    K(poll_limit, readable(in[0], MOMENT_MS, 0), )                                                 \
    K(ppoll_limit, ppoll(NULL, 0, &moment, NULL) == 0, )                                           \
    K(select, selected(false), WRITE_BYTE)                                                         \
    K(select_limit, selected(true), )                                                              \
    K(pselect_limit, pselect(0, NULL, NULL, NULL, &moment, NULL) == 0, )                           \
    K(epoll, read_and_watch(), WRITE_BYTE)                                                         \
    K(epoll_limit, epoll_wait(epoll, &got, 1, MOMENT_MS) == 0, )                                   \
    K(epoll_pwait_limit, epoll_pwait(epoll, &got, 1, MOMENT_MS, &usr1) == 0, )                     \
    K(epoll_pwait2_limit, syscall(SYS_epoll_pwait2, epoll, &got, 1, &moment, NULL, 0) == 0, )      \
    K(nanosleep, nanosleep(&moment, NULL) == 0, )                                                  \
    K(usleep, usleep(MOMENT_MS * 1000) == 0, )                                                     \
    K(clock_nanosleep,                                                                             \
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, soon(CLOCK_MONOTONIC), NULL) == 0, )         \
    K(timerfd, wait_timer(), )                                                                     \
    K(eventfd, read(event, &count8, 8) == 8 && count8 == 1, count8 = 1;                            \
      (void)!write(event, &count8, 8))                                                             \
    K(signalfd, read(signals, &info, sizeof(info)) == sizeof(info), kill(parent, SIGUSR1))         \
    K(inotify, read(notify, event_room, sizeof(event_room)) > 0, touch())                          \
    K(accept, accept_once(), connect_once())                                                       \
    K(recv, recv(pair[0], &byte, 1, 0) == 1, send(pair[1], "x", 1, 0))                             \
    K(recvmsg, recvmsg(pair[0], &header, 0) == 1, send(pair[1], "x", 1, 0))                        \
    K(recvmmsg, recvmmsg(pair[0], &headers, 1, 0, NULL) == 1, send(pair[1], "x", 1, 0))            \
    K(recv_limit, FAILS(recv(limited[0], &byte, 1, 0), EAGAIN), )                                  \
    K(send, (fill(pair[0]), send(pair[0], room, 4096, 0) == 4096), drain(pair[1]))                 \
    K(send_limit, (fill(limited[0]), FAILS(send(limited[0], room, 4096, 0), EAGAIN)), )            \
    K(writev_limit, (fill(limited[0]), FAILS(writev(limited[0], &vector, 1), EAGAIN)), )           \
    K(connect_limit, connect_to_full(), )                                                          \
    K(uring, wait_for_uring(), )                                                                   \
    K(uring_limit, wait_for_uring_timed(), )                                                       \
    K(futex, wait_futex(), set_futex())                                                            \
    K(futex_limit,                                                                                 \
      FAILS(syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, &moment, NULL, 0), ETIMEDOUT), )      \
    K(cond, wait_cond(), signal_cond())                                                            \
    K(cond_limit, wait_cond_timed(), )                                                             \
    K(sem, sem_wait(&shared->sem) == 0, sem_post(&shared->sem))                                    \
    K(sem_limit, FAILS(sem_timedwait(&shared->sem, soon(CLOCK_REALTIME)), ETIMEDOUT), )            \
    K(semop, waits_for(sem_id, -1, NULL), add_to_semaphore())                                      \
    K(semop_limit, !waits_for(sem_id, -1, &moment) && errno == EAGAIN, )                           \
    K(msgrcv, msgrcv(queue_id, &message, 4, 0, 0) == 4, msgsnd(queue_id, &message, 4, 0))          \
    K(mq_receive, mq_receive(queue, room, sizeof(room), NULL) == 4, mq_send(queue, "abc", 4, 0))   \
    K(mq_limit,                                                                                    \
      FAILS(mq_timedreceive(queue, room, sizeof(room), NULL, soon(CLOCK_REALTIME)), ETIMEDOUT), )  \
    K(sigwait, sigwaitinfo(&usr1, NULL) == SIGUSR1, kill(parent, SIGUSR1))                         \
    K(sigwait_limit, FAILS(sigtimedwait(&usr1, NULL, &moment), EAGAIN), )                          \
    K(sigsuspend, suspend(), kill(parent, SIGUSR1))                                                \
    K(waitpid, wait_child(0), )                                                                    \
    K(waitid, wait_child(1), )                                                                     \
    K(flock, wait_lock(0), lock_it(0))                                                             \
    K(fcntl_lock, wait_lock(1), lock_it(1))                                                        \
    K(fcntl_own_lock, wait_lock(2), lock_it(2))                                                    \
    K(vfork, vfork_child(), )

#define K(name, blocks, wakes)                                                                     \
    static bool block_##name(void)                                                                 \
    {                                                                                              \
        return blocks;                                                                             \
    }                                                                                              \
    static void wake_##name(void)                                                                  \
    {                                                                                              \
        wakes;                                                                                     \
    }
KINDS(K)
#undef K

static const struct kind {
    const char *name;
    bool (*block)(void);
    void (*wake)(void);
} kinds[] = {
#define K(name, blocks, wakes) {#name, block_##name, wake_##name},
    KINDS(K)
#undef K
};

/* ---- The process and its child --------------------------------------------------------------- */

static void end_soon(int number)
{
    (void)number;
    is_over = 1;
}

static void on_signal(int number)
{
    (void)number;
}

static void prepare(void)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    char directory[80], name[64];

    parent = getpid();
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&shared->sem, 1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->cond, &cond);
    if (pipe(in) || pipe(out) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, limited))
        abort();
    setsockopt(limited[0], SOL_SOCKET, SO_RCVTIMEO, &moment_us, sizeof(moment_us));
    setsockopt(limited[0], SOL_SOCKET, SO_SNDTIMEO, &moment_us, sizeof(moment_us));
    snprintf(watched, sizeof(watched), "/tmp/blocked.%d", parent);
    snprintf(directory, sizeof(directory), "%s.d", watched);
    snprintf(fifo, sizeof(fifo), "%s.fifo", watched);
    close(open(watched, O_CREAT | O_RDWR, 0600));
    mkdir(directory, 0700);
    mkfifo(fifo, 0600);
    notify = inotify_init();
    inotify_add_watch(notify, directory, IN_CREATE);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s.socket", watched);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unheard = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof(address));
    listen(listener, 5);
    full = address;
    strcat(full.sun_path, ".full");
    bind(unheard, (struct sockaddr *)&full, sizeof(full));
    listen(unheard, 0);
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&full, sizeof(full));
    prepare_uring();
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, in[0], &(struct epoll_event){.events = EPOLLIN});
    event = eventfd(0, 0);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
    signals = signalfd(-1, &usr1, 0);
    sem_id = semget(IPC_PRIVATE, 1, 0600);
    queue_id = msgget(IPC_PRIVATE, 0600);
    snprintf(name, sizeof(name), "/blocked.%d", parent);
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, NULL);
    mq_unlink(name);
}

static void clean(void)
{
    char name[80];

    snprintf(name, sizeof(name), "%s.d", watched);
    rmdir(name);
    unlink(watched);
    unlink(fifo);
    unlink(address.sun_path);
    unlink(full.sun_path);
    semctl(sem_id, 0, IPC_RMID);
    msgctl(queue_id, IPC_RMID, NULL);
}

/* Ends the calls of the process, in the child. The process writes a byte when it is about to
 * block. */
static void wake_again_and_again(const struct kind *kind, int begun)
{
    char one;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(begun, &one, 1) == 1) {
        if (kind->wake != wake_flock && kind->wake != wake_fcntl_lock &&
            kind->wake != wake_fcntl_own_lock)
            nap();
        kind->wake();
    }
    _exit(0);
}

int main(int count, char **words)
{
    const struct kind *kind = NULL;
    double end, longest = 0;
    unsigned calls = 0;
    int begin[2];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (count < 3)
            puts(kinds[i].name);
        else if (strcmp(words[1], kinds[i].name) == 0)
            kind = &kinds[i];
    if (!kind)
        return count < 3 ? 0 : 2;
    prepare();
    if (pipe(begin) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        close(begin[1]);
        wake_again_and_again(kind, begin[0]);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGTERM, end_soon);
    puts("ready");
    for (end = now_ms() + atof(words[2]) * 1e3; !is_over && now_ms() < end; calls++) {
        double start = now_ms(), took;
        void *block = malloc(100 + calls % 100);
        bool right;

        if (write(begin[1], "x", 1) != 1)
            return 3;
        errno = 0;
        right = kind->block();
        took = now_ms() - start;
        if (!right && !is_over)
            printf("disturbed: call %u of %s after %.0f ms: %s\n", calls, kind->name, took,
                   strerror(errno));
        if (took > longest && !is_over)
            longest = took;
        free(block);
    }
    clean();
    kill(child, SIGKILL);
    printf("done %u %.0f\n", calls, longest);
    return 0;
}
