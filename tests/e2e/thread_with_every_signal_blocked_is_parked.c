// Hard case 17: threads that block every signal, one asleep, one busy: parked all the same, what
// they hold is reachable, and their mask is what they asked for.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^mask full 62 of 62
// JSON: p.snapshot.rung == "parked" and p.snapshot.threads_parked == 2 and p.snapshot.threads_missed == 0
// JSON: verdict("in_sleeper") == {"reachable": (1, 40)} and verdict("in_busy") == {"reachable": (1, 56)}
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t ready;
static int blocked;
TAKE(in_sleeper, 40)
TAKE(in_busy, 56)

static void *sleeper(void *x)
{
    void *volatile local = in_sleeper();
    sigset_t all, now;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int s = 1; s <= 64; s++)
        blocked += sigismember(&now, s) == 1 && s != SIGKILL && s != SIGSTOP && s != 32 && s != 33;
    blocked += !sigismember(&now, SIGKILL) + !sigismember(&now, SIGSTOP);
    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

static void *busy(void *x)
{
    void *volatile local = in_busy();
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sem_post(&ready);
    for (volatile long i = 0;; i++)
        ;
    return local;
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, sleeper, NULL);
    pthread_create(&t, NULL, busy, NULL);
    sem_wait(&ready), sem_wait(&ready);
    usleep(50000);
    dprintf(1, "mask full %d of 62\n", blocked);
    return 0;
}
