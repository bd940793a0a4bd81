/* test_runs.c - runs: the thread, the tick and the count of each live block stay right, however many
 * blocks have come and gone, and where there are no more runs the open table has the blocks.
 */
#include "tests/unit/preload/some_blocks.h"
#include "tests/unit/size.h"

/* ---- Lifetimes ------------------------------------------------------------------------------- */

#define LIVE_MOST (1u << 16)

/* What a live block must be. */
struct known {
    uint32_t count, tick_thread;
};
static struct known known[LIVE_MOST];
static bool live[LIVE_MOST];

static void check_block(unsigned slot, const struct block *out)
{
    UNIT_WANT_MSG(out->count == known[slot].count &&
                      (out->tick << 8 | out->thread) == known[slot].tick_thread,
                  "seed %" PRIu64 ": allocation %u of tick and thread %x is said to be %u of %x",
                  unit_seed, known[slot].count, known[slot].tick_thread, out->count,
                  out->tick << 8 | out->thread);
}

/* slots: so many blocks live, mostly. */
static const struct {
    const char *name;
    unsigned slots, allocations, per_tick, threads;
} lives[] = {
    {"few blocks, one thread", 100, 25000000, 50000, 1},
    {"few blocks, each in a tick of its own", 1000, 2000000, 1, 1},
    {"many blocks, threads in turn", LIVE_MOST, 15000000, 3000, 5},
    {"many blocks, many threads, few in a tick", LIVE_MOST, 1000000, 7, 200},
};

