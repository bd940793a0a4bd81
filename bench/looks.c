/* looks.c - measures the cost of leak checks for a live process: the call, the longest stall, the
 * lost throughput.
 *
 *   looks SHAPE=BLOCKS [NAME=VALUE...]
 *
 *   tree=N        N blocks: half of them nodes with four children each, linked in a random order,
 *                 half their contents, 16 to 512 bytes without pointers
 *   bush=N        a tree with each subtree allocated before the next, as when a document is read
 *   list=N        one chain through N blocks of 16 to 64 bytes in a random order: only latency
 *   data=N        N blocks of 1 KiB without pointers, in an array
 *   threads=2     additional threads that allocate, link, unlink and free all the time
 *   linked=20000  blocks of each thread at a time
 *   lost=100      lost blocks: each leak check must find as many
 *   looks=5       leak checks, after a warm-up and a second without any, a tenth of a second apart
 *
 * The leak check is made by libleak if it is loaded, else by LeakSanitizer, else by valgrind;
 * without any of them the program sleeps instead. The output is one line:
 *
 *   rss_mb                     before the first leak check
 *   added_mb                   what leak checks added to the peak of the resident memory
 *   cpu_ms                     CPU time of a leak check (median)
 *   call_ms, most_ms           the call (median, maximum)
 *   lost, lost_least           maximum and minimum of the lost blocks found; -1 and 0 with
 *                              LeakSanitizer, whose log has the numbers
 *   quiet_pairs, looked_pairs  pairs of malloc and free a second of all threads, without and with
 *                              leak checks
 *   stall_quiet_ms             the longest time between two pairs of one thread without leak checks
 *   stall_ms, stall_most_ms    the longest time between two pairs during each leak check (median,
 *                              maximum)
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

/* ---- Building the heap ----------------------------------------------------------------------- */

struct node {
    struct node *child[CHILDREN];
    void *held;
};

static void *volatile heap; /* the only root of the heap */

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

/* Allocates a tree with this number of nodes, including its root. */
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

/* Allocates blocks whose addresses are kept nowhere: in no variable, no register, not on the stack.
 * The block after the last one stays allocated. Otherwise the head of a free chunk would be there,
 * at the end of a lost block, and glibc leaves addresses of such heads in memory that it reuses. */
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

/* ---- The threads that allocate --------------------------------------------------------------- */

struct item {
    struct item *next;
    uint64_t filler[];
};

struct worker {
    pthread_t thread;
    uint64_t random, pairs; /* main also reads `pairs` */
    uint64_t longest;       /* longest time between two pairs, in ns; main sets it back to 0 */
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

/* Frees the first item of one list, inserts a new item into another list, and swaps it with the
 * item after it. */
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

/* Returns the longest time between two pairs of one thread since the last call, in ms. */
static double take_longest(void)
{
    uint64_t longest = 0;
    for (uint64_t t = 0; t < THE(THREADS); t++) {
        uint64_t its = __atomic_exchange_n(&workers[t].longest, 0, __ATOMIC_RELAXED);
        longest = its > longest ? its : longest;
    }
    return (double)longest / 1e6;
}

/* ---- Making leak checks ---------------------------------------------------------------------- */

/* Makes a leak check. Returns the number of lost blocks; -1 if the tool does not return it. */
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

/* Resets the peak of this process's memory, by writing 5 to clear_refs. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

/* Returns the largest peak of this process and of its children that made leak checks; each child
 * has all the memory of this process. */
static double peak_mb(void)
{
    struct rusage children;
    char line[256];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld", &peak) == 1)
            break;
    if (file)
        fclose(file);
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(children.ru_maxrss > peak ? children.ru_maxrss : peak) * 1024 / 1e6;
}

/* Returns the CPU time of this process and of its ended children, because libleak and LeakSanitizer
 * make the leak check in a child process. */
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
    double resident = resident_mb();
    forget_peak();
    for (uint64_t i = 0; i < THE(LOOKS); i++) {
        take_longest();
        cpu[i] = -cpu_ms();
        uint64_t before = clock_ns(CLOCK_MONOTONIC);
        long found = take_look();
        call[i] = (double)(clock_ns(CLOCK_MONOTONIC) - before) / 1e6;
        cpu[i] += cpu_ms();
        usleep(100000); /* by now all stopped threads have continued and reached their next pair */
        stall[i] = take_longest();
        lost = found > lost ? found : lost;
        lost_least = i && lost_least < found ? lost_least : found;
    }
    pairs = pairs_so_far() - pairs;
    printf("added_mb=%.1f ", peak_mb() - resident);
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
        fprintf(stderr, "looks: 1 to %d leak checks, up to %d threads\n", LOOKS_MAX, THREADS_MAX);
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
    _exit(0); /* does not run the exit handlers, because they are not measured */
}
