/* looks.c - what looks at a live process cost it: the call, the longest stall, the lost throughput.
 *
 *   looks SHAPE=BLOCKS [NAME=VALUE...]
 *
 *   tree=N        N blocks: half of them nodes with four children each, linked in a random order,
 *                 half what these hold, 16 to 512 bytes without pointers
 *   bush=N        the same, each subtree made before the next, as a parser makes it
 *   list=N        one chain through N blocks of 16 to 64 bytes in a random order: only latency
 *   data=N        N blocks of 1 KiB without pointers, which an array holds
 *   threads=2     that allocate, link, unlink and free all the time, besides; 0: none
 *   linked=20000  blocks that each of them has at a time
 *   lost=100      blocks that nothing holds: so many must be found
 *   looks=5       after a warm-up and a second without, with a tenth of a second between them
 *
 * The leak checks are those of libleak if it is loaded, else of LeakSanitizer, else of valgrind; else
 * there are none, and as much time passes. One line comes out: rss_mb before the first look; call_ms of a look (median),
 * most_ms; lost, of the look that found most, and lost_least (LeakSanitizer tells neither: they are
 * in its log); of the threads the pairs of malloc and free in a second, quiet_pairs without looks
 * and looked_pairs with them; and the longest time between two of one thread's pairs,
 * stall_quiet_ms and stall_ms (median of the longest of each look), stall_most_ms.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/common.h"
#include "libleak.h"

#if defined __has_include && __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_DO_QUICK_LEAK_CHECK
#define VALGRIND_COUNT_LEAK_BLOCKS(a, b, c, d) ((a) = (b) = (c) = (d) = 0)
#endif

extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

enum { TREE, BUSH, LIST, DATA, THREADS, LINKED, LOST, LOOKS, KNOBS };

static struct knob knobs[KNOBS] = {
    [TREE] = {"tree", 0},   [BUSH] = {"bush", 0},       [LIST] = {"list", 0},
    [DATA] = {"data", 0},   [THREADS] = {"threads", 2}, [LINKED] = {"linked", 20000},
    [LOST] = {"lost", 100}, [LOOKS] = {"looks", 5},
};
#define THE(knob) (knobs[knob].value)

#define CHILDREN 4
#define DATA_BYTES 1024
#define LOOKS_MAX 1000
#define SECOND 1000000000ull

/* ---- The heap-------------------------------------------------------------------------------- */

struct node {
    struct node *child[CHILDREN];
    void *held;
};

static void *volatile heap; /* the only root of it */

static void *map(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "looks: no memory\n");
        exit(1);
    }
    return memory;
}

static void shuffle(void **blocks, uint64_t count)
{
    uint64_t state = 42;
    for (uint64_t i = count; i-- > 1;) {
        uint64_t other = random_below(&state, i + 1);
        void *one = blocks[i];
        blocks[i] = blocks[other];
        blocks[other] = one;
    }
}

static void *filled(size_t size)
{
    return memset(malloc(size), 1, size);
}

static void grow_tree(void **blocks, uint64_t count)
{
    uint64_t state = 7;
    for (uint64_t i = 0; i < count; i++) {
        struct node *node = blocks[i] = calloc(1, sizeof *node);
        node->held = filled(16 + random_below(&state, 32) * 16);
    }
    shuffle(blocks, count);
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 1; k <= CHILDREN && CHILDREN * i + k < count; k++)
            ((struct node *)blocks[i])->child[k - 1] = blocks[CHILDREN * i + k];
}

/* So many nodes, itself included. */
static struct node *grow_bush(uint64_t count, uint64_t *state)
{
    struct node *node = calloc(1, sizeof *node);
    node->held = filled(16 + random_below(state, 32) * 16);
    uint64_t left = count - 1;
    for (uint64_t k = CHILDREN; k && left; k--) {
        uint64_t share = (left + k - 1) / k;
        node->child[CHILDREN - k] = grow_bush(share, state);
        left -= share;
    }
    return node;
}

