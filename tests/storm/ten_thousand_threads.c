// 10,000 short threads, two sites shared by all: exact counts, a serial for each, no growth of the store with
// dead threads.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t 10000; du -k store | awk '{print "store kB", $1}'
// RUN: %leak %t 100
// EXPECT: store kB [0-9]{1,4}$
// JSON: (of("thread_leak").blocks, of("thread_leak").bytes) == (20000, 20000 * 16)
// JSON: of("thread_freed").blocks == 0 and of("handed_over").blocks == 5000
// JSON: procs[0].totals.allocations - procs[1].totals.allocations >= 9900 * 10
// JSON: of("last_thread").blocks == 1 and any("10001" in str(t) or "the-last" in str(t) for r in hits("last_thread") for t in r.threads)
// JSON: len(hits("thread_leak")) <= 2
// JSON: p.end.value == 0

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR __attribute__((noinline))
static __thread void *volatile sink;
static void *shelf[10001];

FAR void thread_leak(void) { sink = malloc(16); sink = NULL; }
FAR void thread_freed(int n) { while (n--) free(malloc(20)); }
FAR void handed_over(int i) { shelf[i] = malloc(30); }
FAR void last_thread(void) { sink = malloc(40); sink = NULL; }

static void *work(void *arg)
{
    int i = (long)arg;
    char name[16];

    snprintf(name, sizeof name, "w%d", i);
    pthread_setname_np(pthread_self(), name);
    thread_leak(), thread_leak();
    thread_freed(7);
    handed_over(i);
    if (i > 0 && i % 2) {
        free(shelf[i - 1]); /* of an earlier thread, perhaps still NULL */
        shelf[i - 1] = NULL;
    }
    return NULL;
}

static void *last(void *x)
{
    pthread_setname_np(pthread_self(), "the-last");
    last_thread();
    return NULL;
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    pthread_t t[8];

    for (int i = 0; i < n; i += 2) {
        pthread_create(&t[0], NULL, work, (void *)(long)i);
        pthread_join(t[0], NULL);
        pthread_create(&t[1], NULL, work, (void *)(long)(i + 1));
        pthread_join(t[1], NULL);
    }
    pthread_create(t, NULL, last, NULL);
    pthread_join(t[0], NULL);
    return 0;
}
