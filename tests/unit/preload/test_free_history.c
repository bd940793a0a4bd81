/* test_free_history.c - where blocks were freed adds up, sampled or not; a ring holds a thread's last
 * frees.
 *
 * The account is read back from the store alone, as a reader does.
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/memory/arena.h"
#include "preload/heap/free_history.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

#define G (&unit_guard)

static struct free_history mine;

static void setup(void)
{
    lock_start();
    ck_assert(store_create(unit_directory, "freed", environ));
    ck_assert(free_history_start());
    free_history_open(G, &mine, 1);
    ck_assert_ptr_nonnull(mine.recent);
}

/* The sum over all records; site or node 0: of any. */
static struct leak_freed told(uint32_t site, uint32_t node, size_t *records)
{
    struct leak_freed sum = {site, node, 0, 0};
    const struct leak_chunk *chunk;
    size_t count = 0;
    for (uint64_t at = 0; (chunk = view_chunk(store_header, LEAK_CHUNK_FREED, &at));) {
        const struct leak_freed *record = (const struct leak_freed *)(chunk + 1);
        for (size_t i = 0; i < chunk->length / sizeof *record; i++) {
            if (!record[i].site || (site && record[i].site != site) ||
                (node && record[i].node != node))
                continue;
            sum.blocks += record[i].blocks;
            sum.bytes += record[i].bytes;
            count++;
        }
    }
    if (records)
        *records = count;
    return sum;
}

static void expect(uint32_t site, uint32_t node, uint64_t blocks, uint64_t bytes)
{
    struct leak_freed got = told(site, node, NULL);
    ck_assert_msg(got.blocks == blocks && got.bytes == bytes,
                  "site %u, node %u: %" PRIu64 " blocks of %" PRIu64 ", wanted %" PRIu64
                  " of %" PRIu64 " (SEED=%" PRIu64 ")",
                  site, node, got.blocks, got.bytes, blocks, bytes, unit_seed);
}

/* ---- Counting ------------------------------------------------------------------------------- */

START_TEST(each_pair_has_one_record_and_adds_up)
{
    size_t records;
    free_history_count(G, 1, 10, 1, 100);
    free_history_count(G, 1, 11, 1, 50);
    free_history_count(G, 2, 10, 1, 7);
    free_history_count(G, 1, 10, 1, 100);
    free_history_count(G, 1, 10, 64, 3); /* one stands for 64 of its size */
    expect(1, 10, 66, 200 + 64 * 3);
    expect(1, 11, 1, 50);
    expect(2, 10, 1, 7);
    told(0, 0, &records);
    ck_assert_uint_eq(records, 3);
    ck_assert(free_history_check());
}
END_TEST

START_TEST(temporary_blocks_add_up_by_site)
{
    const struct leak_chunk *chunk;
    const struct leak_temporary *sums;
    uint64_t at = 0;
    free_history_count_temporary(G, 1, 1, 100);
    free_history_count_temporary(G, 3, 64, 10);
    free_history_count_temporary(G, 1, 2, 50);
    chunk = view_chunk(store_header, LEAK_CHUNK_TEMPORARY, &at);
    ck_assert_ptr_nonnull(chunk);
    sums = (const struct leak_temporary *)(chunk + 1) - chunk->first;
    ck_assert_uint_eq(sums[1].blocks, 3);
    ck_assert_uint_eq(sums[1].bytes, 200);
    ck_assert_uint_eq(sums[2].blocks, 0);
    ck_assert_uint_eq(sums[3].blocks, 64);
    ck_assert_uint_eq(sums[3].bytes, 640);
}
END_TEST

#define SITES 300
#define NODES 400

START_TEST(the_index_grows_and_every_count_stays_exact)
{
    static uint64_t blocks[SITES][NODES], bytes[SITES][NODES];
    uint64_t state = unit_seed;
    size_t records, pairs = 0;
    for (int i = 0; i < 400000; i++) {
        uint32_t site = unit_random(&state) % SITES, node = unit_random(&state) % NODES;
        uint64_t size = unit_random(&state) % 1000;
        pairs += !blocks[site][node];
        blocks[site][node]++;
        bytes[site][node] += size;
        free_history_count(G, 1 + site, LEAK_NODE_FIRST + node, 1, size);
    }
    ck_assert(free_history_check());
    told(0, 0, &records);
    ck_assert_uint_eq(records, pairs);
    for (uint32_t i = 0; i < SITES; i += 37)
        for (uint32_t k = 0; k < NODES; k += 31)
            expect(1 + i, LEAK_NODE_FIRST + k, blocks[i][k], bytes[i][k]);
}
END_TEST

