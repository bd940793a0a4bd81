// Hard case 17: daemon threads push and pop lists, in their stacks and in globals, while main returns and
// exit handlers run: no block of theirs is lost, in whatever state the look meets it.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for i in 1 2 3 4 5; do %leak %t || exit; done
// JSON: len(procs) == 5 and all(q.snapshot.rung == "parked" and q.end.value == 0 for q in procs)
// JSON: all(q.summary[v].blocks == 0 for v in ("lost", "indirect", "possible", "hidden") for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>

static void *volatile shelf[8];

static void *thread(void *which)
{
    void *volatile list = NULL;
    void *volatile *head = (long)which & 1 ? &shelf[(long)which] : &list;

    for (unsigned long n = 0, x = 1 + (long)which;; n++) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        void **p = *head;
        if (x >> 62 || !p) {
            p = malloc(16 + (x >> 57));
            p[0] = *head;
            *head = p;
        } else {
            *head = p[0];
            free(p);
        }
        if (n % 1000 == 0)
            while (*head) {
                p = *head;
                *head = p[0];
                free(p);
            }
    }
}

static void slow(void) { usleep(30000); }

int main(void)
{
    pthread_t t;

    atexit(slow);
    for (long i = 0; i < 8; i++)
        pthread_create(&t, NULL, thread, (void *)i);
    usleep(50000);
    return 0;
}
