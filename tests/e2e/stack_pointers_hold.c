// Pointers in the frames of main, of functions below it and of threads: reachable; with roots= that leave
// stacks and registers out: lost. (LeakSanitizer: use_stacks, use_stacks_threaded.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,tls,user,anon; %leak %t
// JSON: len(procs) == 2
// JSON: verdict("in_main", procs[0]) == {"reachable": (1, 24)} and verdict("in_frame", procs[0]) == {"reachable": (1, 40)} and verdict("in_thread", procs[0]) == {"reachable": (3, 3 * 56)}
// JSON: all(r.path[0]["class"] == "stacks" for f in ("in_main", "in_frame", "in_thread") for r in hits(f, procs[0]))
// JSON: verdict("in_main", procs[1]) == {"lost": (1, 24)} and verdict("in_frame", procs[1]) == {"lost": (1, 40)} and verdict("in_thread", procs[1]) == {"lost": (3, 3 * 56)}

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
TAKE(in_main, 24)
TAKE(in_frame, 40)
TAKE(in_thread, 56)

static void *thread(void *x)
{
    void *volatile local = in_thread();

    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

FAR static void frame(void)
{
    void *volatile local[50] = { 0 };

    local[25] = in_frame();
    exit(!local[25]);
}

int main(void)
{
    void *volatile local = in_main();
    pthread_t t;

    sem_init(&ready, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_create(&t, NULL, thread, NULL);
        sem_wait(&ready);
    }
    usleep(50000);
    frame();
    return !local;
}
