// Hard case 2: the stack of a thread that has ended stays mapped for the next one: the words in it hold
// nothing, whether it lies unused or a new thread sleeps near its top.
// CFLAGS: -O0 -g -fno-builtin -DREUSE=0
// CFLAGS: -O2 -g -fno-builtin -DREUSE=0
// CFLAGS: -O0 -g -fno-builtin -DREUSE=1
// CFLAGS: -O2 -g -fno-builtin -DREUSE=1
// JSON: verdict("dropped") == {"lost": (3, 3 * 40)}
// JSON: lost_total == (3, 120)

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
TAKE(dropped, 40)

FAR static void deep(int n)
{
    volatile char room[1024];
    void *volatile word;

    room[n] = 0;
    if (n)
        deep(n - 1);
    else
        word = dropped();
    room[n] = 1;
}

static void *ends(void *x)
{
    deep(8), deep(16), deep(32);
    return NULL;
}

static void *sleeps(void *x)
{
    sem_post(&ready);
    for (;;)
        pause();
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, ends, NULL);
    pthread_join(t, NULL);
    if (REUSE) {
        pthread_create(&t, NULL, sleeps, NULL);
        sem_wait(&ready);
    }
    return 0;
}
