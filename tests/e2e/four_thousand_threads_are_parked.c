// Hard case 17: 4,000 threads, each with a block in its stack, when main returns: all parked, all blocks
// reachable.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^all started
// JSON: p.snapshot.rung == "parked" and p.snapshot.threads_parked == 4000 and p.snapshot.threads_missed == 0
// JSON: verdict("local_of_thread") == {"reachable": (4000, 4000 * 40)}
// JSON: verdict("dropped") == {"lost": (1, 56)} and lost_total == (1, 56)
// JSON: len(p.threads) >= 4000

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
TAKE(local_of_thread, 40)
LOSE(dropped, 56)

static void *thread(void *x)
{
    void *volatile local = local_of_thread();

    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t t;
    int bad = 0;

    sem_init(&ready, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < 4000; i++)
        bad += pthread_create(&t, &small, thread, NULL) != 0;
    for (int i = bad; i < 4000; i++)
        sem_wait(&ready);
    pthread_attr_destroy(&small);
    dropped();
    if (!bad)
        write(1, "all started\n", 12);
    return bad;
}
