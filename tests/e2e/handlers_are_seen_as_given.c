// sigaction and its like return the handlers that the program installed: every way to install one,
// flags, masks, the one call of SA_RESETHAND, siginterrupt, system, fork and vfork children, more
// handlers than there are trampolines, wrong calls. The results are those of a run without libleak.
// RUN: %t >want; %leak %t >got; s=$?; diff want got && exit $s
// JSON: of("in_handler").blocks >= 300
// JSON: p.end.how == "exit" and p.end.value == 0

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLERS 300 /* there are 256 doors */

sighandler_t bsd_signal(int, sighandler_t);
sighandler_t ssignal(int, sighandler_t);
sighandler_t sysv_signal(int, sighandler_t);
sighandler_t __sysv_signal(int, sighandler_t);
int __sigaction(int, const struct sigaction *, struct sigaction *);

void *volatile sink;
static int hits, last, carried;

__attribute__((noinline)) void in_handler(void) { sink = malloc(16); sink = NULL; }

static void one(int s) { hits++; last = s; in_handler(); }
static void two(int s) { hits += 100; last = s; }
static void info(int s, siginfo_t *i, void *context) { hits++; last = s; carried = i->si_value.sival_int; in_handler(); }

static int which;
#define H(a, b, c) static void h##a##b##c(int s) { which = a * 100 + b * 10 + c; in_handler(); }
#define H10(a, b) H(a, b, 0) H(a, b, 1) H(a, b, 2) H(a, b, 3) H(a, b, 4) H(a, b, 5) H(a, b, 6) H(a, b, 7) H(a, b, 8) H(a, b, 9)
#define H100(a) H10(a, 0) H10(a, 1) H10(a, 2) H10(a, 3) H10(a, 4) H10(a, 5) H10(a, 6) H10(a, 7) H10(a, 8) H10(a, 9)
H100(0) H100(1) H100(2)
#undef H
#define H(a, b, c) h##a##b##c,
static const sighandler_t many[HANDLERS] = { H100(0) H100(1) H100(2) };

static const char *name(sighandler_t h)
{
    static char text[16];

    for (int i = 0; i < HANDLERS; i++)
        if (h == many[i]) {
            sprintf(text, "h%d", i);
            return text;
        }
    return h == SIG_DFL ? "SIG_DFL" : h == SIG_IGN ? "SIG_IGN" : h == SIG_HOLD ? "SIG_HOLD"
         : h == SIG_ERR ? "SIG_ERR" : h == one ? "one" : h == two ? "two"
         : h == (sighandler_t)info ? "info" : "somebody else";
}

static void show(const char *what, int s)
{
    struct sigaction now;
    int blocked = 0;

    sigaction(s, NULL, &now);
    for (int n = 1; n <= 64; n++)
        blocked += sigismember(&now.sa_mask, n) == 1;
    printf("%s: %s, flags %#x, %d blocked, %d hits, last %d\n", what, name(now.sa_handler),
           (unsigned)now.sa_flags, blocked, hits, last);
}

static const struct {
    const char *name;
    sighandler_t (*call)(int, sighandler_t);
} olds[] = { { "signal", signal }, { "ssignal", ssignal }, { "bsd_signal", bsd_signal },
             { "sysv_signal", sysv_signal }, { "__sysv_signal", __sysv_signal }, { "sigset", sigset } };

static void older_calls(void)
{
    for (int i = 0; i < sizeof olds / sizeof *olds; i++) {
        printf("%s: had %s\n", olds[i].name, name(olds[i].call(SIGUSR1, one)));
        show(olds[i].name, SIGUSR1);
        raise(SIGUSR1);
        show("raised", SIGUSR1);
        printf("then %s\n", name(olds[i].call(SIGUSR1, two)));
        siginterrupt(SIGUSR1, 1);
        show("interrupts", SIGUSR1);
        raise(SIGUSR1);
        siginterrupt(SIGUSR1, 0);
        show("does not", SIGUSR1);
        printf("then %s\n", name(olds[i].call(SIGUSR1, SIG_IGN)));
        raise(SIGUSR1);
        printf("then %s\n", name(olds[i].call(SIGUSR1, SIG_DFL)));
        errno = 0;
        printf("mistakes: %s %s %s", name(olds[i].call(0, one)), name(olds[i].call(65, one)),
               name(olds[i].call(SIGKILL, one)));
        printf(" %s, %d\n", name(olds[i].call(SIGUSR1, SIG_ERR)), errno);
    }
    printf("hold: %s\n", name(sigset(SIGUSR1, SIG_HOLD)));
    raise(SIGUSR1);
    show("held", SIGUSR1);
    printf("was: %s\n", name(sigset(SIGUSR1, one)));
    show("released", SIGUSR1);
    sighold(SIGUSR1), raise(SIGUSR1);
    show("held", SIGUSR1);
    sigrelse(SIGUSR1);
    show("released", SIGUSR1);
    sigignore(SIGUSR1);
    show("ignored", SIGUSR1);
}

