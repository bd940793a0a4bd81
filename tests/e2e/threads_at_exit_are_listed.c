// Threads that still run when the process ends: listed with their names and stacks; ended ones are not.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: sorted(t.name for t in p.threads if t.name.startswith("my ")) == ["my reader", "my worker"]
// JSON: all(any(f.function == "sleeps" for f in t.frames) for t in p.threads if t.name.startswith("my "))
// JSON: p.snapshot.threads_parked == 2 and p.snapshot.threads_missed == 0

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;

FAR static void sleeps(void)
{
    sem_post(&ready);
    for (;;)
        pause();
}

static void *thread(void *name)
{
    pthread_setname_np(pthread_self(), name);
    free(malloc(1));
    if (strcmp(name, "my ended"))
        sleeps();
    return NULL;
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, thread, "my ended");
    pthread_join(t, NULL);
    pthread_create(&t, NULL, thread, "my reader");
    pthread_create(&t, NULL, thread, "my worker");
    sem_wait(&ready), sem_wait(&ready);
    usleep(50000);
    return 0;
}
