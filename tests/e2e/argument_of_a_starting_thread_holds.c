// Hard case 8: blocks whose only pointer is the argument of a thread that was just made, however far it
// has come, are never lost: forty threads, the process ends right after the last pthread_create.
// (LeakSanitizer: leak_check_before_thread_started.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for i in 1 2 3 4 5 6 7 8; do %leak %t || exit; done
// JSON: len(procs) == 8 and all(verdict("argument", q) == {"reachable": (40, 40 * 72)} for q in procs)
// JSON: all(q.summary.lost.blocks == 0 and q.summary.possible.blocks == 0 for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>

TAKE(argument, 72)

static void *thread(void *p)
{
    void *volatile mine = p;

    for (;;)
        pause();
    return mine;
}

int main(void)
{
    pthread_t t;

    for (int i = 0; i < 40; i++)
        pthread_create(&t, NULL, thread, argument());
    return 0;
}
