// A thread that allocates in one place touches a few pages of its own state and counters, not all that it may need
// later: at most 44 KiB with its stack. Threads that come and go leave their 64-byte records, and the runs of their
// allocations until these are swept.
// CFLAGS: -O1 -g -pthread
// RUN: %leak %t
// EXPECT: ^a live thread takes little$
// EXPECT: ^ended threads leave little$
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIVE 600
#define ENDED 6000

static pthread_barrier_t all_live, measured;

static long resident(void)
{
    long size, pages;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld %ld", &size, &pages) != 2)
        exit(2);
    fclose(statm);
    return pages * sysconf(_SC_PAGESIZE);
}

static void *allocate(void *wait)
{
    void *volatile block = malloc(100);
    free(block);
    if (wait) {
        pthread_barrier_wait(&all_live);
        pthread_barrier_wait(&measured);
    }
    return NULL;
}

static void start(pthread_t *thread, void *wait)
{
    if (pthread_create(thread, NULL, allocate, wait))
        exit(2);
}

static void say(const char *what, long bytes, long most)
{
    if (bytes <= most)
        printf("%s little\n", what);
    else
        printf("%s %ld bytes\n", what, bytes);
}

static void come_and_go(void)
{
    for (int i = 0; i < ENDED; i++) {
        pthread_t thread;
        start(&thread, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    static pthread_t threads[LIVE];
    pthread_barrier_init(&all_live, NULL, LIVE + 1);
    pthread_barrier_init(&measured, NULL, LIVE + 1);
    long before = resident();
    for (int i = 0; i < LIVE; i++)
        start(&threads[i], threads);
    pthread_barrier_wait(&all_live);
    say("a live thread takes", (resident() - before) / LIVE, 44 << 10);
    pthread_barrier_wait(&measured);
    for (int i = 0; i < LIVE; i++)
        pthread_join(threads[i], NULL);

    come_and_go(); // what the first ones touch, the others use again
    before = resident();
    come_and_go();
    say("ended threads leave", resident() - before, ENDED * 64 + (384 << 10));
    return 0;
}
