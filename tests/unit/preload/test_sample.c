/* test_sample.c - chance is what it should be, weights add up, and the filter never forgets.
 *
 * Numbers drawn by chance are held to bounds of five standard deviations or more; the seed is in
 * every message.
 */
#include "tests/unit/preload/unit.h"
#include "preload/heap/sample.h"
#include "preload/contexts/sites.h"
#include "preload/store/store.h"

#include <math.h>

#define SIGMAS 5

/* For loops: a check that passes tells libcheck nothing (ck_assert writes to a pipe each time). */
#define CHECK(condition, ...)                                                                      \
    do                                                                                             \
        if (!(condition))                                                                          \
            ck_abort_msg(#condition ": " __VA_ARGS__);                                             \
    while (0)

static void setup(void)
{
    ck_assert(store_create(unit_directory, "sample", environ));
    sites_start();
    blocks_start();
}

static void start(uint64_t bytes)
{
    ck_assert(sample_start(bytes, 0));
    sampler.random = unit_seed ? unit_seed : 1;
    sample_redraw();
}

static double chance(uint64_t bytes, uint64_t size)
{
    return bytes == 1 ? 1 : -expm1(-((double)size + 1) / (double)bytes);
}

static struct block block_of(uint64_t address, uint64_t size, uint32_t count)
{
    return (struct block){.address = address, .size = size, .site = 1, .thread = 1, .count = count};
}

/* ---- The draw ------------------------------------------------------------------------------- */

static const uint64_t means[] = {2, 3, 100, 4096, 524288, 64 << 20};

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* P(left <= n) = 1 - exp(-n / mean), n = 1, 2, ... */
START_TEST(distances_between_marks_are_exponential)
{
    enum { DRAWS = 400000 };
    static uint64_t left[DRAWS];
    double mean = (double)means[_i], sum = 0, squares = 0, apart = 0;
    double q = exp(-1 / mean), want = 1 / (1 - q), deviation = sqrt(q) / (1 - q);
    start(means[_i]);
    for (int i = 0; i < DRAWS; i++) {
        sample_redraw();
        left[i] = sampler.left;
        CHECK(left[i] >= 1, "seed %" PRIu64, unit_seed);
        sum += (double)left[i];
        squares += ((double)left[i] - want) * ((double)left[i] - want);
    }
    ck_assert_msg(fabs(sum / DRAWS - want) < SIGMAS * deviation / sqrt(DRAWS),
                  "seed %" PRIu64 ", sample=%g: mean %g, wanted %g", unit_seed, mean, sum / DRAWS,
                  want);
    /* The fourth moment of the exponential distribution is nine times the variance's square. */
    ck_assert_msg(fabs(squares / DRAWS / deviation / deviation - 1) < SIGMAS * sqrt(10.0 / DRAWS),
                  "seed %" PRIu64 ", sample=%g: variance %g, wanted %g", unit_seed, mean,
                  squares / DRAWS, deviation * deviation);
    qsort(left, DRAWS, sizeof *left, ascending);
    for (int i = 0, next; i < DRAWS; i = next) {
        for (next = i; next < DRAWS && left[next] == left[i]; next++)
            ;
        double below = -expm1(-((double)left[i] - 1) / mean), to = -expm1(-(double)left[i] / mean);
        apart = fmax(apart, fmax(fabs((double)i / DRAWS - below), fabs((double)next / DRAWS - to)));
    }
    ck_assert_msg(apart * sqrt(DRAWS) < 2.8, "seed %" PRIu64 ", sample=%g: Kolmogorov-Smirnov %g",
                  unit_seed, mean, apart * sqrt(DRAWS));
}
END_TEST

/* ---- Who is met ----------------------------------------------------------------------------- */

static const uint64_t sizes[] = {0, 1, 16, 100, 1000, 4095, 4096, 10000, 30000, 1 << 20};

START_TEST(a_block_is_met_as_often_as_its_size_says)
{
    enum { TRIES = 300000, BYTES = 4096 };
    double p = chance(BYTES, sizes[_i]);
    int met = 0;
    start(BYTES);
    for (int i = 0; i < TRIES; i++)
        met += sample_selects(sizes[_i]);
    ck_assert_msg(fabs(met - TRIES * p) <= SIGMAS * sqrt(TRIES * p * (1 - p)) + 0.5,
                  "seed %" PRIu64 ", size %" PRIu64 ": %d of %d, wanted %g", unit_seed, sizes[_i],
                  met, TRIES, TRIES * p);
}
END_TEST

START_TEST(sizes_no_allocator_grants_do_no_harm)
{
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1};
    sampler.left = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(huge); i++) { /* off */
        bool passes = sample_passes(huge[i]);
        ck_assert_msg(!passes || huge[i] == SIZE_MAX, "size %zx", huge[i]);
        ck_assert_uint_eq(sampler.left, 0);
    }
    start(4096);
    uint64_t left = sampler.left;
    for (size_t i = 1; i < ARRAY_LENGTH(huge); i++) {
        ck_assert(!sample_passes(huge[i]));
        ck_assert_uint_eq(sampler.left, left);
    }
}
END_TEST

