// Between __lsan_disable and __lsan_enable, nested, in this thread alone: what is allocated is
// not lost but reachable, "ignored"; before, after, and in another thread at the same time: lost.
// (LeakSanitizer: disabler.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("inside") == {"reachable": (4, 4 * 40)} and one("inside").ignored is True
// JSON: verdict("below_inside") == {"reachable": (1, 56)}
// JSON: verdict("outside") == {"lost": (2, 2 * 24)} and verdict("other_thread") == {"lost": (1, 72)}
// JSON: lost_total == (3, 2 * 24 + 72)

#include "lib/verdicts.h"
#include "lib/lsan.h"
#include <pthread.h>

LOSE(outside, 24)
LOSE(other_thread, 72)
TAKE(below_inside, 56)
FAR static void inside(void *holds)
{
    sink = memset(malloc(40), 0, 40);
    *(void **)sink = holds;
    sink = NULL;
}

static void *thread(void *x)
{
    other_thread();
    return NULL;
}

int main(void)
{
    pthread_t t;
    void *volatile below;

    outside();
    below = below_inside();
    LSAN(__lsan_disable());
    inside(below);
    below = NULL;
    LSAN(__lsan_disable());
    inside(NULL);
    LSAN(__lsan_enable());
    inside(NULL);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    inside(NULL);
    LSAN(__lsan_enable());
    outside();
    return 0;
}
