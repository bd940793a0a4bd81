// libleak's handlers of signals that kill (fatal_look) are not seen: actions, masks and pending signals read as the
// program left them, SIG_IGN, handlers, one-shot handlers, sigwait and signalfd work, children inherit defaults, fork
// and vfork children die as they would, a broken pipe kills inside of stdio, and a second signal changes nothing. All
// is as in a run without libleak.
// RUN: (trap '' USR2; %t bare >want; %leak %t >got; s=$?; diff want got && exit $s)
// JSON: verdict("fill")["lost"] == (300000, 300000 * 24) and p.end.how == "exit"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got;
static void *volatile lost;
static void count(int number) { got += number; }

static void show_actions(const char *when)
{
    struct sigaction now;
    printf("%s:", when);
    for (int i = 1; i < 65; i++)
        if (sigaction(i, NULL, &now) == 0 && (now.sa_handler || now.sa_flags & ~0x4000000))
            printf(" %d=%s,%x", i, now.sa_handler == SIG_IGN ? "ignored" : now.sa_handler == SIG_DFL ? "default" : "handled", now.sa_flags);
    putchar('\n');
}
static void show_set(const char *what, sigset_t *set)
{
    printf("%s:", what);
    for (int i = 1; i < 65; i++)
        if (sigismember(set, i) == 1)
            printf(" %d", i);
    putchar('\n');
}

static __attribute__((noinline)) void fill(void)
{
    for (int i = 0; i < 300000; i++)
        lost = malloc(24);
    lost = NULL;
}

static void dies(const char *name, void (*act)(void))
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        act();
        _exit(77);
    }
    waitpid(pid, &status, 0);
    printf("%s: %x\n", name, status & ~0x80);
}

static void by_raise(void) { raise(SIGTERM); }
static void by_raise_later(void) { free(malloc(100)); raise(SIGHUP); }
static void by_abort(void) { abort(); }
static void by_alarm(void) { ualarm(1000, 1000); for (;;) pause(); }
static void by_timer(void) { struct itimerval t = {{0, 1000}, {0, 1000}}; setitimer(ITIMER_PROF, &t, NULL); for (;;) free(malloc(10)); }
static void after_handler(void) { signal(SIGINT, count); raise(SIGINT); signal(SIGINT, SIG_DFL); raise(SIGINT); }
static void one_shot(void) { struct sigaction a = {.sa_handler = count, .sa_flags = SA_RESETHAND}; sigaction(SIGUSR1, &a, NULL); raise(SIGUSR1); raise(SIGUSR1); }
static void ignored(void) { signal(SIGTERM, SIG_IGN); raise(SIGTERM); kill(getpid(), SIGTERM); }
static void unblocked(void)
{
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    free(malloc(5));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
static void *wait_long(void *argument) { sleep(100); return argument; }
static void twice(void) { pthread_t t; fill(); pthread_create(&t, NULL, wait_long, NULL); pthread_kill(t, SIGINT); usleep(3000); kill(getpid(), SIGTERM); for (;;) pause(); }
static void vforked(void)
{
    int status;
    free(malloc(100));
    pid_t pid = vfork();
    if (pid == 0) {
        kill(getpid(), SIGTERM);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    _exit(status & 0x7f);
}
static void pipe_broken(int close_it)
{
    int ends[2];
    pipe(ends), close(ends[0]);
    FILE *stream = fdopen(ends[1], "w");
    fputs("nobody reads this", stream);
    close_it ? fclose(stream) : fflush(stream);
    printf("went on after SIGPIPE\n"), fflush(stdout);
}
static void pipe_broken_in_fflush(void) { pipe_broken(0); }
static void pipe_broken_in_fclose(void) { pipe_broken(1); }

int main(int argc, char **argv)
{
    sigset_t set, old;
    int number = 0;
    struct timespec none = {0, 0};

    show_actions("at the start");
    fflush(stdout);
    system("LD_PRELOAD= grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status");
    printf("killed in system: %x\n", system("kill -TERM $$"));
    printf("signal gives %d\n", signal(SIGTERM, SIG_IGN) == SIG_DFL);
    printf("signal gives %d\n", signal(SIGTERM, SIG_DFL) == SIG_IGN);
    show_actions("again");
    signal(SIGHUP, count), raise(SIGHUP);
    printf("handled %d\n", got);
    signal(SIGHUP, SIG_IGN), raise(SIGHUP), signal(SIGHUP, SIG_DFL);
    sigemptyset(&set), sigaddset(&set, SIGTERM), sigaddset(&set, SIGINT), sigaddset(&set, 40);
    sigprocmask(SIG_BLOCK, &set, &old);
    show_set("were blocked", &old);
    kill(getpid(), SIGTERM), raise(SIGINT), sigqueue(getpid(), 40, (union sigval){.sival_int = 5});
    sigpending(&old), show_set("pending", &old);
    sigprocmask(SIG_SETMASK, NULL, &old), show_set("blocked", &old);
    sigwait(&set, &number), printf("sigwait %d\n", number);
    int fd = signalfd(-1, &set, 0);
    struct signalfd_siginfo info;
    read(fd, &info, sizeof info), printf("signalfd %d\n", info.ssi_signo);
    printf("sigtimedwait %d\n", sigtimedwait(&set, NULL, &none));
    printf("sigtimedwait %d\n", sigtimedwait(&set, NULL, &none));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    dies("raise", by_raise), dies("raise with a heap", by_raise_later), dies("abort", by_abort);
    dies("alarm", by_alarm), dies("timer", by_timer);
    dies("after a handler", after_handler), dies("one shot", one_shot), dies("ignored", ignored), dies("unblocked", unblocked);
    dies("vfork child", vforked), dies("in fflush", pipe_broken_in_fflush), dies("in fclose", pipe_broken_in_fclose);
    dies("twice", twice);
    show_actions("at the end");
    if (argc == 1)
        fill();
    return 0;
}