START_TEST(off_means_every_block_and_each_once)
{
    struct block block = block_of(0x1000, 5, 1);
    ck_assert(sample_start(0, 0));
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        ck_assert(!sample_passes(sizes[i]));
    sample_redraw();
    ck_assert(!sample_passes(0) && !sample_excludes((void *)0x1000));
    ck_assert_uint_eq(sample_weight(&block), 1);
    ck_assert_uint_eq(store_header->sample, 0);
}
END_TEST

START_TEST(sample_1_means_every_block_and_each_once)
{
    start(1);
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        struct block block = block_of(0x1000 + i * 16, sizes[i], i);
        ck_assert(!sample_passes(sizes[i]) && sample_selects(sizes[i]));
        ck_assert_uint_eq(sample_count(&block, true), 1);
    }
}
END_TEST

/* ---- What it stands for --------------------------------------------------------------------- */

START_TEST(weights_are_one_over_p_on_average)
{
    enum { BLOCKS = 200000 };
    for (size_t m = 0; m < ARRAY_LENGTH(means); m++) {
        sample_state.bytes = means[m];
        double exact = 1 / chance(means[m], sizes[_i]), up = exact - floor(exact), sum = 0;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            struct block block = block_of(0x7f0000000000 + i * 32ull, sizes[_i], i / 3);
            uint64_t weight = sample_weight(&block);
            CHECK(weight == sample_weight(&block) &&
                      fabs((double)weight - exact) < 1 + 1e-6 * exact,
                  "size %" PRIu64 ", sample=%" PRIu64 ": weight %" PRIu64 ", 1/p %g", sizes[_i],
                  means[m], weight, exact);
            sum += (double)weight;
        }
        ck_assert_msg(fabs(sum / BLOCKS - exact) <=
                          SIGMAS * sqrt(up * (1 - up) / BLOCKS) + 1e-8 * exact,
                      "size %" PRIu64 ", sample=%" PRIu64 ": mean weight %.9g, 1/p %.9g", sizes[_i],
                      means[m], sum / BLOCKS, exact);
    }
}
END_TEST

/* What a store says of the variance of a site. */
static struct leak_variance variance_at(uint32_t site)
{
    const char *at = (const char *)store_header + LEAK_PAGE;
    while (at < (const char *)store_header + store_header->used) {
        const struct leak_chunk *chunk = (const struct leak_chunk *)at;
        const struct leak_variance *record = (const struct leak_variance *)(chunk + 1);
        if (chunk->type == LEAK_CHUNK_VARIANCES && site >= chunk->first &&
            site - chunk->first < chunk->length / sizeof *record)
            return record[site - chunk->first];
        at += chunk->size;
    }
    return (struct leak_variance){0, 0, 0, 0};
}

/* A heap of known blocks, sampled again and again: the mean of the estimates is the truth, and the
 * mean of the variances said is the variance seen. */
