// Hard case 2: the stack of a thread that has ended stays mapped for the next one: the words in it hold
// nothing, whether it lies unused or a new thread sleeps near its top, to the last page of a small one.
// CFLAGS: -O0 -g -fno-builtin -DREUSE=0
// CFLAGS: -O2 -g -fno-builtin -DREUSE=0
// CFLAGS: -O0 -g -fno-builtin -DREUSE=1
// CFLAGS: -O2 -g -fno-builtin -DREUSE=1
// CFLAGS: -O2 -g -fno-builtin -DREUSE=0 -DSTACK=28672
// CFLAGS: -O2 -g -fno-builtin -DREUSE=1 -DSTACK=28672
// JSON: verdict("dropped") == {"lost": (3, 3 * 40)}
// JSON: lost_total == (3, 120)

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

// Of a small stack glibc keeps all pages, of others the uppermost ones.
#ifdef STACK
#define DEEPEST 13
#else
#define STACK (1 << 20)
#define DEEPEST 32
#endif

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
    deep(8), deep(12), deep(DEEPEST);
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
    pthread_attr_t attributes;
    pthread_t t;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    sem_init(&ready, 0, 0);
    pthread_create(&t, &attributes, ends, NULL);
    pthread_join(t, NULL);
    if (REUSE) {
        pthread_create(&t, &attributes, sleeps, NULL);
        sem_wait(&ready);
    }
    return 0;
}