#define THREADS 4

static void *count_many(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    struct guard guard = {.sp = 1};
    for (uint32_t i = 0; i < 100000; i++)
        free_history_count(&guard, 1 + i % 97, LEAK_NODE_FIRST + (i * 7 + (uint32_t)me) % 101, 1,
                           8);
    return NULL;
}

START_TEST(threads_count_the_same_pairs_together)
{
    pthread_t threads[THREADS];
    size_t records;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_many, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert(free_history_check());
    expect(0, 0, THREADS * 100000, THREADS * 800000);
    told(0, 0, &records);
    ck_assert_uint_le(records, 97 * 101);
}
END_TEST

/* ---- The sample ----------------------------------------------------------------------------- */

/* As a thread does with free_stacks=sample; before: what it had freed of that site. */
static void free_sampled(uint32_t site, uint32_t node, uint64_t before)
{
    unsigned weight = free_history_weight(&mine, before);
    if (weight)
        free_history_count(G, site, node, weight, 16);
}

/* Of n frees each counts 64 with a chance of 1/64: the deviation of the sum is sqrt(63 n); and
 * sqrt(511 n) for one in 512. */
static void expect_about(uint32_t node, double wanted)
{
    double got = told(1, node, NULL).blocks, bound = 7 * __builtin_sqrt(511 * wanted) + 512;
    ck_assert_msg(got > wanted - bound && got < wanted + bound,
                  "node %u: %.0f, wanted %.0f +- %.0f (SEED=%" PRIu64 ")", node, got, wanted, bound,
                  unit_seed);
}

/* Two places take turns. A sample of every 64th free would see only one of them. */
static const struct {
    unsigned period, first; /* so many frees of each period are in the first place */
} patterns[] = {{2, 1}, {4, 1}, {8, 7}, {16, 8}, {32, 1}, {64, 32}, {64, 1}, {128, 64}, {63, 21}};

START_TEST(a_sample_has_no_eye_for_patterns)
{
    enum { FREES = 640000 };
    unsigned period = patterns[_i].period, first = patterns[_i].first;
    uint64_t wanted[2] = {0, 0};
    mine.dice = unit_seed;
    for (uint64_t i = 0; i < FREES; i++) {
        unsigned place = i % period >= first;
        wanted[place]++;
        free_sampled(1, LEAK_NODE_FIRST + place, i);
    }
    expect_about(LEAK_NODE_FIRST, wanted[0]);
    expect_about(LEAK_NODE_FIRST + 1, wanted[1]);
    ck_assert_uint_eq(told(1, 0, NULL).bytes, 16 * told(1, 0, NULL).blocks);
}
END_TEST

START_TEST(the_first_frees_of_a_site_are_always_looked_at)
{
    for (uint64_t i = 0; i < LEAK_FREED_FIRST; i++)
        ck_assert_uint_eq(free_history_weight(&mine, i), 1);
    unsigned looked = 0;
    for (int i = 0; i < 64000; i++) {
        unsigned weight = free_history_weight(&mine, LEAK_FREED_FIRST);
        ck_assert(weight == 0 || weight == LEAK_FREED_ONE_IN);
        looked += weight != 0;
    }
    ck_assert_msg(looked > 700 && looked < 1300, "%u of 64000 (SEED=%" PRIu64 ")", looked,
                  unit_seed);
}
END_TEST

/* Where contexts keep changing nearly each free is the first one of its site. */
START_TEST(of_very_many_sites_one_first_free_in_eight_is_looked_at)
{
    unsigned looked = 0;
    for (unsigned site = 0; site < LEAK_FREED_SITES; site++)
        ck_assert_uint_eq(free_history_weight(&mine, 0), 1);
    for (unsigned site = 0; site < 8000; site++) {
        unsigned weight = free_history_weight(&mine, 0);
        ck_assert(weight == 0 || weight == LEAK_FREED_SITES_ONE_IN);
        looked += weight != 0;
    }
    ck_assert_msg(looked > 700 && looked < 1300, "%u of 8000 (SEED=%" PRIu64 ")", looked,
                  unit_seed);
}
END_TEST