START_TEST(estimates_are_unbiased_and_know_their_variance)
{
    enum { RUNS = 4000, BYTES = 4096 };
    double blocks = 0, bytes = 0, square_blocks = 0, square_bytes = 0;
    double said_blocks = 0, said_bytes = 0, true_bytes = 0;
    enum { BLOCKS = 400 };
    uint64_t state = unit_seed, heap[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        true_bytes += (double)(heap[i] = unit_random(&state) % 8 ? unit_random(&state) % 300
                                                                 : unit_random(&state) % 20000);
    start(BYTES);
    for (uint32_t run = 1; run <= RUNS; run++) {
        double got_blocks = 0, got_bytes = 0;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            if (!sample_selects(heap[i]))
                continue;
            struct block block = block_of((unit_random(&state) & 0xffffffffff) << 4, heap[i], i);
            block.site = run;
            uint64_t weight = sample_count(&block, true);
            got_blocks += (double)weight;
            got_bytes += (double)(weight * heap[i]);
        }
        struct leak_variance variance = variance_at(run);
        said_blocks += (double)variance.blocks / LEAK_VARIANCE_BLOCKS;
        said_bytes += (double)variance.bytes / LEAK_VARIANCE_BYTES * BYTES * BYTES;
        blocks += got_blocks;
        bytes += got_bytes;
        square_blocks += (got_blocks - BLOCKS) * (got_blocks - BLOCKS);
        square_bytes += (got_bytes - true_bytes) * (got_bytes - true_bytes);
    }
    ck_assert_msg(fabs(blocks / RUNS - BLOCKS) < SIGMAS * sqrt(square_blocks) / RUNS,
                  "seed %" PRIu64 ": %g blocks, wanted %d", unit_seed, blocks / RUNS, BLOCKS);
    ck_assert_msg(fabs(bytes / RUNS - true_bytes) < SIGMAS * sqrt(square_bytes) / RUNS,
                  "seed %" PRIu64 ": %g bytes, wanted %g", unit_seed, bytes / RUNS, true_bytes);
    /* A variance from 4000 runs is itself off by some 3 %. */
    ck_assert_msg(fabs(said_blocks / square_blocks - 1) < 0.2 &&
                      fabs(said_bytes / square_bytes - 1) < 0.2,
                  "seed %" PRIu64 ": variances said over seen: %g blocks, %g bytes", unit_seed,
                  said_blocks / square_blocks, said_bytes / square_bytes);
    fprintf(stderr, "variances said over seen: %.3f blocks, %.3f bytes\n",
            said_blocks / square_blocks, said_bytes / square_bytes);
}
END_TEST

START_TEST(what_comes_and_goes_leaves_nothing)
{
    enum { BLOCKS = 20000 };
    uint64_t state = unit_seed, blocks = 0, bytes = 0;
    for (size_t m = 0; m < ARRAY_LENGTH(means); m++) {
        static struct block heap[BLOCKS];
        sample_state.bytes = means[m];
        for (uint32_t i = 0; i < BLOCKS; i++) {
            heap[i] =
                block_of(unit_random(&state) >> 16 & ~15ull,
                         unit_random(&state) >> unit_random(&state) % 64, unit_random(&state));
            heap[i].size &= (1ull << 48) - 1;
            heap[i].site = 1 + unit_random(&state) % 300;
            heap[i].thread = unit_random(&state);
            uint64_t weight = sample_count(&heap[i], true);
            blocks += weight;
            bytes += weight * heap[i].size;
        }
        for (uint32_t i = 0; i < BLOCKS; i++) {
            struct block *block = &heap[(i * 7919ull) % BLOCKS];
            uint64_t weight = sample_count(block, false);
            blocks -= weight;
            bytes -= weight * block->size;
        }
        ck_assert_uint_eq(blocks, 0);
        ck_assert_uint_eq(bytes, 0);
        for (uint32_t site = 1; site <= 300; site++) {
            struct leak_variance variance = variance_at(site);
            CHECK(!variance.samples && !variance.blocks && !variance.bytes,
                  "seed %" PRIu64 ", sample=%" PRIu64 ", site %u: %" PRIu64 " %" PRIu64 " %" PRIu64,
                  unit_seed, means[m], site, variance.samples, variance.blocks, variance.bytes);
        }
    }
}
END_TEST

/* ---- The filter ----------------------------------------------------------------------------- */

/* An address as glibc gives them: 16 to 512 bytes apart, in arenas of 64 MiB. */
static uintptr_t an_address(uint64_t *state)
{
    uint64_t arena = unit_random(state) % 4;
    return 0x7f2000000000 + arena * (64ull << 20) + 0x10 +
           (unit_random(state) % (40 << 20) & ~15ull);
}