static void grow_list(void **blocks, uint64_t count)
{
    uint64_t state = 7;
    for (uint64_t i = 0; i < count; i++)
        blocks[i] = filled(16 + random_below(&state, 4) * 16);
    shuffle(blocks, count);
    for (uint64_t i = 0; i < count; i++)
        *(void **)blocks[i] = i + 1 < count ? blocks[i + 1] : NULL;
}

static void grow(void)
{
    uint64_t state = 7;
    if (THE(BUSH)) {
        heap = grow_bush(THE(BUSH) / 2, &state);
        return;
    }
    uint64_t count = THE(TREE) ? THE(TREE) / 2 : THE(LIST);
    void **blocks = map((count + 1) * sizeof *blocks);
    if (THE(TREE))
        grow_tree(blocks, count);
    else
        grow_list(blocks, count);
    heap = blocks[0];
    munmap(blocks, (count + 1) * sizeof *blocks);
    if (!THE(DATA))
        return;
    void **array = heap = malloc(THE(DATA) * sizeof *array);
    for (uint64_t i = 0; i < THE(DATA); i++)
        array[i] = filled(DATA_BYTES);
}

static void *volatile behind;

/* Nobody keeps the addresses: not in a variable, not in a register, not on the stack. What comes
 * behind the last of them stays: the head of a free chunk there would stand just behind a lost
 * block, and glibc leaves such addresses in blocks that it gives out again. */
static __attribute__((noinline)) void lose(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        *(volatile char *)malloc(48) = 1;
    behind = malloc(48);
}

static __attribute__((noinline)) void overwrite_stack(void)
{
    volatile char there[16384];
    for (size_t i = 0; i < sizeof there; i++)
        there[i] = 0;
    free(malloc(48));
}

/* ---- The threads----------------------------------------------------------------------------- */

struct item {
    struct item *next;
    uint64_t filler[];
};

struct worker {
    pthread_t thread;
    uint64_t random, pairs; /* pairs: also read by main */
    uint64_t longest;       /* ns between two; main sets it back */
    struct item **lists;
    uint64_t lists_count;
} __attribute__((aligned(128)));

static struct worker workers[THREADS_MAX];
static bool enough;

static struct item *make_item(struct worker *worker, struct item *next)
{
    struct item *item = malloc(sizeof *item + random_below(&worker->random, 16) * 16);
    item->next = next;
    return item;
}

/* Between two lists: a block goes from the front of one, a new one comes behind the first of
 * another, and what follows it changes places with it. */
