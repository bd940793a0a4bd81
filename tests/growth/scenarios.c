/* scenarios.c - twenty-two programs in one: heaps that grow, and heaps that look as if they did.
 *
 *     scenarios NAME [SECONDS]
 *
 * What each has allocated follows from the time that has passed, so a busy machine makes its steps
 * larger and not its growth slower. A scenario allocates in a function of its own name: that is where
 * a report must say "growing", or must not. The list at the end says what it must say; without
 * arguments it is printed. They mostly sleep.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEP_US 20000
#define NODE 1000

static double seconds = 18;
static double began;

static double clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double elapsed(void)
{
    return clock_now() - began;
}

/* One step further; false at the end. */
static bool step(double *t)
{
    usleep(STEP_US);
    *t = elapsed();
    return *t < seconds;
}

struct node {
    struct node *next;
    char bytes[];
};

static struct node *push(struct node **list, struct node *node)
{
    node->next = *list;
    return *list = node;
}

static void clear(struct node **list)
{
    while (*list) {
        struct node *node = *list;
        *list = node->next;
        free(node);
    }
}

/* A function of the scenario's name allocates; it must be a frame of its own. */
#define ALLOCATES(name)                                                                            \
    static __attribute__((noinline)) void *name(size_t size)                                       \
    {                                                                                              \
        char *block = malloc(size);                                                                \
        if (!block)                                                                                \
            exit(3);                                                                               \
        block[0] = 1;                                                                              \
        __asm__ volatile("" : "+r"(block));                                                        \
        return block;                                                                              \
    }

/* ---- Growing --------------------------------------------------------------------------------- */

/* 1 MB/s, and nothing is left in the end. */
ALLOCATES(list_emptied)
static void run_list_emptied(void)
{
    struct node *list = NULL;
    double t = 0;
    for (double n = 0; step(&t);)
        for (; n < t * 1048576 / NODE; n++)
            push(&list, list_emptied(NODE));
    clear(&list);
}

/* Blocks of 64 bytes, 130 KB/s. */
ALLOCATES(small_steps)
static void run_small_steps(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t);)
        for (; n < t * 2000; n++)
            push(&list, small_steps(64));
}

/* Half a megabyte every second and a half. */
ALLOCATES(large_steps)
static void run_large_steps(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t);)
        for (; n < t / 1.5; n++)
            push(&list, large_steps(500000));
}

/* One string, longer by 32 KB ten times a second. */
static __attribute__((noinline)) char *string_builder(char *text, size_t size)
{
    char *longer = realloc(text, size);
    if (!longer)
        exit(3);
    longer[size - 1] = 1;
    return longer;
}
static void run_string_builder(void)
{
    static char *text;
    double t = 0;
    for (size_t n = 0; step(&t);)
        for (; (double)n < t * 10; n++)
            text = string_builder(text, (n + 1) * 32768);
}

/* Four threads, a list each. */
ALLOCATES(threads_lists)
static void *thread_list(void *unused)
{
    struct node **list = calloc(1, sizeof *list);
    double t = 0;
    for (double n = 0; step(&t);)
        for (; n < t * 250000 / NODE; n++)
            push(list, threads_lists(NODE));
    clear(list);
    free(list);
    return unused;
}
static void run_threads_lists(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, thread_list, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* Two seconds of growth, two of rest. */
ALLOCATES(with_pauses)
static void run_with_pauses(void)
{
    static struct node *list;
    double t = 0, active = 0, last = 0;
    for (double n = 0; step(&t); last = t) {
        if ((int)(t / 2) % 2 == 0)
            active += t - last;
        for (; n < active * 1000000 / NODE; n++)
            push(&list, with_pauses(NODE));
    }
}

/* 20 MB at the start, then 300 KB/s from the same place. */
ALLOCATES(after_startup)
static void run_after_startup(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t);)
        for (; n < 20000 + t * 300; n++)
            push(&list, after_startup(NODE));
}

/* 2,000 a second come, 1,000 a second go, the oldest first. */
ALLOCATES(slow_consumer)
static void run_slow_consumer(void)
{
    static void *queue[200000];
    double t = 0;
    for (size_t in = 0, out = 0; step(&t);) {
        for (; (double)in < t * 2000; in++)
            queue[in % 200000] = slow_consumer(512);
        for (; (double)out < t * 1000 && out < in; out++)
            free(queue[out % 200000]);
    }
}

