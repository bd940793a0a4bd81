// Hard case 2: a thread went deep, dropped the pointer there and sleeps near the top of its stack: what
// is left below its stack pointer holds nothing, to the last page of a small stack.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -DSTACK=49152
// JSON: verdict("dropped") == {"lost": (1, 40)}
// JSON: verdict("held") == {"reachable": (1, 24)} and root("held").cls == "stacks"
// JSON: p.snapshot.threads_parked == 1

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

#ifndef STACK
#define STACK (1 << 20)
#endif

static sem_t ready;
TAKE(dropped, 40)
TAKE(held, 24)

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

static void *thread(void *x)
{
    void *volatile local = held();

    deep(STACK < 1 << 20 ? 32 : 16);
    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_create(&t, &attributes, thread, NULL);
    sem_wait(&ready);
    usleep(50000);
    return 0;
}
