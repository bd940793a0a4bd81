// What destructors of thread_local objects and of pthread keys allocate and free while a thread ends is
// counted as exactly as everything else, also when the thread is cancelled or leaves by pthread_exit.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t 300; %leak %t 0
// JSON: of("left_by_key").blocks == 300 and of("left_by_thread_local").blocks == 300
// JSON: of("freed_by_key").blocks == 0 and of("freed_by_thread_local").blocks == 0
// JSON: p.totals.live_blocks - procs[1].totals.live_blocks in range(600, 604)
// JSON: p.coverage.unknown_frees == 0

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
static thread_local void *volatile sink;
FAR void left_by_key() { sink = malloc(10); sink = nullptr; }
FAR void left_by_thread_local() { sink = malloc(20); sink = nullptr; }
FAR void *freed_by_key() { return malloc(30); }
FAR void *freed_by_thread_local() { return malloc(40); }
struct Local {
    void *p = freed_by_thread_local();
    ~Local() { free(p); left_by_thread_local(); free(malloc(5)); }
};
static thread_local Local local;
static pthread_key_t key;
static int rounds;

static void at_end(void *p)
{
    free(p);
    free(malloc(6));
    left_by_key();
}

static void *work(void *how)
{
    sink = local.p;
    pthread_setspecific(key, freed_by_key());
    if ((long)how == 1)
        pthread_exit(nullptr);
    if ((long)how == 2)
        for (;;)
            pause();
    return nullptr;
}

int main(int, char **argv)
{
    pthread_t t;

    pthread_key_create(&key, at_end);
    for (long i = 0; i < atoi(argv[1]); i++) {
        pthread_create(&t, nullptr, work, (void *)(i % 3));
        if (i % 3 == 2) {
            usleep(500);
            pthread_cancel(t);
        }
        pthread_join(t, nullptr);
    }
}
