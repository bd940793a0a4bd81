// Hard case 8: a __thread variable of a library loaded later, in a block of a mebibyte that the loader
// allocates for each thread: what it points to is reachable, by tls, and the block itself is
// never reported, whatever the thread does. (LeakSanitizer: use_tls_dynamic.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: cc -O1 -g -shared -fPIC -o %d/tls.so %S/lib/tls_plugin.c
// RUN: %leak %t %d/tls.so
// JSON: verdict("take") == {"reachable": (4, 4 * 40)}
// JSON: all(r.path[0]["class"] == "tls" for r in hits("take"))
// JSON: all(r.verdict in ("reachable", "runtime") for r in p.records if r.blocks)
// JSON: lost_total == (0, 0) and p.summary.possible.blocks == 0 and p.summary.hidden.blocks == 0

#include "lib/verdicts.h"
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

TAKE(take, 40)
static void (*keep)(void *);
static sem_t ready;

static void *thread(void *x)
{
    keep(take());
    scrub();
    sem_post(&ready);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    void *h = dlopen(argv[1], RTLD_NOW);
    pthread_t t;

    if (!h)
        return puts(dlerror());
    keep = (void (*)(void *))dlsym(h, "tls_keep");
    sem_init(&ready, 0, 0);
    keep(take());
    for (int i = 0; i < 3; i++) {
        pthread_create(&t, NULL, thread, NULL);
        sem_wait(&ready);
    }
    usleep(50000);
    return 0;
}
