// max_memory= leaves no room for the state of new threads: their allocations are counted as untracked,
// but what they free of others' is counted as freed, and is no leak.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=max_memory=4500k; %leak %t
// JSON: untracked["NO_MEMORY"] > 0
// JSON: of("blocks").blocks == 0 and of("kept").blocks == 1
// JSON: p.totals.frees >= 1000

#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 1000, THREADS = 50 };
void *volatile sink;
static void *block[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

__attribute__((noinline)) static void kept(void) { sink = malloc(7); }
__attribute__((noinline)) static void blocks(void)
{
    for (int i = 0; i < BLOCKS; i++)
        block[i] = malloc(10);
}
static void *frees(void *x)
{
    static int at;
    pthread_barrier_wait(&all);
    free(malloc(5));
    for (int i = 0; i < BLOCKS;) {
        pthread_mutex_lock(&lock);
        i = at++;
        pthread_mutex_unlock(&lock);
        if (i < BLOCKS)
            free(block[i]);
    }
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    kept();
    blocks();
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, frees, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
