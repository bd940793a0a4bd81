/* growth.c - grows a heap, and measures the longest single malloc and the memory of the process.
 *
 *   growth [NAME=VALUE...]
 *
 * live=10000000            blocks at the end, of 16 to 128 bytes, all threads together
 * sites=1000 depth=20      call stacks that differ in the innermost frames
 * threads=1                1: only the main thread
 * clock=1                  0: calls are not timed
 *
 * Calls are timed by the CPU clock of the thread, which includes the work of the kernel for it, but
 * no other load; wall_longest_us is wall time. Memory is read from /proc/self/status at the end,
 * before any thread ends; peak_kb is the peak of the resident set.
 */
#include <pthread.h>

#include "bench/common.h"
#include "bench/stacks.h"

enum { LIVE, SITES, DEPTH, THREADS, CLOCK, KNOBS };

static struct knob knobs[KNOBS] = {
    [LIVE] = {"live", 10000000}, [SITES] = {"sites", 1000}, [DEPTH] = {"depth", 20},
    [THREADS] = {"threads", 1},  [CLOCK] = {"clock", 1},
};
#define THE(knob) (knobs[knob].value)

/* A histogram of the times of calls has 16 steps for each power of two. */
#define STEPS_BITS 4
#define STEPS (1u << STEPS_BITS)
#define TIMES (64 * STEPS)

struct worker {
    struct stacks stacks;
    uint64_t random, share, count;
    void **blocks;
    uint64_t longest, wall_longest; /* longest time of a call, in ns */
    uint64_t times[TIMES];
};

static struct worker workers[THREADS_MAX];
static pthread_barrier_t barrier;

static unsigned index_of(uint64_t ns)
{
    unsigned power = 63 - (unsigned)__builtin_clzll(ns | STEPS);
    return power * STEPS + (unsigned)(ns >> (power - STEPS_BITS)) % STEPS;
}

static uint64_t ns_of(unsigned index)
{
    return ((uint64_t)(index % STEPS) + STEPS) << (index / STEPS - STEPS_BITS);
}

static void allocate(void *context)
{
    struct worker *worker = context;
    size_t size = 16 + random_below(&worker->random, 8) * 16;
    void **place = &worker->blocks[worker->count++];
    if (!THE(CLOCK)) {
        *place = malloc(size);
        return;
    }
    uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    *place = malloc(size);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    worker->times[index_of(cpu)]++;
    worker->longest = cpu > worker->longest ? cpu : worker->longest;
    worker->wall_longest = wall > worker->wall_longest ? wall : worker->wall_longest;
}

static void *grow(void *argument)
{
    struct worker *worker = argument;
    worker->blocks = calloc(worker->share, sizeof *worker->blocks);
    stacks_visit(&worker->stacks, allocate, worker, worker->share);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); /* waits until main has read the memory of the process */
    return NULL;
}

/* ---- Printing the results -------------------------------------------------------------------- */

/* Returns the time, rounded up, within which this part of the calls ended. */
static uint64_t quantile(double part)
{
    uint64_t all = 0, below = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++)
        all += workers[t].share;
    for (unsigned i = 0; i < TIMES; i++) {
        for (uint64_t t = 0; t < THE(THREADS); t++)
            below += workers[t].times[i];
        if ((double)below >= part * (double)all)
            return ns_of(i + 1);
    }
    return 0;
}

static void show_times(void)
{
    uint64_t longest = 0, wall_longest = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++) {
        struct worker *worker = &workers[t];
        longest = worker->longest > longest ? worker->longest : longest;
        wall_longest = worker->wall_longest > wall_longest ? worker->wall_longest : wall_longest;
    }
    printf("longest_us=%.1f wall_longest_us=%.1f p99999_us=%.1f ", (double)longest / 1e3,
           (double)wall_longest / 1e3, (double)quantile(0.99999) / 1e3);
}

static void show_memory(void)
{
    static const char *const wanted[][2] = {{"VmHWM:", "peak_kb"},
                                            {"RssAnon:", "anon_kb"},
                                            {"RssFile:", "file_kb"},
                                            {"RssShmem:", "shmem_kb"}};
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (strncmp(line, wanted[i][0], strlen(wanted[i][0])) == 0)
                printf("%s=%lld ", wanted[i][1], atoll(line + strlen(wanted[i][0])));
    printf("\n");
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (!knobs_read(knobs, KNOBS, argc, argv) || THE(THREADS) > THREADS_MAX || !THE(THREADS))
        return 2;
    bool alone = THE(THREADS) == 1;
    pthread_barrier_init(&barrier, NULL, (unsigned)THE(THREADS) + 1);
    for (uint64_t i = 0; i < THE(THREADS); i++) {
        struct worker *worker = &workers[i];
        worker->random = 0x9e3779b97f4a7c15u + i * 7919;
        worker->share = THE(LIVE) / THE(THREADS);
        worker->stacks = (struct stacks){.depth = (unsigned)THE(DEPTH),
                                         .sites = THE(SITES),
                                         .told_apart = THE(SITES),
                                         .random = &worker->random};
        if (!alone && pthread_create(&threads[i], NULL, grow, worker))
            return 1;
    }
    if (alone) {
        workers[0].blocks = calloc(workers[0].share, sizeof *workers[0].blocks);
        stacks_visit(&workers[0].stacks, allocate, &workers[0], workers[0].share);
    } else {
        pthread_barrier_wait(&barrier);
    }
    if (THE(CLOCK))
        show_times();
    show_memory();
    if (!alone)
        pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; !alone && i < THE(THREADS); i++)
        pthread_join(threads[i], NULL);
    return 0;
}
