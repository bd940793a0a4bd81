// Under strace -f and under gdb, threads and all: the same verdicts. (LeakSanitizer: strace_test, dies.)
// NEEDS: strace gdb
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: strace -f -o /dev/null %leak %t || exit
// RUN: gdb -q -nx -batch -ex 'handle all nostop noprint pass' -ex 'set exec-wrapper env LD_PRELOAD=%O/libleak.so LIBLEAK_OPTIONS=dir=%d/store' -ex run %t
// EXPECT: exited normally
// JSON: len(procs) == 2 and all(q.snapshot.rung == "parked" and q.snapshot.threads_parked == 2 for q in procs)
// JSON: all(verdict("dropped", q) == {"lost": (1, 40)} and verdict("in_thread", q) == {"reachable": (2, 112)} for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>
#include <semaphore.h>

LOSE(dropped, 40)
TAKE(in_thread, 56)
static sem_t ready;

static void *thread(void *x)
{
    void *volatile local = in_thread();

    sem_post(&ready);
    for (;;)
        pause();
    return local;
}

int main(void)
{
    pthread_t t;

    sem_init(&ready, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, NULL, thread, NULL);
        sem_wait(&ready);
    }
    usleep(50000);
    dropped();
    return 0;
}