START_TEST(the_filter_never_forgets_a_block_that_lives)
{
    enum { BLOCKS = 5000, STEPS = 400000 };
    static uintptr_t live[BLOCKS];
    uint64_t state = unit_seed;
    uint32_t count = 0;
    struct block old, out;
    start(4096);
    for (int step = 0; step < STEPS; step++) {
        uint32_t i = unit_random(&state) % BLOCKS;
        if (i < count) {
            CHECK(!sample_excludes((void *)live[i]) && sample_remove(&unit_guard, live[i], &out),
                  "seed %" PRIu64 " step %d", unit_seed, step);
            if (unit_random(&state) % 8) {
                live[i] = live[--count];
                continue;
            }
            sample_insert(&unit_guard, &out, &old); /* realloc failed */
        } else if (count < BLOCKS) {
            struct block block = block_of(an_address(&state), 8, step);
            if (sample_insert(&unit_guard, &block, &old) ==
                BLOCKS_NEW) /* else: was there already */
                live[count++] = block.address;
        }
        if (step % 1000 == 0)
            for (i = 0; i < count; i++)
                CHECK(!sample_excludes((void *)live[i]), "seed %" PRIu64 " step %d", unit_seed,
                      step);
    }
    int falsely = 0;
    for (int i = 0; i < 1000000; i++)
        falsely += !sample_excludes((void *)an_address(&state));
    fprintf(stderr, "%u samples live: %.3f %% of other addresses take the full way\n", count,
            falsely / 10000.0);
    ck_assert_int_lt(falsely, 20000);
    while (count)
        CHECK(sample_remove(&unit_guard, live[--count], &out), "seed %" PRIu64, unit_seed);
    for (uintptr_t cell = 0; cell <= sample_state.filter_mask; cell++)
        CHECK(!sample_state.filter[cell], "seed %" PRIu64, unit_seed);
}
END_TEST

/* More than a cell can count: it stays set for ever, which costs time and nothing else. */
START_TEST(a_crowded_cell_stays_set)
{
    enum { BLOCKS = 600 };
    struct block old, out;
    start(4096);
    for (uintptr_t i = 1; i <= BLOCKS; i++) { /* what is exclusive-ored is equal */
        struct block block = block_of(i << 25 | i << 4, 8, i);
        ck_assert_ptr_eq(sample_cell(block.address), sample_state.filter);
        ck_assert_int_eq(sample_insert(&unit_guard, &block, &old), BLOCKS_NEW);
    }
    for (uintptr_t i = 1; i <= BLOCKS; i++) {
        ck_assert(!sample_excludes((void *)(i << 25 | i << 4)));
        ck_assert(sample_remove(&unit_guard, i << 25 | i << 4, &out));
    }
}
END_TEST

#define THREADS 4
#define EACH 300

static uintptr_t of_all[THREADS]
                       [EACH]; /* 0: nothing there; the thread that frees it takes it out */

static void *come_and_go(void *argument)
{
    uintptr_t me = (uintptr_t)argument, wrong = 0;
    uint64_t state = unit_seed + me;
    struct guard guard = {.sp = 1};
    struct block old, out;
    for (int step = 0; step < 200000; step++) {
        uintptr_t *mine = &of_all[me][unit_random(&state) % EACH];
        uintptr_t *other = &of_all[unit_random(&state) % THREADS][unit_random(&state) % EACH];
        if (!load_acquire(mine)) {
            /* Addresses are the thread's own, cells are not. */
            struct block block = block_of(me << 40 | (uintptr_t)step << 4 | 8, 8, step);
            sample_insert(&guard, &block, &old);
            __atomic_store_n(mine, block.address, __ATOMIC_RELEASE);
        }
        uintptr_t address = __atomic_exchange_n(other, 0, __ATOMIC_ACQ_REL);
        if (address) {
            wrong += sample_excludes((void *)address);
            wrong += !sample_remove(&guard, address, &out);
        }
    }
    return (void *)wrong;
}

START_TEST(threads_find_each_others_blocks_in_the_filter)
{
    pthread_t threads[THREADS];
    void *wrong;
    struct block out;
    start(4096);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_and_go, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        ck_assert_msg(!wrong, "seed %" PRIu64 ": %zu times", unit_seed, (size_t)wrong);
    }
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < EACH; k++)
            CHECK(!of_all[i][k] || sample_remove(&unit_guard, of_all[i][k], &out), "seed %" PRIu64,
                  unit_seed);
    for (uintptr_t cell = 0; cell <= sample_state.filter_mask; cell++)
        CHECK(!sample_state.filter[cell], "seed %" PRIu64, unit_seed);
}
END_TEST

