// A thread that has ended and was neither joined nor detached is reported with the stack that created it; not one
// that was joined by any of the four calls, detached by its creator, by itself or from the start, nor one that runs
// to the end of the process. A join that comes too early and fails changes nothing.
// CFLAGS: -O1 -g -fno-optimize-sibling-calls
// JSON: opened() == {"thread": 7} and opened("forgets") == {"thread": 5} and opened("fails_to_join") == {"thread": 2}
// JSON: names("forgets") and all(n.endswith("(worker)") for n in names("forgets"))
// EXPECT: 5 threads ended, neither joined nor detached: T
// RUN: %leak %t && %report store/*.leak

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

static volatile int go;

static void *worker(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    return unused;
}
static void *waits(void *unused)
{
    while (!go)
        usleep(1000);
    return unused;
}
static void *runs(void *unused)
{
    for (;;)
        pause();
}
static void *detaches(void *unused)
{
    pthread_detach(pthread_self());
    return unused;
}

static pthread_t make(void *(*routine)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, routine, NULL);
    return thread;
}

FAR void forgets(void) { pthread_t t; for (int i = 0; i < 5; i++) pthread_create(&t, NULL, worker, NULL); }
FAR int fails_to_join(void)
{
    pthread_t one, other;
    struct timespec past = {1, 0};
    pthread_create(&one, NULL, waits, NULL);
    pthread_create(&other, NULL, waits, NULL);
    return pthread_tryjoin_np(one, NULL) == EBUSY && pthread_timedjoin_np(other, NULL, &past) == ETIMEDOUT;
}

FAR void joined(void)
{
    struct timespec far = {4000000000, 0};
    for (int i = 0; i < 50; i++)
        pthread_join(make(worker), NULL);
    pthread_t thread = make(worker);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        usleep(1000);
    pthread_timedjoin_np(make(worker), NULL, &far);
    pthread_clockjoin_np(make(worker), NULL, CLOCK_MONOTONIC, &far);
}

FAR void detached(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, worker, NULL);
    pthread_attr_destroy(&attributes);
    for (int i = 0; i < 50; i++) {
        pthread_detach(make(worker));
        make(detaches);
    }
}

int main(void)
{
    int good = fails_to_join();
    forgets();
    joined();
    detached();
    make(runs);
    go = 1;
    usleep(200000);
    return !good;
}