/* Every three seconds the newer half of what has come since is given back. */
ALLOCATES(trimmed_too_little)
static void run_trimmed_too_little(void)
{
    static struct node *list;
    double t = 0;
    int trims = 0, since = 0;
    for (double n = 0; step(&t);) {
        for (; n < t * 2000000 / NODE; n++, since++)
            push(&list, trimmed_too_little(NODE));
        if (t / 3 < trims + 1)
            continue;
        trims++;
        for (since /= 2; since > 0; since--) {
            struct node *node = list;
            list = node->next;
            free(node);
        }
    }
}

/* 20,000 a second, of which one in twenty stays for good. */
ALLOCATES(churn_with_a_leak)
static void run_churn_with_a_leak(void)
{
    static struct node *list;
    double t = 0;
    for (size_t n = 0; step(&t);)
        for (; (double)n < t * 20000; n++) {
            struct node *node = churn_with_a_leak(400);
            if (n % 20 == 0)
                push(&list, node);
            else
                free(node);
        }
}

/* 1 MB/s, and then it takes a quarter as long again to free all of it. */
ALLOCATES(torn_down)
static void run_torn_down(void)
{
    struct node *list = NULL;
    double t = 0, n = 0;
    while (step(&t))
        for (; n < t * 1048576 / NODE; n++)
            push(&list, torn_down(NODE));
    for (double all = n, freed = 0; list;) {
        usleep(STEP_US);
        for (t = elapsed() - seconds; list && freed < all * t * 4 / seconds; freed++) {
            struct node *node = list;
            list = node->next;
            free(node);
        }
    }
}

/* ---- Not growing ------------------------------------------------------------------------------- */

/* 20 MB within six seconds; after that old entries do. */
ALLOCATES(cache_filled)
static void run_cache_filled(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t);) {
        for (; n < t * 3333 && n < 20000; n++)
            push(&list, cache_filled(NODE));
        free(malloc(100)); /* it goes on working */
    }
}

/* Up by 2 MB/s for three seconds, and down to nothing. */
ALLOCATES(saw_tooth)
static void run_saw_tooth(void)
{
    struct node *list = NULL;
    double t = 0;
    int teeth = 0;
    for (double n = 0; step(&t);) {
        for (; n < t * 2000000 / NODE; n++)
            push(&list, saw_tooth(NODE));
        if (t / 3 >= teeth + 1) {
            clear(&list);
            teeth++;
        }
    }
}

/* 100 MB in one go, after four seconds. */
ALLOCATES(single_load)
static void run_single_load(void)
{
    static struct node *list;
    double t = 0;
    while (step(&t)) {
        if (t > 4 && !list)
            for (int i = 0; i < 100; i++)
                push(&list, single_load(1000000));
        free(malloc(100));
    }
    clear(&list);
}

/* 100,000 allocations a second, a thousand alive. */
ALLOCATES(steady_churn)
static void run_steady_churn(void)
{
    static void *ring[1000];
    double t = 0;
    for (size_t n = 0; step(&t);)
        for (; (double)n < t * 100000; n++) {
            free(ring[n % 1000]);
            ring[n % 1000] = steady_churn(100 + n * 7919 % 400);
        }
}

/* 30 MB in the first second, and nothing at all after it. */
ALLOCATES(startup_then_idle)
static void run_startup_then_idle(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t) && t < 1;)
        for (; n < t * 30000; n++)
            push(&list, startup_then_idle(NODE));
    for (; t < seconds; t = elapsed())
        usleep(200000);
}

/* A cache of 5,000 entries of any size; a new one drives the oldest out. */
ALLOCATES(lru_cache)
static void run_lru_cache(void)
{
    static void *entry[5000];
    double t = 0;
    unsigned dice = 1;
    for (size_t n = 0; step(&t);)
        for (; (double)n < t * 3000; n++) {
            dice = dice * 1103515245 + 12345;
            free(entry[n % 5000]);
            entry[n % 5000] = lru_cache(200 + (dice >> 16) % 3000);
        }
}

