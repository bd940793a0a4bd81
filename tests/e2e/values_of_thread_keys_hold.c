// Hard case 8: values of pthread keys: of the first 32 and of later ones, in the main thread and
// in another: reachable, by tls; left out by roots=: lost, or under libc's own block
// of late values. (LeakSanitizer: use_tls_pthread_specific_*.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,stacks,registers,user,anon; %leak %t
// JSON: verdict("early_key", procs[0]) == {"reachable": (2, 2 * 24)} and verdict("late_key", procs[0]) == {"reachable": (2, 2 * 40)}
// JSON: all(r.path[0]["class"] == "tls" for f in ("early_key", "late_key") for r in hits(f, procs[0]))
// JSON: verdict("early_key", procs[1]) == {"lost": (2, 2 * 24)} and set(verdict("late_key", procs[1])) <= {"lost", "indirect"}
// JSON: all(r.verdict in ("reachable", "runtime") for r in procs[0].records if r.blocks)

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

TAKE(early_key, 24)
TAKE(late_key, 40)
static pthread_key_t key[500];
static sem_t ready;

FAR static void fill(void)
{
    pthread_setspecific(key[3], early_key());
    pthread_setspecific(key[400], late_key());
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
    for (int i = 0; i < 500; i++)
        pthread_key_create(&key[i], NULL);
    pthread_create(&t, NULL, thread, NULL);
    sem_wait(&ready);
    usleep(50000);
    fill();
    return 0;
}
