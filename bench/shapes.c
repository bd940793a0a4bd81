/* shapes.c - has programs that allocate in patterns known from the literature on allocators, for
 * bench/run shapes.
 *
 *   shapes SHAPE [NAME=VALUE...]
 *
 * threads=1      do the same work each, without data in common except where the shape says so;
 *                1 runs in the main thread
 * times=1        how often the work is done
 *
 * SHAPE:
 *   tiny         blocks of 8 to 24 bytes from twenty places of one function, a thousand alive
 *   arrays       100,000 blocks of one size are allocated, then freed in order, again and again
 *   mixed        8 bytes to 64 KiB, each free of a random one of 10,000
 *   server       random replacements in an array that each thread hands to a new thread (larson)
 *   handover     one half of the threads allocates, the other frees; one thread alone takes turns
 *   recursion    a block at each of 300 levels, freed on the way back
 *   sites        a thousand places at random, twenty frames deep
 *   contexts     a walk through a tree of calls: nearly each allocation has a stack of its own
 *   strings      texts that grow by realloc, are copied and dropped
 *   trees        binary trees are built and freed node by node
 *
 * One line comes out: a number that depends on the work done, the same in each run.
 */
#include <pthread.h>
#include <sched.h>

#include "bench/common.h"
#include "bench/stacks.h"

enum { THREADS, TIMES, KNOBS };
static struct knob knobs[KNOBS] = {[THREADS] = {"threads", 1}, [TIMES] = {"times", 1}};
#define THE(knob) (knobs[knob].value)

struct worker {
    unsigned number;
    uint64_t random; /* state of random_below() */
    uint64_t sum;    /* sum of the sizes that were allocated */
    void **held;     /* for "server": the array that each thread passes to the next */
    unsigned rounds;
};

#define NOINLINE __attribute__((noinline))

static inline void *take(struct worker *worker, size_t size)
{
    char *block = malloc(size);
    if (!block)
        abort();
    block[0] = (char)size;
    worker->sum += size;
    return block;
}

/* ---- tiny ------------------------------------------------------------------------------------ */

#define TINY_HELD 1000

#define TINY_PLACE(n)                                                                              \
    case n:                                                                                        \
        block = take(worker, 8 + n % 3 * 8);                                                       \
        break;
#define TINY_PLACES(n) TINY_PLACE(n) TINY_PLACE(n + 1) TINY_PLACE(n + 2) TINY_PLACE(n + 3)

static NOINLINE void tiny_step(struct worker *worker, void **held)
{
    void **place = &held[random_below(&worker->random, TINY_HELD)], *block = NULL;
    switch (random_below(&worker->random, 20)) {
        TINY_PLACES(0) TINY_PLACES(4) TINY_PLACES(8) TINY_PLACES(12) TINY_PLACES(16)
    }
    free(*place);
    *place = block;
}