START_TEST(a_small_max_memory_gets_a_small_filter)
{
    ck_assert(sample_start(4096, 4 << 20));
    ck_assert_uint_eq(sample_state.filter_mask + 1, 256 << 10);
}
END_TEST

/* ---- Processes ------------------------------------------------------------------------------ */

START_TEST(a_forked_child_is_sampled_on_its_own)
{
    uint64_t parent[8], child[8];
    start(524288);
    struct block block = block_of(0x4560, 100000, 77);
    uint64_t weight = sample_weight(&block);
    sample_fork_child();
    ck_assert_uint_eq(sampler.random, 0);
    ck_assert_uint_eq(store_header->sample, 524288);
    ck_assert_uint_eq(sample_weight(&block), weight); /* what it inherited counts as it did */
    for (int i = 0; i < 8; i++) {
        sampler = (struct sampler){0, 0};
        sample_selects(100);
        parent[i] = sampler.random;
    }
    sample_fork_child();
    for (int i = 0; i < 8; i++) {
        sampler = (struct sampler){0, 0};
        sample_selects(100);
        child[i] = sampler.random;
        for (int k = 0; k < 8; k++)
            ck_assert(child[i] != parent[k] && (k >= i || child[i] != child[k]));
    }
}
END_TEST

START_TEST(the_first_block_of_a_thread_is_met_no_more_often_than_others)
{
    enum { TRIES = 200000, BYTES = 4096, SIZE = 1000 };
    double p = chance(BYTES, SIZE);
    int met = 0;
    start(BYTES);
    for (int i = 0; i < TRIES; i++) {
        sampler = (struct sampler){0, 0};
        met += sample_selects(SIZE);
    }
    ck_assert_msg(fabs(met - TRIES * p) <= SIGMAS * sqrt(TRIES * p * (1 - p)),
                  "%d of %d, wanted %g", met, TRIES, TRIES * p);
    ck_assert(store_header->flags & LEAK_FLAG_ASKED);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("sample");
    TCase *draws = tcase_create("draws");
    tcase_set_timeout(draws, 60);
    tcase_add_checked_fixture(draws, setup, NULL);
    tcase_add_loop_test(draws, distances_between_marks_are_exponential, 0, ARRAY_LENGTH(means));
    tcase_add_loop_test(draws, a_block_is_met_as_often_as_its_size_says, 0, ARRAY_LENGTH(sizes));
    tcase_add_test(draws, sizes_no_allocator_grants_do_no_harm);
    tcase_add_test(draws, off_means_every_block_and_each_once);
    tcase_add_test(draws, sample_1_means_every_block_and_each_once);
    suite_add_tcase(suite, draws);
    TCase *weights = tcase_create("weights");
    tcase_set_timeout(weights, 60);
    tcase_add_checked_fixture(weights, setup, NULL);
    tcase_add_loop_test(weights, weights_are_one_over_p_on_average, 0, ARRAY_LENGTH(sizes));
    tcase_add_test(weights, estimates_are_unbiased_and_know_their_variance);
    tcase_add_test(weights, what_comes_and_goes_leaves_nothing);
    suite_add_tcase(suite, weights);
    TCase *filter = tcase_create("filter");
    tcase_set_timeout(filter, 60);
    tcase_add_checked_fixture(filter, setup, NULL);
    tcase_add_test(filter, the_filter_never_forgets_a_block_that_lives);
    tcase_add_test(filter, a_crowded_cell_stays_set);
    tcase_add_test(filter, threads_find_each_others_blocks_in_the_filter);
    tcase_add_test(filter, a_small_max_memory_gets_a_small_filter);
    suite_add_tcase(suite, filter);
    TCase *processes = tcase_create("processes");
    tcase_add_checked_fixture(processes, setup, NULL);
    tcase_add_test(processes, a_forked_child_is_sampled_on_its_own);
    tcase_add_test(processes, the_first_block_of_a_thread_is_met_no_more_often_than_others);
    suite_add_tcase(suite, processes);
    return unit_main(argc, argv, suite);
}
