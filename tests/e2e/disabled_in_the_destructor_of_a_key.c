// __lsan_disable in the destructor of a thread key, which runs when the thread is nearly gone: what is
// allocated there is ignored; what a destructor allocates without it is lost; what it frees
// is gone. (LeakSanitizer: disabler_in_tsd_destructor, cleanup_in_tsd_destructor.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("inside") == {"reachable": (1, 40)} and one("inside").ignored is True
// JSON: verdict("outside") == {"lost": (1, 24)}
// JSON: of("cleaned_up").blocks == 0
// JSON: lost_total == (1, 24)

#include "lib/verdicts.h"
#include "lib/lsan.h"
#include <pthread.h>

LOSE(inside, 40)
LOSE(outside, 24)
TAKE(cleaned_up, 56)
static pthread_key_t disables, frees;

static void disabling(void *x)
{
    LSAN(__lsan_disable());
    inside();
    LSAN(__lsan_enable());
    outside();
}

static void *thread(void *x)
{
    pthread_setspecific(disables, x);
    pthread_setspecific(frees, cleaned_up());
    return NULL;
}

int main(void)
{
    pthread_t t;

    pthread_key_create(&disables, disabling);
    pthread_key_create(&frees, free);
    pthread_create(&t, NULL, thread, &t);
    pthread_join(t, NULL);
    return 0;
}
