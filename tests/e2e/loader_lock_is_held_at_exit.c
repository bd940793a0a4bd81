// Hard case 17: a thread stays in a callback of dl_iterate_phdr, which holds a lock of the loader, and
// allocates there all the time, when main returns: the look is made, the process ends.
// (LeakSanitizer: libdl_deadlock.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (1, 40)} and verdict("in_callback") == {"reachable": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.end.how == "exit" and p.end.value == 0

#include "lib/verdicts.h"
#include <link.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t inside;
LOSE(dropped, 40)
TAKE(in_callback, 56)

static int callback(struct dl_phdr_info *info, size_t size, void *x)
{
    void *volatile local = in_callback();

    sem_post(&inside);
    for (;;) {
        void *volatile p = malloc(100);
        free(p);
    }
    return !local;
}

static void *thread(void *x)
{
    dl_iterate_phdr(callback, NULL);
    return NULL;
}

int main(void)
{
    pthread_t t;

    sem_init(&inside, 0, 0);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&inside);
    dropped();
    return 0;
}
