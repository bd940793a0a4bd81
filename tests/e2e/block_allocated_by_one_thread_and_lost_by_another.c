// A block that one thread allocates, another holds and drops: lost, with the stack of the first.
// (LeakSanitizer: cross_thread_leak.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("allocates") == {"lost": (1, 40), "reachable": (1, 40)}
// JSON: lost_total == (1, 40)

#include "lib/verdicts.h"
#include <pthread.h>

static void *volatile passed, *volatile global;
TAKE(allocates, 40)

static void *first(void *x)
{
    global = allocates();
    passed = allocates();
    return NULL;
}

static void *second(void *x)
{
    void *volatile local = passed;

    passed = NULL;
    return local ? NULL : x;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, first, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(t, NULL);
    return 0;
}