static void tiny(struct worker *worker)
{
    void *held[TINY_HELD] = {NULL};
    for (unsigned i = 0; i < 3000000; i++)
        tiny_step(worker, held);
    for (unsigned i = 0; i < TINY_HELD; i++)
        free(held[i]);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

#define ARRAY 100000

static void arrays(struct worker *worker)
{
    void **held = take(worker, ARRAY * sizeof *held);
    for (unsigned round = 0; round < 24; round++) {
        for (unsigned i = 0; i < ARRAY; i++)
            held[i] = take(worker, 40);
        for (unsigned i = 0; i < ARRAY; i++)
            free(held[i]);
    }
    free(held);
}

/* ---- mixed ----------------------------------------------------------------------------------- */

#define MIXED_HELD 10000

static void mixed(struct worker *worker)
{
    void **held = calloc(MIXED_HELD, sizeof *held);
    for (unsigned i = 0; i < 1500000; i++) {
        void **place = &held[random_below(&worker->random, MIXED_HELD)];
        free(*place);
        uint64_t most = 16ull << random_below(&worker->random, 13); /* 16 B to 64 KiB */
        *place = take(worker, most / 2 + random_below(&worker->random, most / 2));
    }
    for (unsigned i = 0; i < MIXED_HELD; i++)
        free(held[i]);
    free(held);
}

/* ---- server ---------------------------------------------------------------------------------- */

#define SERVER_HELD 5000
#define SERVER_ROUNDS 20

static NOINLINE void serve_round(struct worker *worker)
{
    for (unsigned i = 0; i < 50000; i++) {
        void **place = &worker->held[random_below(&worker->random, SERVER_HELD)];
        free(*place);
        *place = take(worker, 10 + random_below(&worker->random, 500));
    }
}

/* Does one round, then starts a thread that does the next round. */
static void *serve(void *context)
{
    struct worker *worker = context;
    pthread_t next;
    serve_round(worker);
    if (--worker->rounds && pthread_create(&next, NULL, serve, worker) == 0)
        pthread_join(next, NULL);
    return NULL;
}

static void server(struct worker *worker)
{
    worker->held = calloc(SERVER_HELD, sizeof *worker->held);
    worker->rounds = SERVER_ROUNDS;
    serve(worker);
    for (unsigned i = 0; i < SERVER_HELD; i++)
        free(worker->held[i]);
    free(worker->held);
}

/* ---- handover -------------------------------------------------------------------------------- */

#define LANE 256
#define HANDOVERS 1500000

/* A queue of blocks from one thread to another: one thread adds at head, the other removes at
 * tail. */
struct lane {
    uint64_t head __attribute__((aligned(64)));
    uint64_t tail __attribute__((aligned(64)));
    void *block[LANE] __attribute__((aligned(64)));
};
static struct lane lanes[THREADS_MAX / 2 + 1];

static void hand_over(struct lane *lane, void *block)
{
    while (lane->head - __atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE) == LANE)
        sched_yield();
    lane->block[lane->head % LANE] = block;
    __atomic_store_n(&lane->head, lane->head + 1, __ATOMIC_RELEASE);
}

static void *receive(struct lane *lane)
{
    while (__atomic_load_n(&lane->head, __ATOMIC_ACQUIRE) == lane->tail)
        sched_yield();
    void *block = lane->block[lane->tail % LANE];
    __atomic_store_n(&lane->tail, lane->tail + 1, __ATOMIC_RELEASE);
    return block;
}

static void handover(struct worker *worker)
{
    struct lane *lane = &lanes[worker->number / 2];
    bool gives = worker->number % 2 == 0, alone = gives && worker->number + 1 == THE(THREADS);
    for (unsigned i = 0; i < HANDOVERS; i++) {
        if (gives)
            hand_over(lane, take(worker, 16 + random_below(&worker->random, 200)));
        if (!gives || (alone && i >= LANE / 2))
            free(receive(lane));
    }
    for (unsigned i = 0; alone && i < LANE / 2; i++)
        free(receive(lane));
}

/* ---- recursion, sites, contexts -------------------------------------------------------------- */

static NOINLINE uint64_t descend(struct worker *worker, unsigned levels)
{
    char *block = take(worker, 32 + levels % 64);
    uint64_t below = levels ? descend(worker, levels - 1) : 0;
    below += (unsigned char)block[0];
    free(block);
    return below;
}

static void recursion(struct worker *worker)
{
    for (unsigned i = 0; i < 2000; i++)
        worker->sum += descend(worker, 300);
}

#define SITES_HELD 2000

static void sites_step(void *context)
{
    struct worker *worker = context;
    void **place = &worker->held[random_below(&worker->random, SITES_HELD)];
    free(*place);
    *place = take(worker, 16 + random_below(&worker->random, 100));
}

static void sites(struct worker *worker)
{
    struct stacks stacks = {
        .depth = 20, .sites = 1000, .told_apart = 1000, .random = &worker->random};
    worker->held = calloc(SITES_HELD, sizeof *worker->held);
    stacks_visit(&stacks, sites_step, worker, 1000000);
    for (unsigned i = 0; i < SITES_HELD; i++)
        free(worker->held[i]);
    free(worker->held);
}

