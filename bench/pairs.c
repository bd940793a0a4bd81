/* pairs.c - measures the nanoseconds of a malloc and free, for a stack depth, a number of sites,
 * threads and live blocks.
 *
 *   pairs [NAME=VALUE...]
 *
 * depth=20       frames from the caller of malloc to the one below main (or the thread's start)
 * sites=1        different call stacks, visited in a random order
 * outer=1        they differ in the outermost calls instead of the innermost (stacks.h)
 * live=1000      blocks held meanwhile, all threads together
 * random=0       0: a block is freed at once (a hot pair); 1: a random one of the live blocks is
 *                freed, and a new one takes its place (a random pair)
 * threads=1      1 runs in the main thread, unless spawn=1
 * spawn=0        1: main only waits, as it always does for more threads
 * apart=0        1: each thread has sites of its own; 0: all use the same
 * pairs=2000000  pairs of each thread and batch
 * batches=5      the median batch is shown
 *
 * One line comes out, with the CPU time of one pair (cpu_ns), and the wall time (wall_ns: all
 * pairs of all threads in the time of the slowest).
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "bench/common.h"
#include "bench/stacks.h"

enum { DEPTH, SITES, OUTER, LIVE, RANDOM, THREADS, SPAWN, APART, PAIRS, BATCHES, BATCH_US, KNOBS };

static struct knob knobs[KNOBS] = {
    [DEPTH] = {"depth", 20},    [SITES] = {"sites", 1},       [OUTER] = {"outer", 0},
    [LIVE] = {"live", 1000},    [RANDOM] = {"random", 0},     [THREADS] = {"threads", 1},
    [SPAWN] = {"spawn", 0},     [APART] = {"apart", 0},       [PAIRS] = {"pairs", 2000000},
    [BATCHES] = {"batches", 5}, [BATCH_US] = {"batch_us", 0},
};
#define THE(knob) (knobs[knob].value)
#define BATCHES_MAX 1000

struct worker {
    uint64_t number;
    struct stacks stacks;
    uint64_t random; /* state of random_below() */
    void **live;
    uint64_t live_count;
    uint64_t visit_pairs;        /* pairs that the innermost function makes at each visit */
    uint64_t cpu_ns, begin, end; /* times of the last batch */
};

static struct worker workers[THREADS_MAX];
static uint64_t cores;
static double cpu_ns[BATCHES_MAX], wall_ns[BATCHES_MAX];
static pthread_barrier_t barrier;

/* ---- The innermost functions; only they call malloc ------------------------------------------ */

static inline size_t next_size(struct worker *worker)
{
    return 16 + random_below(&worker->random, 8) * 16;
}

static void pairs_here(void *context)
{
    struct worker *worker = context;
    for (uint64_t left = worker->visit_pairs; left; left--) {
        if (THE(RANDOM)) {
            void **place = &worker->live[random_below(&worker->random, worker->live_count)];
            free(*place);
            *place = malloc(next_size(worker));
        } else {
            void *block = malloc(32);
            __asm__ volatile("" : "+r"(block)); /* otherwise the compiler would remove both calls */
            free(block);
        }
    }
}

static void fill_here(void *context)
{
    struct worker *worker = context;
    worker->live[worker->live_count++] = malloc(next_size(worker));
}

/* ---- What one thread does -------------------------------------------------------------------- */

static void batch(struct worker *worker)
{
    bool one_site = THE(SITES) == 1; /* with one site, all pairs are made in one visit */
    worker->visit_pairs = one_site ? THE(PAIRS) : 1;
    stacks_visit(&worker->stacks, pairs_here, worker, one_site ? 1 : THE(PAIRS));
}

static void measured_batch(struct worker *worker)
{
    worker->begin = clock_ns(CLOCK_MONOTONIC);
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    batch(worker);
    worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    worker->end = clock_ns(CLOCK_MONOTONIC);
}

/* Allocates the thread's share of the live blocks, and runs one batch to warm up. */
static void prepare(struct worker *worker)
{
    uint64_t share = THE(LIVE) / THE(THREADS);
    worker->live = calloc(share, sizeof *worker->live);
    stacks_visit(&worker->stacks, fill_here, worker, share);
    measured_batch(worker);
}