START_TEST(of_many_frees_fewer_are_looked_at)
{
    unsigned looked = 0;
    ck_assert(free_history_weight(&mine, LEAK_FREED_MANY - 1) <= LEAK_FREED_ONE_IN);
    for (int i = 0; i < 512000; i++) {
        unsigned weight = free_history_weight(&mine, LEAK_FREED_MANY + i);
        ck_assert(weight == 0 || weight == LEAK_FREED_ONE_IN_MANY);
        looked += weight != 0;
    }
    ck_assert_msg(looked > 700 && looked < 1300, "%u of 512000 (SEED=%" PRIu64 ")", looked,
                  unit_seed);
}
END_TEST

START_TEST(threads_throw_dice_of_their_own)
{
    struct free_history other;
    unsigned same = 0;
    free_history_open(G, &other, 2);
    for (int i = 0; i < 64000; i++)
        same += free_history_weight(&mine, 99) && free_history_weight(&other, 99);
    ck_assert_msg(same < 100, "looked at together %u times",
                  same); /* 16 by chance, 1000 if equal */
}
END_TEST

/* ---- Rings ---------------------------------------------------------------------------------- */

static void remember(struct free_history *freed, uintptr_t n)
{
    struct block block = {.address = n << 4, .site = (uint32_t)n + 1};
    free_history_add_recent(freed, &block, 0x1000 + n, (uint32_t)n % 3 ? 0 : 77, (uint32_t)n / 10,
                            LEAK_FORM_FREE);
}

static size_t rings(void)
{
    size_t count = 0;
    for (uint64_t at = 0; view_chunk(store_header, LEAK_CHUNK_RECENT, &at);)
        count++;
    return count;
}

START_TEST(the_newest_free_stands_before_next)
{
    uint64_t at = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_RECENT, &at);
    const struct leak_recent *ring = (const struct leak_recent *)(chunk + 1);
    ck_assert_ptr_eq(ring, mine.recent);
    ck_assert_uint_le(sizeof *chunk + sizeof *ring, LEAK_PAGE);
    ck_assert_uint_eq(ring->thread, 1);
    ck_assert_uint_eq(ring->next, 0);
    for (uintptr_t n = 1; n <= 300; n++) {
        remember(&mine, n);
        ck_assert_uint_eq(ring->next, n);
    }
    for (uintptr_t n = 300; n > 300 - LEAK_RECENT; n--) {
        const struct leak_recent_free *free = &ring->free[(n - 1) % LEAK_RECENT];
        ck_assert_msg(free->address == n << 4 && free->pc == 0x1000 + n && free->site == n + 1 &&
                          free->node == (n % 3 ? 0 : 77) && free->tick == n / 10,
                      "place of free %zu", (size_t)n);
    }
}
END_TEST

START_TEST(captures_are_counted_for_good)
{
    struct leak_recent *ring = mine.recent;
    for (int i = 0; i < 5; i++)
        free_history_count_capture(&mine);
    free_history_close(G, &mine);
    free_history_open(G, &mine, 2);
    ck_assert_ptr_eq(mine.recent, ring);
    free_history_count_capture(&mine);
    ck_assert_uint_eq(ring->captures, 6);
}
END_TEST

START_TEST(the_ring_of_a_thread_that_ended_is_history_until_the_next_one_takes_it)
{
    struct free_history second, third;
    struct leak_recent *ring = mine.recent;
    free_history_open(G, &second, 2);
    ck_assert_uint_eq(rings(), 2);
    remember(&mine, 5);
    remember(&second, 6);
    free_history_close(G, &mine);
    ck_assert_uint_eq(ring->thread, 0);
    ck_assert_uint_eq(ring->last_thread, 1);
    ck_assert_uint_eq(ring->next, 1);
    ck_assert_uint_eq(ring->free[0].address, 5 << 4);
    free_history_open(G, &third, 3);
    ck_assert_ptr_eq(third.recent, ring);
    ck_assert_uint_eq(rings(), 2);
    ck_assert_uint_eq(ring->thread, 3);
    ck_assert_uint_eq(ring->last_thread, 3);
    ck_assert_uint_eq(ring->next, 0);
    ck_assert_uint_eq(ring->free[0].address, 0);
    ck_assert_uint_eq(second.recent->free[0].address, 6 << 4);
}
END_TEST

START_TEST(a_thousand_threads_one_after_the_other_need_one_ring)
{
    free_history_close(G, &mine);
    for (uint32_t serial = 2; serial < 1002; serial++) {
        struct free_history freed;
        free_history_open(G, &freed, serial);
        remember(&freed, serial);
        free_history_close(G, &freed);
    }
    ck_assert_uint_eq(rings(), 1);
    free_history_close(G, &mine); /* twice does no harm */
}
END_TEST

/* ---- Fork ----------------------------------------------------------------------------------- */

