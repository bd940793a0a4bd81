// Hard case 17: four threads start and end others all the time, joined and detached, which take over
// blocks from their makers, free them, and leave no trace: of the forty looks meanwhile none calls
// anything lost, and the last one at exit neither. (LeakSanitizer: high_allocator_contention.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^looks that lost something: 0$
// JSON: all(p.summary[v].blocks == 0 for v in ("lost", "indirect", "possible", "hidden"))
// JSON: p.end.how == "exit" and p.end.value == 0

#include "lib/verdicts.h"
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop;
static atomic_long made;
TAKE(argument, 40)

static void *short_lived(void *p)
{
    void *volatile mine = p, *volatile more[10];

    for (int i = 0; i < 10; i++)
        more[i] = malloc(10 + i);
    for (int i = 0; i < 10; i++)
        free(more[i]);
    free(mine);
    made++;
    return NULL;
}

static void *maker(void *x)
{
    pthread_attr_t detached;
    pthread_t t;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (long i = 0; !stop; i++) {
        void *volatile p = argument();
        if (pthread_create(&t, i & 1 ? &detached : NULL, short_lived, p))
            free(p);
        else if (!(i & 1))
            pthread_join(t, NULL);
    }
    pthread_attr_destroy(&detached);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    int bad = 0;

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, maker, NULL);
    for (int i = 0; i < 40; i++) {
        bad += look() > 0;
        usleep(10000);
    }
    printf("looks that lost something: %d\n", bad);
    if (made < 40)
        puts("no storm");
    return 0;
}