/* Once a second for half a second up to 8 MB, never the same. */
ALLOCATES(bursts)
static void run_bursts(void)
{
    struct node *list = NULL;
    double t = 0;
    unsigned dice = 7;
    for (int n = 0; step(&t);) {
        if (!list && t > n + 0.5) {
            dice = dice * 1103515245 + 12345;
            for (unsigned i = 0; i < 2000 + (dice >> 16) % 6000; i++)
                push(&list, bursts(NODE));
        } else if (list && t > n + 1) {
            clear(&list);
            n++;
        }
    }
    clear(&list);
}

/* 50 MB for four seconds, once. */
ALLOCATES(came_and_went)
static void run_came_and_went(void)
{
    struct node *list = NULL;
    double t = 0;
    while (step(&t)) {
        if (t > 4 && t < 8 && !list)
            for (int i = 0; i < 50000; i++)
                push(&list, came_and_went(NODE));
        else if (t >= 8)
            clear(&list);
        free(malloc(100));
    }
    clear(&list);
}

/* A queue that is emptied in time, in batches. */
ALLOCATES(queue_in_balance)
static void run_queue_in_balance(void)
{
    static void *queue[100000];
    double t = 0;
    for (size_t in = 0, out = 0; step(&t);) {
        for (; (double)in < t * 2000; in++)
            queue[in % 100000] = queue_in_balance(700);
        if ((int)(t * 10) % 7 == 0)
            for (; out < in; out++)
                free(queue[out % 100000]);
    }
}

/* Nine seconds it reads what it then works through for nine more. */
ALLOCATES(used_up)
static void run_used_up(void)
{
    struct node *list = NULL;
    double t = 0, n = 0, freed = 0, half = 9;
    while (step(&t)) {
        for (; n < (t < half ? t : half) * 1000; n++)
            push(&list, used_up(NODE));
        for (; list && freed < (t - half) * 1000; freed++) {
            struct node *node = list;
            list = node->next;
            free(node);
        }
    }
    clear(&list);
}

/* A table of what was met; less and less is new. */
ALLOCATES(words_learnt)
static void run_words_learnt(void)
{
    static struct node *list;
    double t = 0;
    for (double n = 0; step(&t);) {
        double known = 30000 * t / (t + 1) * t / (t + 1);
        for (; n < (t < 6 ? known : 22041); n++)
            push(&list, words_learnt(300));
        free(malloc(100));
    }
}

/* ---- Which --------------------------------------------------------------------------------------- */

/* S(name, what it may be called; + = it grows) */
#define SCENARIOS(S)                                                                               \
    S(list_emptied, "+growing")                                                                    \
    S(small_steps, "+growing")                                                                     \
    S(large_steps, "+growing")                                                                     \
    S(string_builder, "+growing")                                                                  \
    S(threads_lists, "+growing")                                                                   \
    S(with_pauses, "+growing")                                                                     \
    S(after_startup, "+growing")                                                                   \
    S(slow_consumer, "+slow-consumer")                                                             \
    S(trimmed_too_little, "+growing")                                                              \
    S(churn_with_a_leak, "+growing")                                                               \
    S(torn_down, "+growing")                                                                       \
    S(cache_filled, "plateau")                                                                     \
    S(saw_tooth, "sawtooth")                                                                       \
    S(single_load, "plateau")                                                                      \
    S(steady_churn, "steady,startup")                                                              \
    S(startup_then_idle, "startup")                                                                \
    S(lru_cache, "steady,startup")                                                                 \
    S(bursts, "sawtooth")                                                                          \
    S(came_and_went, "steady")                                                                     \
    S(queue_in_balance, "sawtooth,steady")                                                         \
    S(used_up, "steady,plateau")                                                                   \
    S(words_learnt, "plateau,startup")

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *verdict;
        void (*run)(void);
    } scenarios[] = {
#define S(name, verdict) {#name, verdict, run_##name},
        SCENARIOS(S)
#undef S
    };

    if (argc > 2)
        seconds = atof(argv[2]);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (argc < 2) {
            printf("%s %s\n", scenarios[i].name, scenarios[i].verdict);
        } else if (strcmp(argv[1], scenarios[i].name) == 0) {
            began = clock_now();
            scenarios[i].run();
            return 0;
        }
    }
    return argc > 1;
}
