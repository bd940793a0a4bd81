// A thread in each call that waits for ever (read, recv, accept, poll, select, epoll_wait, futex, semop,
// msgrcv, pause, sigsuspend, sigwaitinfo, nanosleep, flock, fcntl, waitpid) while thirty looks are
// taken: not one of them returns, least of all with EINTR; all are parked.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^20 wait, 0 came back$
// JSON: p.snapshot.rung == "parked" and p.snapshot.threads_parked == 20 and p.snapshot.threads_missed == 0
// JSON: verdict("local") == {"reachable": (20, 20 * 40)} and verdict("dropped") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum { CALLS = 20 };
static int silent[2], pair[2], listener, epoll, word, sems, queue, mine, theirs;
static pid_t child;
static sem_t ready, never;
static volatile int back;
TAKE(local, 40)
LOSE(dropped, 56)

static long wait_in(int which)
{
    struct pollfd p = { silent[0], POLLIN };
    struct timespec day = { 86400, 0 };
    struct sembuf take = { 0, -1, 0 };
    struct { long type; char text[8]; } message;
    struct epoll_event event;
    struct msghdr header = { 0 };
    struct flock lock = { .l_type = F_WRLCK };
    sigset_t usr2, all_but;
    siginfo_t info;
    fd_set set;
    char c;

    FD_ZERO(&set);
    FD_SET(silent[0], &set);
    sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
    sigfillset(&all_but);
    switch (which) {
    case 0: return read(silent[0], &c, 1);
    case 1: return recv(pair[0], &c, 1, 0);
    case 2: return recvmsg(pair[0], &header, 0);
    case 3: return accept(listener, NULL, NULL);
    case 4: return poll(&p, 1, -1);
    case 5: return select(silent[0] + 1, &set, NULL, NULL, NULL);
    case 6: return epoll_wait(epoll, &event, 1, -1);
    case 7: return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
    case 8: return sem_wait(&never);
    case 9: return semop(sems, &take, 1);
    case 10: return msgrcv(queue, &message, 8, 0, 0);
    case 11: return pause();
    case 12: return sigsuspend(&all_but);
    case 13: return sigwaitinfo(&usr2, &info);
    case 14: return sigtimedwait(&usr2, &info, &day);
    case 15: return nanosleep(&day, NULL);
    case 16: return clock_nanosleep(CLOCK_REALTIME, 0, &day, NULL);
    case 17: return flock(mine, LOCK_EX);
    case 18: return fcntl(open("range", O_RDWR), F_OFD_SETLKW, &lock);
    default: return waitpid(child, NULL, 0);
    }
}

static void *thread(void *which)
{
    void *volatile held = local();
    sigset_t usr2;
    long r;

    sigemptyset(&usr2), sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    sem_post(&ready);
    r = wait_in((long)which);
    dprintf(1, "call %ld came back with %ld, %s\n", (long)which, r, strerror(errno));
    back++;
    for (;;)
        pause();
    return held;
}

int main(void)
{
    struct sockaddr_un name = { AF_UNIX, "socket" };
    struct flock lock = { .l_type = F_WRLCK };
    pthread_t t;

    if (!(child = fork())) {
        for (int i = 0; i < 200 && getppid() != 1; i++)
            usleep(100000);
        syscall(SYS_exit_group, 0);
    }
    sem_init(&ready, 0, 0), sem_init(&never, 0, 0);
    pipe(silent);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (void *)&name, sizeof name), listen(listener, 1);
    epoll = epoll_create1(0);
    sems = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
    theirs = open("lock", O_RDWR | O_CREAT, 0600), mine = open("lock", O_RDWR);
    flock(theirs, LOCK_EX);
    fcntl(open("range", O_RDWR | O_CREAT, 0600), F_OFD_SETLK, &lock);
    for (long i = 0; i < CALLS; i++) {
        pthread_create(&t, NULL, thread, (void *)i);
        sem_wait(&ready);
    }
    usleep(100000);
    dropped();
    for (int i = 0; i < 30; i++) {
        look();
        usleep(5000);
    }
    usleep(50000);
    dprintf(1, "%d wait, %d came back\n", CALLS, back);
    semctl(sems, 0, IPC_RMID, 0), msgctl(queue, IPC_RMID, NULL); /* these two do come back now */
    kill(child, SIGKILL);
    usleep(20000);
    return 0;
}