/* Sets the number of pairs of a batch for all threads, from the time of the first thread's
 * warm-up. */
static void size_batches(void)
{
    if (THE(BATCH_US))
        THE(PAIRS) = THE(PAIRS) * THE(BATCH_US) * 1000 / workers[0].cpu_ns + 1;
}

/* Binds a thread to a core of its own, as far as there are enough cores: otherwise the kernel would
 * leave two threads on one core for a while. */
static void stay_on_core(uint64_t number)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all))
        return;
    uint64_t left = number % (uint64_t)CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && left-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* Lets all threads begin at the same time. After a barrier some threads may still sleep; if each
 * has a core of its own, all wait until the last one is awake. */
static void begin_together(uint64_t batch)
{
    static _Atomic uint64_t awake;
    pthread_barrier_wait(&barrier);
    awake++;
    while (THE(THREADS) <= cores && awake < (batch + 1) * THE(THREADS))
        ;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    stay_on_core(worker->number);
    prepare(worker);
    pthread_barrier_wait(&barrier); /* waits until main has set the number of pairs */
    for (uint64_t i = 0; i < THE(BATCHES); i++) {
        begin_together(i);
        measured_batch(worker);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier); /* waits until main has read the clocks */
    }
    return NULL;
}

/* ---- Measuring batches ----------------------------------------------------------------------- */

/* Stores the times of a batch: CPU time of all threads, and wall time from the begin of the first
 * thread to the end of the last. */
static void take_down(uint64_t i)
{
    uint64_t begin = workers[0].begin, end = workers[0].end, cpu = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++) {
        begin = workers[t].begin < begin ? workers[t].begin : begin;
        end = workers[t].end > end ? workers[t].end : end;
        cpu += workers[t].cpu_ns;
    }
    double pairs = (double)(THE(PAIRS) * THE(THREADS));
    cpu_ns[i] = (double)cpu / pairs;
    wall_ns[i] = (double)(end - begin) / pairs;
}

static void run_alone(void)
{
    prepare(&workers[0]);
    size_batches();
    for (uint64_t i = 0; i < THE(BATCHES); i++) {
        measured_batch(&workers[0]);
        take_down(i);
    }
}

static void run_threads(void)
{
    pthread_t threads[THREADS_MAX];
    pthread_barrier_init(&barrier, NULL, (unsigned)THE(THREADS) + 1);
    for (uint64_t t = 0; t < THE(THREADS); t++)
        if (pthread_create(&threads[t], NULL, work, &workers[t]))
            exit(1);
    pthread_barrier_wait(&barrier);
    size_batches();
    for (uint64_t i = 0; i < THE(BATCHES); i++) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        take_down(i);
        pthread_barrier_wait(&barrier);
    }
    for (uint64_t t = 0; t < THE(THREADS); t++)
        pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
    if (!knobs_read(knobs, KNOBS, argc, argv) || THE(THREADS) > THREADS_MAX || !THE(BATCHES) ||
        THE(BATCHES) > BATCHES_MAX || THE(LIVE) < THE(THREADS))
        return 2;
    for (uint64_t i = 0; i < THE(THREADS); i++) {
        struct worker *worker = &workers[i];
        worker->number = i;
        worker->random = 0x9e3779b97f4a7c15u + i * 7919;
        worker->stacks = (struct stacks){
            .depth = (unsigned)THE(DEPTH),
            .first = THE(APART) ? i * THE(SITES) : 0,
            .sites = THE(SITES),
            .told_apart = THE(SITES) * (THE(APART) ? THE(THREADS) : 1),
            .outer = THE(OUTER),
            .random = &worker->random,
        };
    }
    cores = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (THE(THREADS) == 1 && !THE(SPAWN))
        run_alone();
    else
        run_threads();
    double cpu = median(cpu_ns, THE(BATCHES)), wall = median(wall_ns, THE(BATCHES));
    /* the values are sorted, so the first one is the least */
    printf("cpu_ns=%.3f wall_ns=%.3f best_ns=%.3f\n", cpu, wall, wall_ns[0]);
    return 0;
}