/* In the child: 0 = all is well. */
static int child_counts_its_own(void)
{
    struct leak_header *parent;
    uint64_t size;
    size_t records;
    if (!store_create_child(&parent, &size))
        return 1;
    free_history_fork_child();
    store_unmap_parent(parent, size); /* nothing may point there any more */
    free_history_open(G, &mine, 1);
    if (rings() != 1 || mine.recent->next)
        return 2;
    if (told(0, 0, &records).blocks || records)
        return 3;
    for (uint32_t i = 0; i < 10000; i++)
        free_history_count(G, 1 + i % 50, LEAK_NODE_FIRST + i % 1000, 1, 8);
    remember(&mine, 9);
    if (!free_history_check() || told(0, 0, &records).blocks != 10000 || records != 1000)
        return 4;
    return mine.recent->free[0].address == 9 << 4 ? 0 : 5;
}

START_TEST(a_fork_child_counts_from_nothing)
{
    struct free_history dead;
    for (uint32_t i = 0; i < (_i ? 20000u : 10u); i++) /* with an index that grew, and without */
        free_history_count(G, 1 + i, LEAK_NODE_FIRST + i, 1, 8);
    free_history_open(G, &dead, 2); /* a free ring of the parent's must not be taken */
    free_history_close(G, &dead);
    remember(&mine, 7);
    free_history_fork_lock();
    pid_t pid = fork();
    free_history_fork_unlock();
    if (pid == 0)
        _exit(child_counts_its_own());
    unit_await_success(pid);
    expect(0, 0, _i ? 20000 : 10, 8 * (_i ? 20000 : 10));
    ck_assert_uint_eq(mine.recent->next, 1);
    free_history_count(G, 1, LEAK_NODE_FIRST, 1, 8);
    ck_assert(free_history_check());
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------- */

START_TEST(without_memory_what_is_known_goes_on_counting)
{
    size_t before, after;
    enum { MANY = 200000 };
    free_history_count(G, 1, LEAK_NODE_FIRST, 1, 8);
    arena_set_limit(arena_used());
    for (uint32_t i = 0; i < MANY; i++)
        free_history_count(G, 2 + i, LEAK_NODE_FIRST, 1, 8);
    told(0, 0, &before);
    ck_assert_msg(before < MANY, "the limit was never met");
    ck_assert(free_history_check());
    free_history_count(G, 1, LEAK_NODE_FIRST, 1, 8);
    expect(1, LEAK_NODE_FIRST, 2, 16);
    arena_set_limit(0);
    for (uint32_t i = 0; i < 1000; i++)
        free_history_count(G, MANY + 10 + i, LEAK_NODE_FIRST, 1, 8);
    told(0, 0, &after);
    ck_assert_uint_eq(after, before + 1000);
    ck_assert(free_history_check());
}
END_TEST

START_TEST(a_thread_without_a_ring_remembers_nothing)
{
    struct free_history poor = {.recent = NULL};
    remember(&poor, 1);
    free_history_count_capture(&poor);
    free_history_close(G, &poor);
    ck_assert_uint_eq(free_history_weight(&poor, 0), 1);
    ck_assert_uint_eq(mine.recent->next, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("freed");
    TCase *all = tcase_create("freed");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, each_pair_has_one_record_and_adds_up);
    tcase_add_test(all, temporary_blocks_add_up_by_site);
    tcase_add_test(all, the_index_grows_and_every_count_stays_exact);
    tcase_add_test(all, threads_count_the_same_pairs_together);
    tcase_add_loop_test(all, a_sample_has_no_eye_for_patterns, 0, ARRAY_LENGTH(patterns));
    tcase_add_test(all, the_first_frees_of_a_site_are_always_looked_at);
    tcase_add_test(all, of_very_many_sites_one_first_free_in_eight_is_looked_at);
    tcase_add_test(all, of_many_frees_fewer_are_looked_at);
    tcase_add_test(all, threads_throw_dice_of_their_own);
    tcase_add_test(all, the_newest_free_stands_before_next);
    tcase_add_test(all, captures_are_counted_for_good);
    tcase_add_test(all, the_ring_of_a_thread_that_ended_is_history_until_the_next_one_takes_it);
    tcase_add_test(all, a_thousand_threads_one_after_the_other_need_one_ring);
    tcase_add_loop_test(all, a_fork_child_counts_from_nothing, 0, 2);
    tcase_add_test(all, without_memory_what_is_known_goes_on_counting);
    tcase_add_test(all, a_thread_without_a_ring_remembers_nothing);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