START_TEST(every_live_block_keeps_its_identity_through_millions_of_allocations)
{
    static uint32_t counts[256];
    uint64_t state = unit_seed;
    struct block old, out;
    for (uint32_t n = 0; n < unit_size(lives[_i].allocations); n++) {
        unsigned slot = unit_random(&state) % lives[_i].slots;
        uintptr_t address = BASE + (uintptr_t)slot * WINDOW;
        if (live[slot]) {
            UNIT_WANT(take_out(address, &out));
            check_block(slot, &out);
        }
        unsigned thread = n / 64 % lives[_i].threads;
        struct block block = {.address = address,
                              .size = 20,
                              .site = 1,
                              .count = counts[thread]++,
                              .tick = n / lives[_i].per_tick,
                              .thread = thread};
        known[slot] = (struct known){block.count, block.tick << 8 | block.thread};
        live[slot] = true;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    ck_assert_uint_eq(table_count(), 0);
    /* Each live block may hold a run, as may each thread 64; twice as many exist at most. */
    uint64_t most = 4 * (lives[_i].slots + 64 * lives[_i].threads + 4 * RUN_CHUNK_RUNS) * 12ull;
    ck_assert_msg(arena_used() < most + (4 << 20), "%s: %" PRIu64 " bytes", lives[_i].name,
                  arena_used());
}
END_TEST

/* Blocks of all ages, which come at a point in time and go at another. */
START_TEST(blocks_that_live_long_keep_their_runs)
{
    struct block old, out;
    for (uint32_t n = 0; n < 4000000; n++) {
        struct block block = at(BASE + (n % 1000 ? n % 1000 : 1000 + n / 1000) * WINDOW);
        block.count = n;
        block.tick = n >> 10;
        if (n % 1000 && n > 1000)
            UNIT_WANT(take_out(block.address, &out) && out.count == n - 1000);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    for (uint32_t n = 0; n < 4000000; n += 1000)
        UNIT_WANT(take_out(BASE + (1000 + n / 1000) * WINDOW, &out) && out.count == n &&
                  out.tick == n >> 10);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Exhaustion ------------------------------------------------------------------------------ */

static struct block lone(uint32_t n)
{
    struct block block = at(BASE + (uintptr_t)n * WINDOW);
    block.size = 20;
    block.count = n * RUN_PLACES + n % RUN_PLACES;
    block.tick = n >> 12;
    return block;
}

static uint32_t fill_with_lone_blocks(uint32_t from, uint32_t count)
{
    struct block old;
    uint32_t in_table = table_count();
    for (uint32_t n = from; n < from + count; n++) {
        struct block block = lone(n);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
    }
    return table_count() - in_table;
}

static void want_lone_blocks(uint32_t from, uint32_t count)
{
    for (uint32_t n = from; n < from + count; n++) {
        struct block want = lone(n), out;
        UNIT_WANT_MSG(blocks_find(&unit_guard, want.address, &out) && same(&out, &want),
                      "block %u: wanted " SHOW ", got " SHOW, n, SHOWN(want), SHOWN(out));
    }
}

/* Gives each stripe of the open table its first page: blocks at no multiple of 16 are there. */
static void fill_stripes(void)
{
    struct block old, out;
    for (uintptr_t n = 0; n < 32 * STRIPES; n++) {
        struct block block = at(BASE + 4 * AREA + n * 2048 + 8);
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW && take_out(block.address, &out));
    }
}

/* Memory for one chunk of runs, and for the open table to grow. */
static void allow_one_chunk(void)
{
    struct block old, out, first = at(BASE + 3 * AREA);
    fill_stripes();
    for (int i = 0; i < 4; i++) /* the areas exist */
        shadow_make_area(BASE + i * AREA, SHADOW_FINE);
    insert(&first, &old);
    take_out(first.address, &out);
    arena_set_limit(arena_used() + sizeof(struct run_chunk) / 2);
}

/* So many more blocks than runs are all found, and as many of them, or few more, are in the open
 * table. */
static void want_overflow(uint32_t runs, uint32_t more, uint32_t most)
{
    uint32_t in_table = fill_with_lone_blocks(0, runs + more);
    ck_assert_uint_ge(in_table, more);
    ck_assert_uint_lt(in_table, most);
    ck_assert_uint_eq(blocks_count(), runs + more);
    want_lone_blocks(0, runs + more);
    ck_assert(blocks_check());
}

START_TEST(without_memory_for_runs_blocks_go_to_the_open_table)
{
    allow_one_chunk();
    want_overflow(RUN_CHUNK_RUNS, 500, 600);
}
END_TEST

/* After some frees the runs are found again, if not at once. */
START_TEST(runs_come_back_when_their_blocks_have_gone)
{
    struct block out, old;
    allow_one_chunk();
    fill_with_lone_blocks(0, RUN_CHUNK_RUNS + 100);
    for (uint32_t n = 0; n < RUN_CHUNK_RUNS; n++)
        UNIT_WANT(n % 2 || take_out(lone(n).address, &out));
    uint32_t in_table = table_count();
    for (uint32_t n = 0; n < 1000000; n++) {
        struct block block = lone(RUN_CHUNK_RUNS + 1000 + n % 100);
        block.count = n;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW && take_out(block.address, &out) &&
                  same(&out, &block));
    }
    struct block block = lone(RUN_CHUNK_RUNS + 1000);
    insert(&block, &old);
    ck_assert_uint_eq(table_count(), in_table);
    for (uint32_t n = 1; n < RUN_CHUNK_RUNS; n += 2)
        want_lone_blocks(n, 1);
    want_lone_blocks(RUN_CHUNK_RUNS, 100);
    ck_assert(blocks_check());
}
END_TEST

static unsigned reads;

static void read_and_count(void (*visit)(uint32_t identity))
{
    reads++;
    shadow_each_identity(visit);
}

/* A block for each run; so many of them live that a sweep finds few or none. */
START_TEST(when_all_runs_are_held_not_every_allocation_sweeps)
{
    struct run run = {0};
    allow_one_chunk();
    fill_with_lone_blocks(0, RUN_CHUNK_RUNS + 100);
    for (uint32_t n = 0; n < 10000; n++)
        run_renew(&run, 7, 1, n * RUN_PLACES, 4, read_and_count);
    ck_assert_msg(reads < 100, "%u sweeps for 10000 allocations", reads);
}
END_TEST

/* As many as their number has bits for. */
START_TEST(all_the_runs_there_can_be_are_used_and_then_the_open_table)
{
    want_overflow(1u << RUN_BITS, 1000, 1200);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 4
#define OWN 3000 /* blocks of each thread */

static void *live_and_die(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    uint64_t state = unit_seed + me, bad = 0;
    uint32_t counts[OWN] = {0};
    struct block old, out;
    for (uint32_t n = 1; n < 1500000; n++) {
        unsigned slot = unit_random(&state) % OWN;
        struct block block = at(BASE + (slot * THREADS + me) * WINDOW);
        block.thread = me + 1;
        block.count = n;
        block.tick = n >> 5;
        if (counts[slot])
            bad += !take_out(block.address, &out) || out.count != counts[slot] ||
                   out.thread != me + 1 || out.tick != counts[slot] >> 5;
        bad += insert(&block, &old) != BLOCKS_NEW;
        counts[slot] = n;
    }
    return (void *)(uintptr_t)bad;
}

START_TEST(a_sweep_leaves_the_runs_of_threads_that_allocate_meanwhile)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, live_and_die, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        UNIT_WANT_MSG(!bad, "seed %" PRIu64 ", thread %d: %d went wrong", unit_seed, i,
                      (int)(intptr_t)bad);
    }
    ck_assert(blocks_check());
}
END_TEST