static NOINLINE uint64_t wander(struct worker *worker, unsigned levels)
{
    char *block = take(worker, 24 + levels);
    uint64_t sum = (unsigned char)block[0];
    if (levels) {
        sum += wander(worker, levels - 1);
        __asm__ volatile("" ::: "memory");
        sum += wander(worker, levels - 1);
    }
    free(block);
    return sum;
}

static void contexts(struct worker *worker)
{
    worker->sum += wander(worker, 17);
}

/* ---- strings, trees -------------------------------------------------------------------------- */

#define STRINGS 1000

static NOINLINE char *append(struct worker *worker, char *text, size_t *length, size_t more)
{
    char *grown = realloc(text, *length + more + 1);
    if (!grown)
        abort();
    memset(grown + *length, 'x', more);
    *length += more;
    grown[*length] = 0;
    worker->sum += more;
    return grown;
}

static void strings(struct worker *worker)
{
    char *held[STRINGS] = {NULL};
    for (unsigned i = 0; i < 250000; i++) {
        char *text = NULL;
        size_t length = 0;
        for (uint64_t parts = 1 + random_below(&worker->random, 6); parts; parts--)
            text = append(worker, text, &length, 1 + random_below(&worker->random, 30));
        char **place = &held[random_below(&worker->random, STRINGS)];
        free(*place);
        *place = strdup(text);
        free(text);
    }
    for (unsigned i = 0; i < STRINGS; i++)
        free(held[i]);
}

struct tree {
    struct tree *left, *right;
};

static NOINLINE struct tree *grow_tree(struct worker *worker, unsigned height)
{
    struct tree *tree = take(worker, sizeof *tree);
    tree->left = height ? grow_tree(worker, height - 1) : NULL;
    tree->right = height ? grow_tree(worker, height - 1) : NULL;
    return tree;
}

static NOINLINE void fell_tree(struct tree *tree)
{
    if (!tree)
        return;
    fell_tree(tree->left);
    fell_tree(tree->right);
    free(tree);
}

static void trees(struct worker *worker)
{
    for (unsigned height = 4; height <= 16; height += 2)
        for (unsigned n = 1u << (18 - height); n; n--)
            fell_tree(grow_tree(worker, height));
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*work)(struct worker *worker);
} shapes[] = {{"tiny", tiny},     {"arrays", arrays},     {"mixed", mixed},
              {"server", server}, {"handover", handover}, {"recursion", recursion},
              {"sites", sites},   {"contexts", contexts}, {"strings", strings},
              {"trees", trees}};

static void (*the_work)(struct worker *worker);
static struct worker workers[THREADS_MAX];

static void *work(void *context)
{
    for (uint64_t times = THE(TIMES); times; times--)
        the_work(context);
    return NULL;
}

static int run_workers(void)
{
    pthread_t threads[THREADS_MAX];
    uint64_t count = THE(THREADS), sum = 0;
    for (unsigned i = 0; i < count; i++)
        workers[i] = (struct worker){.number = i, .random = 88172645463325252ull + i};
    if (count == 1)
        work(&workers[0]);
    for (unsigned i = 0; i < count && count > 1; i++)
        if (pthread_create(&threads[i], NULL, work, &workers[i]))
            return 2;
    for (unsigned i = 0; i < count; i++) {
        if (count > 1)
            pthread_join(threads[i], NULL);
        sum += workers[i].sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; argc > 1 && i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i].name, argv[1]) == 0)
            the_work = shapes[i].work;
    if (!the_work) {
        fprintf(stderr, "shapes: which shape? (bench/shapes.c lists them)\n");
        return 2;
    }
    if (!knobs_read(knobs, KNOBS, argc - 1, argv + 1))
        return 2;
    if (!THE(THREADS) || THE(THREADS) > THREADS_MAX) {
        fprintf(stderr, "shapes: 1 to %d threads\n", THREADS_MAX);
        return 2;
    }
    return run_workers();
}
