// 1,000 threads alive at the same time, each at work in 50 stacks of its own: exact counts.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t
// JSON: of("work").blocks == 1000 * 50 and of("work").bytes == 1000 * 50 * 32
// JSON: p.end.value == 0

#include "../e2e/lib/sites.h"
#include <pthread.h>

static pthread_barrier_t all;

__attribute__((noinline)) static void *work(void *x)
{
    pthread_barrier_wait(&all);
    for (int i = 0; i < 50; i++) {
        site_next((long)x * 50 + i, 16);
        free(malloc(10));
    }
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void)
{
    static pthread_t t[1000];
    pthread_attr_t a;

    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    pthread_barrier_init(&all, NULL, 1000);
    for (long i = 0; i < 1000; i++)
        if (pthread_create(&t[i], &a, work, (void *)i)) return 1;
    for (int i = 0; i < 1000; i++)
        pthread_join(t[i], NULL);
    return 0;
}
