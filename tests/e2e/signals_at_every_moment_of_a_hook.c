// Two timers and another thread's sigqueue and pthread_kill hit a thread that does nothing but allocate
// and free; its handlers allocate, and some leave by longjmp: whatever was finished is counted, nothing
// hangs, no real-time signal is lost or out of order, and no signal stays blocked.
// CFLAGS: -O1 -g -fno-builtin -DJUMP=0
// CFLAGS: -O1 -g -fno-builtin -DJUMP=1
// BUILD: gcc -w -O1 -shared -fPIC -o %d/libbehind.so %S/lib/behind.c
// RUN: env "LD_PRELOAD=%O/libleak.so %d/libbehind.so" "LIBLEAK_OPTIONS=dir=%d/store" %t
// EXPECT: lost 0, out of order 0, blocked at the end 0
// JSON: int(ledger[0][1]) <= sum(r.blocks for r in hits("kept") if r not in hits("in_handler")) <= int(ledger[0][2])
// JSON: int(ledger[1][1]) / 2 <= of("in_handler").blocks + untracked.get("NESTED", 0) <= int(ledger[1][2])
// JSON: sum(r.blocks for r in hits("freed") if r not in hits("in_handler")) <= int(ledger[2][1])
// JSON: int(ledger[3][1]) >= 20000 and int(ledger[1][1]) > 0
// JSON: of("in_thread").blocks == 1000
// JSON: p.end.how == "exit" and p.end.value == 0

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SENT 20000

void *volatile sink;
static volatile int *behind_works; /* of the main thread */
static sigjmp_buf back;
static volatile int armed; /* back is where we came from */
static volatile unsigned begun[2], done[2], jumps, handled;
static volatile int next, out_of_order;
static volatile int storm = 1;

__attribute__((noinline)) void in_handler(void)
{
    begun[1]++;
    sink = malloc(16);
    sink = NULL;
    done[1]++;
}

static void handler(int s, siginfo_t *info, void *context)
{
    if (s == SIGRTMIN + 1) {
        out_of_order += info->si_value.sival_int != next;
        next++;
    }
    handled++;
    if (*behind_works)
        return;
    if (handled % 3 == 0)
        in_handler();
    if (JUMP && armed && handled % 7 == 0) {
        jumps++;
        siglongjmp(back, 1);
    }
}

static void plain_handler(int s)
{
    handler(s, NULL, NULL);
}

static void *sender(void *x)
{
    pthread_t target = *(pthread_t *)x;

    for (int n = 0; n < SENT; n++) {
        union sigval v = { .sival_int = n };
        while (sigqueue(getpid(), SIGRTMIN + 1, v))
            sched_yield();
        if (n % 4 == 0)
            pthread_kill(target, SIGUSR1);
        if (n / 500 % 2) /* bursts and single ones */
            while (next <= n)
                sched_yield();
    }
    return NULL;
}

__attribute__((noinline)) void kept(void)
{
    begun[0]++;
    sink = malloc(10);
    done[0]++;
    sink = NULL;
}
__attribute__((noinline)) void freed(void) { free(malloc(20)); }

static void *in_thread(void *x)
{
    for (int n = 0; n < 1000; n++)
        sink = malloc(1);
    return x;
}

static void install(int s, int flags)
{
    struct sigaction sa = { .sa_flags = flags };

    if (JUMP)
        sigfillset(&sa.sa_mask); /* no handler is jumped over */
    if (flags & SA_SIGINFO)
        sa.sa_sigaction = handler;
    else
        sa.sa_handler = plain_handler;
    sigaction(s, &sa, NULL);
}

int main(void)
{
    stack_t alt = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
    pthread_t t, self = pthread_self();
    sigset_t block, now;
    int blocked = 0;
    FILE *f;

    behind_works = dlsym(RTLD_DEFAULT, "behind_works");
    sigaltstack(&alt, NULL);
    install(SIGALRM, SA_RESTART);
    install(SIGRTMIN, SA_SIGINFO);
    install(SIGRTMIN + 1, SA_SIGINFO);
    install(SIGUSR1, SA_ONSTACK);

    sigemptyset(&block);
    sigaddset(&block, SIGALRM), sigaddset(&block, SIGRTMIN), sigaddset(&block, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &block, NULL); /* the sender takes none of them */
    pthread_create(&t, NULL, sender, &self);
    struct itimerval often = { { 0, 200 }, { 0, 200 } };
    setitimer(ITIMER_REAL, &often, NULL);
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
    struct itimerspec oftener = { { 0, 150000 }, { 0, 150000 } };
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &oftener, NULL);

    if (sigsetjmp(back, 0)) { /* the mask is put right below, as the handlers are over */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
    }
    sigprocmask(SIG_UNBLOCK, &block, NULL);
    armed = 1;
    while (next < SENT) {
        kept();
        for (int n = 0; n < 20; n++)
            freed();
    }
    armed = 0;
    timer_delete(timer);
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_join(t, NULL);
    sigprocmask(SIG_SETMASK, NULL, &now);
    for (int s = 1; s <= SIGRTMAX; s++)
        blocked += sigismember(&now, s) == 1;
    pthread_create(&t, NULL, in_thread, NULL);
    pthread_join(t, NULL);
    dprintf(1, "lost %d, out of order %d, blocked at the end %d\n", SENT - next, out_of_order, blocked);
    dprintf(1, "%u signals, %u of them allocated, %u jumps\n", handled, done[1], jumps);
    f = fopen("ledger", "w");
    fprintf(f, "kept %u %u\nin_handler %u %u\njumps %u\nhandled %u\n", done[0], begun[0], done[1],
            begun[1], jumps, handled);
    fclose(f);
    return 0;
}