static void change(struct worker *worker)
{
    struct item **from = &worker->lists[random_below(&worker->random, worker->lists_count)];
    struct item **to = &worker->lists[random_below(&worker->random, worker->lists_count)];
    struct item *gone = *from, *moved;
    if (!gone)
        return;
    *from = gone->next;
    free(gone);
    while (*to && (*to)->next && random_below(&worker->random, 2))
        to = &(*to)->next;
    *to = make_item(worker, *to);
    if ((moved = (*to)->next)) {
        (*to)->next = moved->next;
        moved->next = *to;
        *to = moved;
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t last = clock_ns(CLOCK_MONOTONIC), pairs = 0;
    while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
        change(worker);
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        if (now - last > __atomic_load_n(&worker->longest, __ATOMIC_RELAXED))
            __atomic_store_n(&worker->longest, now - last, __ATOMIC_RELAXED);
        last = now;
        __atomic_store_n(&worker->pairs, ++pairs, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void start_workers(void)
{
    for (uint64_t t = 0; t < THE(THREADS); t++) {
        struct worker *worker = &workers[t];
        worker->random = t + 1;
        worker->lists_count = THE(LINKED) / 8 + 1;
        worker->lists = calloc(worker->lists_count, sizeof *worker->lists);
        for (uint64_t i = 0; i < THE(LINKED); i++) {
            struct item **list = &worker->lists[i % worker->lists_count];
            *list = make_item(worker, *list);
        }
        pthread_create(&worker->thread, NULL, work, worker);
    }
}

static void end_workers(void)
{
    __atomic_store_n(&enough, true, __ATOMIC_RELAXED);
    for (uint64_t t = 0; t < THE(THREADS); t++)
        pthread_join(workers[t].thread, NULL);
}

static uint64_t pairs_so_far(void)
{
    uint64_t sum = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++)
        sum += __atomic_load_n(&workers[t].pairs, __ATOMIC_RELAXED);
    return sum;
}

/* The longest since it was asked last, of all threads, in ms. */
static double take_longest(void)
{
    uint64_t longest = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++) {
        uint64_t its = __atomic_exchange_n(&workers[t].longest, 0, __ATOMIC_RELAXED);
        longest = its > longest ? its : longest;
    }
    return (double)longest / 1e6;
}

/* ---- The looks------------------------------------------------------------------------------- */

/* Lost blocks; -1 when this one does not say. */
static long take_look(void)
{
    if (libleak_present())
        return libleak_snapshot();
    if (__lsan_do_recoverable_leak_check) {
        __lsan_do_recoverable_leak_check();
        return -1;
    }
    if (RUNNING_ON_VALGRIND) {
        unsigned long lost = 0, maybe = 0, held = 0, hidden = 0;
        VALGRIND_DO_QUICK_LEAK_CHECK;
        VALGRIND_COUNT_LEAK_BLOCKS(lost, maybe, held, hidden);
        return (long)(lost + 0 * (maybe + held + hidden));
    }
    usleep(200000);
    return -1;
}

static double resident_mb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

/* Who looks is a child, for LeakSanitizer too, and it is waited for. */
static double cpu_ms(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e6 +
           (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1e3 +
           (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1e3;
}

static double rate(uint64_t pairs, uint64_t ns)
{
    return (double)pairs * 1e9 / (double)ns;
}

static void show_quiet(void)
{
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), pairs = pairs_so_far();
    take_longest();
    usleep(THE(THREADS) ? 1000000 : 0);
    pairs = pairs_so_far() - pairs;
    printf("quiet_pairs=%.0f stall_quiet_ms=%.3f ", rate(pairs, clock_ns(CLOCK_MONOTONIC) - begun),
           take_longest());
}

static void show_looks(void)
{
    static double call[LOOKS_MAX], cpu[LOOKS_MAX], stall[LOOKS_MAX];
    long lost_least = 0, lost = -1;
    uint64_t begun = clock_ns(CLOCK_MONOTONIC), pairs = pairs_so_far();
    for (uint64_t i = 0; i < THE(LOOKS); i++) {
        take_longest();
        cpu[i] = -cpu_ms();
        uint64_t before = clock_ns(CLOCK_MONOTONIC);
        long found = take_look();
        call[i] = (double)(clock_ns(CLOCK_MONOTONIC) - before) / 1e6;
        cpu[i] += cpu_ms();
        usleep(100000); /* whoever was stopped last, too, has come to its next pair */
        stall[i] = take_longest();
        lost = found > lost ? found : lost;
        lost_least = i && lost_least < found ? lost_least : found;
    }
    pairs = pairs_so_far() - pairs;
    printf("looked_pairs=%.0f ", rate(pairs, clock_ns(CLOCK_MONOTONIC) - begun));
    printf("cpu_ms=%.2f ", median(cpu, THE(LOOKS)));
    double middle = median(call, THE(LOOKS)), longest = median(stall, THE(LOOKS));
    printf("call_ms=%.2f most_ms=%.2f stall_ms=%.3f stall_most_ms=%.3f lost=%ld lost_least=%ld\n",
           middle, call[THE(LOOKS) - 1], longest, stall[THE(LOOKS) - 1], lost, lost_least);
}

int main(int argc, char **argv)
{
    if (!knobs_read(knobs, KNOBS, argc, argv))
        return 2;
    if (!THE(LOOKS) || THE(LOOKS) > LOOKS_MAX || THE(THREADS) > THREADS_MAX) {
        fprintf(stderr, "looks: 1 to %d looks, up to %d threads\n", LOOKS_MAX, THREADS_MAX);
        return 2;
    }
    grow();
    lose(THE(LOST));
    overwrite_stack();
    start_workers();
    usleep(THE(THREADS) ? 200000 : 0);
    printf("rss_mb=%.1f ", resident_mb());
    show_quiet();
    show_looks();
    fflush(stdout);
    end_workers();
    _exit(0); /* nobody waits for what is done at an end */
}