static void actions(int (*act)(int, const struct sigaction *, struct sigaction *), int flags)
{
    struct sigaction sa, was;
    int s = flags & SA_SIGINFO ? SIGRTMIN + 1 : SIGUSR2;
    union sigval v = { .sival_int = 42 };

    memset(&sa, 0, sizeof sa);
    sa.sa_flags = flags;
    sigaddset(&sa.sa_mask, SIGHUP), sigaddset(&sa.sa_mask, SIGINT);
    if (flags & SA_SIGINFO)
        sa.sa_sigaction = info;
    else
        sa.sa_handler = one;
    printf("%d", act(s, &sa, &was));
    printf(" %s %#x\n", name(was.sa_handler), (unsigned)was.sa_flags);
    show("set", s);
    carried = 0;
    sigqueue(getpid(), s, v);
    show("raised", s);
    printf("carried %d\n", carried);
    sa.sa_handler = two;
    sa.sa_flags &= ~SA_SIGINFO;
    printf("%d", act(s, &sa, &sa)); /* the answer over the question */
    printf(" %s %#x\n", name(sa.sa_handler), (unsigned)sa.sa_flags);
    printf("%d", act(s, &sa, NULL));
    show(" back", s);
    printf("%d %d %d %d\n", act(s, NULL, NULL), act(0, &sa, NULL), act(SIGSTOP, &sa, NULL), errno);
    sa.sa_handler = SIG_DFL;
    act(s, &sa, NULL);
}

static void children(void)
{
    pid_t pid;

    signal(SIGINT, one), signal(SIGUSR1, one);
    printf("system %d\n", system("exit 3"));
    show("after system", SIGINT);
    fflush(stdout);
    if (!(pid = fork())) {
        show("in the child", SIGUSR1);
        signal(SIGUSR1, two);
        raise(SIGUSR1);
        show("its own", SIGUSR1);
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    if (!(pid = vfork())) {
        signal(SIGUSR1, two);
        signal(SIGUSR2, two);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    show("the parent's", SIGUSR1);
    show("the parent's", SIGUSR2);
    raise(SIGUSR1);
    show("raised", SIGUSR1);
}

static sigjmp_buf back;
static void crash(int s) { siglongjmp(back, s); }

static void faults(void)
{
    volatile int *nowhere = NULL;
    int s;

    printf("fault: had %s\n", name(signal(SIGSEGV, crash)));
    if (!(s = sigsetjmp(back, 1)))
        *nowhere = 1;
    printf("fault %d\n", s);
    printf("fault: had %s\n", signal(SIGSEGV, SIG_DFL) == crash ? "crash" : "somebody else");
}

int main(void)
{
    static const int flags[] = { 0, SA_RESTART, SA_SIGINFO, SA_RESETHAND, SA_RESETHAND | SA_SIGINFO,
                                 SA_NODEFER | SA_SIGINFO, SA_ONSTACK | SA_NODEFER, SA_RESETHAND | SA_NODEFER };

    older_calls();
    for (int i = 0; i < sizeof flags / sizeof *flags; i++) {
        actions(sigaction, flags[i]);
        actions(__sigaction, flags[i]);
    }
    children();
    faults();
    for (int i = 0; i < HANDLERS; i++) {
        printf("%s ", name(signal(SIGUSR2, many[i])));
        raise(SIGUSR2);
        printf("%d\n", which);
    }
    return 0;
}