/* So many other blocks come and go before a removed one is asked about. */
START_TEST(the_origin_of_a_removed_block_is_right_or_unknown)
{
    bool right = false, unknown = false;
    struct block old, out, taken;
    for (uint32_t others = 1; others < 1u << 24; others *= 2) {
        struct origin origin;
        struct block block = at(BASE);
        block.thread = 3, block.count = 1000, block.tick = 77;
        UNIT_WANT(insert(&block, &old) == BLOCKS_NEW);
        UNIT_WANT(blocks_take(&unit_guard, BASE, &taken, &origin));
        for (uint32_t n = 0; n < others; n++) {
            struct block other = at(BASE + WINDOW);
            other.thread = 4, other.count = n, other.tick = n;
            UNIT_WANT(insert(&other, &old) == BLOCKS_NEW && take_out(other.address, &out));
        }
        bool told = blocks_tell_origin(&taken, &origin);
        right |= told, unknown |= !told;
        UNIT_WANT_MSG(told ? taken.thread == 3 && taken.count == 1000 && taken.tick == 77
                           : !taken.thread && !taken.count && !taken.tick,
                      "after %u others: %d, allocation %u of thread %u in tick %u", others, told,
                      taken.count, taken.thread, taken.tick);
    }
    ck_assert(right && unknown);
}
END_TEST

START_TEST(the_origin_of_a_block_of_the_open_table_stays_known)
{
    struct origin origin;
    struct block old, out, block = at(BASE);
    block.thread = 3, block.count = 1000, block.tick = 77;
    UNIT_WANT(blocks_insert(&unit_guard, NULL, &block, &old) == BLOCKS_NEW);
    UNIT_WANT(blocks_take(&unit_guard, BASE, &out, &origin));
    runs_state.sweeps++;
    ck_assert(blocks_tell_origin(&out, &origin));
    ck_assert(out.thread == 3 && out.count == 1000 && out.tick == 77);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("runs");
    TCase *lifetimes = tcase_create("lifetimes");
    tcase_set_timeout(lifetimes, 60);
    tcase_add_checked_fixture(lifetimes, start_blocks, NULL);
    tcase_add_loop_test(lifetimes,
                        every_live_block_keeps_its_identity_through_millions_of_allocations, 0,
                        ARRAY_LENGTH(lives));
    tcase_add_test(lifetimes, blocks_that_live_long_keep_their_runs);
    tcase_add_test(lifetimes, a_sweep_leaves_the_runs_of_threads_that_allocate_meanwhile);
    tcase_add_test(lifetimes, the_origin_of_a_removed_block_is_right_or_unknown);
    tcase_add_test(lifetimes, the_origin_of_a_block_of_the_open_table_stays_known);
    suite_add_tcase(suite, lifetimes);
    TCase *exhausted = tcase_create("exhausted");
    tcase_set_timeout(exhausted, 120);
    tcase_add_checked_fixture(exhausted, start_blocks, NULL);
    tcase_add_test(exhausted, without_memory_for_runs_blocks_go_to_the_open_table);
    tcase_add_test(exhausted, runs_come_back_when_their_blocks_have_gone);
    tcase_add_test(exhausted, when_all_runs_are_held_not_every_allocation_sweeps);
    tcase_add_test(exhausted, all_the_runs_there_can_be_are_used_and_then_the_open_table);
    suite_add_tcase(suite, exhausted);
    return unit_main(argc, argv, suite);
}
