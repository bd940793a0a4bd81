// Hard case 29c: threads with every signal blocked, real-time signals through sigfillset, signalfd,
// ppoll, sigwaitinfo, sigqueue up to SIGRTMAX: the results are those of a run without libleak. One
// number is kept for leak checks (snapshot_signal): its handler and its mask bit are the program's as well, but the
// kernel has libleak's handler, and sigwait for it never returns. The same holds for signals that kill.
// RUN: for kept in 62 40; do %t $kept >want; LIBLEAK_OPTIONS=snapshot_signal=$kept:fatal_look=off; %leak %t $kept >got || exit; diff want got || exit 1; done
// JSON: of("worker").blocks == 4
// JSON: p.end.how == "exit" and p.end.value == 0

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

void *volatile sink;
static int hits[65], kept;
/* Their default action is ours (crash=on), which the kernel calls a handler. */
static const unsigned long long killers = 0x400004f8;
static void handler(int s) { hits[s]++; }

static void show(const char *what, const sigset_t *set)
{
    printf("%s:", what);
    for (int s = 1; s <= 64; s++)
        putchar(sigismember(set, s) == 1 ? '1' : '0');
    putchar('\n');
}

static void kernel(const char *what) /* as the kernel has it */
{
    char line[256];
    FILE *f = fopen("/proc/thread-self/status", "r");

    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4))
            printf("%s %.8s%llx\n", what, line,
                   strtoull(line + 8, NULL, 16) & ~(1ull << (kept - 1)) & ~killers);
    fclose(f);
}

static int next(int s) { return s == kept ? s + 1 : s; }

static void *worker(void *x)
{
    sigset_t all, now;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    sink = malloc(20);
    if (x) {
        show("worker", &now);
        kernel("worker");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    sigset_t set, old;
    struct signalfd_siginfo info;
    struct timespec soon = { 2, 0 };
    siginfo_t si;
    pthread_t t;

    kept = atoi(argv[1]);
    kernel("start");
    for (long i = 0; i < 4; i++) {
        pthread_create(&t, NULL, worker, (void *)(i == 0));
        pthread_join(t, NULL);
    }
    for (int s = 1; s <= 64; s++) {
        struct sigaction sa = { .sa_handler = handler }, was;
        int r = sigaction(s, &sa, &was);
        printf("sigaction %d: %d %d\n", s, r, r ? errno : was.sa_handler != SIG_DFL);
    }
    sigfillset(&set);
    printf("mask: %d\n", sigprocmask(SIG_SETMASK, &set, &old));
    show("old", &old);
    sigprocmask(SIG_SETMASK, NULL, &old);
    show("now", &old);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int s = next(SIGRTMIN); s <= SIGRTMAX; s = next(s + 1)) {
        union sigval v = { .sival_int = s };
        sigqueue(getpid(), s, v);
        struct pollfd p = { fd, POLLIN, 0 };
        int ready = poll(&p, 1, 2000);
        memset(&info, 0, sizeof info);
        if (ready == 1)
            read(fd, &info, sizeof info);
        printf("signalfd %d: ready %d, %d %d\n", s, ready, info.ssi_signo, info.ssi_int);
    }
    for (int s = next(SIGRTMIN); s <= SIGRTMAX; s = next(s + 1)) {
        sigset_t one;
        sigemptyset(&one), sigaddset(&one, s);
        kill(getpid(), s);
        int got = sigtimedwait(&one, &si, &soon);
        printf("sigtimedwait %d: %d\n", s, got);
        union sigval v = { .sival_int = s };
        sigqueue(getpid(), s, v);
        got = sigwaitinfo(&one, &si);
        printf("sigwaitinfo %d: %d %d\n", s, got, si.si_value.sival_int);
    }
    for (int s = next(SIGRTMIN); s <= SIGRTMAX; s = next(s + 1)) {
        sigset_t but = set;
        sigdelset(&but, s);
        kill(getpid(), s);
        sigpending(&old);
        printf("pending %d: %d\n", s, sigismember(&old, s));
        int r = ppoll(NULL, 0, &soon, &but);
        printf("ppoll %d: %d %d, handled %d\n", s, r, r < 0 ? errno : 0, hits[s]);
    }
    for (int s = next(SIGRTMIN); s <= SIGRTMAX; s = next(s + 1)) {
        sigset_t but = set;
        sigdelset(&but, s);
        kill(getpid(), s);
        int r = sigsuspend(&but);
        printf("sigsuspend %d: %d %d, handled %d\n", s, r, errno, hits[s]);
    }
    kernel("end");
    return 0;
}
