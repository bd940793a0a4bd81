// Hard case 8: pointers in __thread variables of the program, initialised and not, in the main thread
// and in one that sleeps: reachable, by tls; left out by roots=: lost. (LeakSanitizer: use_tls_static.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,stacks,registers,user,anon; %leak %t
// JSON: len(procs) == 2
// JSON: all(verdict(f, procs[0]) == {"reachable": (2, 2 * n)} for f, n in (("in_data", 24), ("in_zeroed", 40)))
// JSON: all(r.path[0]["class"] == "tls" for f in ("in_data", "in_zeroed") for r in hits(f, procs[0]))
// JSON: all(verdict(f, procs[1]) == {"lost": (2, 2 * n)} for f, n in (("in_data", 24), ("in_zeroed", 40)))

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

TAKE(in_data, 24)
TAKE(in_zeroed, 40)
static __thread void *volatile data = &sink, *volatile zeroed;
static sem_t ready;

FAR static void fill(void)
{
    data = in_data();
    zeroed = in_zeroed();
}

static void *thread(void *x)
{
    fill();
    scrub();
    sem_post(&ready);
    for (;;)
        pause();
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    usleep(50000);
    fill();
    return 0;
}
