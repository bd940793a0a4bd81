// Blocks allocated while libleak is disabled, in one thread or in all, are no leak; blocks from before and after are.
// JSON: p.summary.lost.bytes == 10 + 100 + 1000 and p.summary.lost.blocks == 3
// JSON: p.summary.reachable.bytes >= 20 + 300 + 3000 and p.summary.unfreed.blocks == 0

#include "../../include/libleak.h"

#include <pthread.h>
#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void lose(size_t size)
{
    sink = malloc(size);
    sink = NULL;
}

static void *other_thread(void *nested)
{
    libleak_enable(); /* not this thread's to undo */
    lose(300);
    libleak_enable_all();
    return nested;
}

int main(void)
{
    pthread_t thread;
    lose(10);
    libleak_disable();
    libleak_disable();
    lose(20);
    libleak_enable();
    lose(3000);
    libleak_enable();
    lose(100);
    libleak_disable_all();
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    lose(1000);
    return 0;
}
