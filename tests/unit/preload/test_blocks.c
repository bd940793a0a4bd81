/* test_blocks.c - the block table against a naive model: one array, looked through from the start. */
#include "tests/unit/preload/unit.h"
#include "preload/arena.h"
#include "preload/blocks.h"

#define BASE 0x7f0000000000ull

static struct block at(uintptr_t address)
{
    return (struct block){.address = address, .size = 100, .site = 1, .count = 1, .kind = 1, .thread = 1};
}

static bool same(const struct block *a, const struct block *b)
{
    return a->address == b->address && a->size == b->size && a->site == b->site &&
           a->count == b->count && a->tick == b->tick && a->thread == b->thread && a->kind == b->kind;
}

#define SHOW "address %#" PRIx64 " size %" PRIu64 " site %u count %u tick %u thread %u kind %u"
#define SHOWN(b)                                                                                   \
    (uint64_t)(b).address, (uint64_t)(b).size, (unsigned)(b).site, (unsigned)(b).count,            \
        (unsigned)(b).tick, (unsigned)(b).thread, (unsigned)(b).kind

static void setup(void)
{
    ck_assert_msg(blocks_start(), "no memory for the table");
}

/* ---- Each field at its limits ------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct block in;
    uint32_t tick; /* what comes out */
} fields[] = {
    {"a small block", {BASE, 1, 1, 1, 0, 1, 1}, 0},
    {"size 0", {BASE, 0, 1, 1, 0, 1, 1}, 0},
    {"the highest address", {0x7ffffffffff0ull, 1, 1, 1, 0, 1, 1}, 0},
    {"the lowest address", {16, 1, 1, 1, 0, 1, 1}, 0},
    {"2^36 - 3", {BASE, (1ull << 36) - 3, 1, 1, 0, 1, 1}, 0},
    {"2^36 - 2, the last that fits", {BASE, (1ull << 36) - 2, 1, 1, 0, 1, 1}, 0},
    {"2^36 - 1, the escape itself", {BASE, (1ull << 36) - 1, 1, 1, 0, 1, 1}, 0},
    {"2^36", {BASE, 1ull << 36, 1, 1, 0, 1, 1}, 0},
    {"2^36 + 1", {BASE, (1ull << 36) + 1, 1, 1, 0, 1, 1}, 0},
    {"the largest size there is", {BASE, UINT64_MAX, 1, 1, 0, 1, 1}, 0},
    {"the largest site", {BASE, 1, UINT32_MAX, 1, 0, 1, 1}, 0},
    {"the largest count", {BASE, 1, 1, UINT32_MAX, 0, 1, 1}, 0},
    {"the largest thread", {BASE, 1, 1, 1, 0, UINT16_MAX, 1}, 0},
    {"the largest kind", {BASE, 1, 1, 1, 0, 1, 15}, 0},
    {"everything at once",
     {0x7ffffffffff0ull, (1ull << 36) - 2, UINT32_MAX, UINT32_MAX, (1u << 24) - 1, UINT16_MAX, 15},
     (1u << 24) - 1},
    {"the last tick that fits", {BASE, 1, 1, 1, (1u << 24) - 1, 1, 1}, (1u << 24) - 1},
    {"a tick too late saturates", {BASE, 1, 1, 1, 1u << 24, 1, 1}, (1u << 24) - 1},
    {"the last tick of all saturates", {BASE, 1, 1, 1, UINT32_MAX, 1, 1}, (1u << 24) - 1},
};

START_TEST(every_field_comes_back_as_it_went_in)
{
    struct block want = fields[_i].in, old, out;
    want.tick = fields[_i].tick;
    ck_assert_int_eq(blocks_insert(&unit_guard, &fields[_i].in, &old), BLOCKS_NEW);
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert_msg(blocks_remove(&unit_guard, want.address, &out), "%s: not found", fields[_i].name);
    ck_assert_msg(same(&out, &want), "%s: wanted " SHOW ", got " SHOW, fields[_i].name, SHOWN(want),
                  SHOWN(out));
    ck_assert(!blocks_remove(&unit_guard, want.address, &out));
    ck_assert_uint_eq(blocks_count(), 0);
}
END_TEST

START_TEST(neighbours_of_a_block_are_not_the_block)
{
    struct block block = at(BASE + 4096), old, out;
    blocks_insert(&unit_guard, &block, &old);
    static const int64_t offsets[] = {-16, -8, -1, 1, 7, 8, 16, 1 << 20};
    for (size_t i = 0; i < ARRAY_LENGTH(offsets); i++)
        ck_assert_msg(!blocks_remove(&unit_guard, BASE + 4096 + offsets[i], &out),
                      "found a block %d bytes beside the one there is", (int)offsets[i]);
    ck_assert(blocks_remove(&unit_guard, BASE + 4096, &out));
}
END_TEST

/* ---- Replacing ------------------------------------------------------------------------------------- */

#define GIANT (5ull << 36)

static const struct {
    const char *name;
    uint64_t first, second;
} replacings[] = {
    {"small by small", 10, 20},
    {"small by giant", 10, GIANT},
    {"giant by small", GIANT, 10},
    {"giant by another giant", GIANT, GIANT + 5},
};

START_TEST(an_insert_over_an_address_replaces_and_says_what_was_there)
{
    struct block first = at(BASE), second = at(BASE), old, out;
    first.size = replacings[_i].first;
    second.size = replacings[_i].second;
    second.site = 2;
    blocks_insert(&unit_guard, &first, &old);
    ck_assert_int_eq(blocks_insert(&unit_guard, &second, &old), BLOCKS_REPLACED);
    ck_assert_msg(same(&old, &first), "%s: what was there: wanted " SHOW ", got " SHOW,
                  replacings[_i].name, SHOWN(first), SHOWN(old));
    ck_assert_uint_eq(blocks_count(), 1);
    ck_assert(blocks_remove(&unit_guard, BASE, &out));
    ck_assert_msg(same(&out, &second), "%s: what is there: wanted " SHOW ", got " SHOW,
                  replacings[_i].name, SHOWN(second), SHOWN(out));
}
END_TEST

START_TEST(giants_come_and_go_without_using_up_their_table)
{
    /* 256 rows: what is given back must be usable again, whichever way it went. */
    for (int round = 0; round < 2000; round++) {
        struct block giant = at(BASE + round * 4096), old, out;
        giant.size = GIANT + round;
        ck_assert_int_eq(blocks_insert(&unit_guard, &giant, &old), BLOCKS_NEW);
        struct block small = giant;
        small.size = 1;
        if (round % 2)
            ck_assert_int_eq(blocks_insert(&unit_guard, &small, &old), BLOCKS_REPLACED);
        ck_assert(blocks_remove(&unit_guard, giant.address, &out));
        ck_assert_msg(out.size == (round % 2 ? 1 : giant.size), "round %d: got size %" PRIu64, round,
                      out.size);
    }
}
END_TEST

START_TEST(more_giants_than_rows_count_as_the_largest_size_that_fits)
{
    struct block old, out;
    for (int i = 0; i < 300; i++) {
        struct block giant = at(BASE + i * 4096);
        giant.size = GIANT + i;
        ck_assert_int_eq(blocks_insert(&unit_guard, &giant, &old), BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    for (int i = 0; i < 300; i++) {
        ck_assert(blocks_remove(&unit_guard, BASE + i * 4096, &out));
        uint64_t want = i < 256 ? GIANT + i : (1ull << 36) - 1;
        ck_assert_msg(out.size == want, "giant %d: wanted %" PRIu64 ", got %" PRIu64, i, want, out.size);
    }
}
END_TEST

/* ---- The model -------------------------------------------------------------------------------------- */

#define MODEL 4096

static struct block model[MODEL];
static unsigned modelled;

static unsigned model_find(uintptr_t address)
{
    unsigned i = 0;
    while (i < modelled && model[i].address != address)
        i++;
    return i;
}

static struct block random_block(uint64_t *state, unsigned places)
{
    static const uint64_t sizes[] = {0, 1, (1ull << 36) - 2, (1ull << 36) - 1, 1ull << 36, 1ull << 46};
    struct block block = {.address = BASE + unit_random(state) % places * 16,
                          .size = unit_random(state) % 100000,
                          .site = unit_random(state),
                          .count = unit_random(state),
                          .tick = unit_random(state) & 0xffffff,
                          .thread = unit_random(state),
                          .kind = unit_random(state) & 15};
    if (unit_random(state) % 200 == 0)
        block.size = sizes[unit_random(state) % ARRAY_LENGTH(sizes)];
    return block;
}

/* How far the model may fill, and how much each address is apart: dense and sparse heaps. */
static const struct {
    unsigned places, operations;
} loads[] = {{64, 300000}, {700, 200000}, {3000, 60000}};

static void visit(const struct block *block, void *context)
{
    unsigned at_model = model_find(block->address);
    ck_assert_msg(at_model < modelled && same(block, &model[at_model]), "seed %" PRIu64 ": visited " SHOW,
                  unit_seed, SHOWN(*block));
    ++*(unsigned *)context;
}

START_TEST(random_operations_agree_with_a_naive_model)
{
    uint64_t state = unit_seed + (uint64_t)_i;
    for (unsigned n = 0; n < loads[_i].operations; n++) {
        struct block block = random_block(&state, loads[_i].places), got;
        unsigned known = model_find(block.address);
        if (unit_random(&state) % 2) {
            enum blocks_insert done = blocks_insert(&unit_guard, &block, &got);
            ck_assert_msg(done == (known < modelled ? BLOCKS_REPLACED : BLOCKS_NEW),
                          "seed %" PRIu64 " operation %u: insert answers %d", unit_seed, n, done);
            if (known < modelled)
                ck_assert_msg(same(&got, &model[known]),
                              "seed %" PRIu64 " operation %u: replaced: wanted " SHOW ", got " SHOW,
                              unit_seed, n, SHOWN(model[known]), SHOWN(got));
            else
                modelled++;
            model[known] = block;
        } else {
            bool found = blocks_remove(&unit_guard, block.address, &got);
            ck_assert_msg(found == (known < modelled), "seed %" PRIu64 " operation %u: remove answers %d",
                          unit_seed, n, found);
            if (found) {
                ck_assert_msg(same(&got, &model[known]),
                              "seed %" PRIu64 " operation %u: removed: wanted " SHOW ", got " SHOW,
                              unit_seed, n, SHOWN(model[known]), SHOWN(got));
                model[known] = model[--modelled];
            }
        }
        if (n % 10000 == 0) {
            ck_assert_msg(blocks_check(), "seed %" PRIu64 " operation %u: invariant", unit_seed, n);
            ck_assert_uint_eq(blocks_count(), modelled);
        }
    }
    unsigned visited = 0;
    blocks_each(visit, &visited);
    ck_assert_uint_eq(visited, modelled);
    ck_assert(blocks_check());
}
END_TEST

/* A model for many: the address says what the block must be. */
static struct block derived(uint64_t n)
{
    uint64_t mixed = hash_u64(n + 7);
    return (struct block){.address = BASE + n * 32,
                          .size = mixed & 0xffff,
                          .site = mixed >> 16,
                          .count = n,
                          .tick = mixed >> 40 & 0xffffff,
                          .thread = mixed >> 8,
                          .kind = mixed & 15};
}

START_TEST(a_million_random_operations_on_a_growing_table)
{
    enum { PLACES = 400000, OPERATIONS = 1000000 };
    static uint8_t live[PLACES];
    uint64_t state = unit_seed, count = 0;
    for (unsigned n = 0; n < OPERATIONS; n++) {
        /* Two thirds insertions at first, two thirds removals in the end. */
        unsigned place = unit_random(&state) % PLACES, odds = n < OPERATIONS / 2 ? 2 : 1;
        bool insert = unit_random(&state) % 3 < odds;
        struct block want = derived(place), got;
        if (insert) {
            enum blocks_insert done = blocks_insert(&unit_guard, &want, &got);
            ck_assert_msg(done == (live[place] ? BLOCKS_REPLACED : BLOCKS_NEW) &&
                              (!live[place] || same(&got, &want)),
                          "seed %" PRIu64 " operation %u", unit_seed, n);
            count += !live[place];
        } else {
            bool found = blocks_remove(&unit_guard, want.address, &got);
            ck_assert_msg(found == live[place] && (!found || same(&got, &want)),
                          "seed %" PRIu64 " operation %u", unit_seed, n);
            count -= found;
        }
        live[place] = insert;
        if (n % 100000 == 0)
            ck_assert_msg(blocks_check() && blocks_count() == count,
                          "seed %" PRIu64 " operation %u: invariant", unit_seed, n);
    }
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), count);
}
END_TEST

/* ---- Growth ------------------------------------------------------------------------------------------ */

START_TEST(growth_keeps_every_block_and_stays_dense)
{
    enum { BLOCKS = 300000 };
    struct block old, out;
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block block = derived(n);
        ck_assert_int_eq(blocks_insert(&unit_guard, &block, &old), BLOCKS_NEW);
    }
    ck_assert(blocks_check());
    ck_assert_uint_eq(blocks_count(), BLOCKS);
    ck_assert_msg(arena_used() < BLOCKS * 45ull, "%" PRIu64 " bytes for %d blocks", arena_used(), BLOCKS);
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block want = derived(n);
        ck_assert_msg(blocks_remove(&unit_guard, want.address, &out) && same(&out, &want),
                      "block %" PRIu64 " is lost", n);
    }
    ck_assert_uint_eq(blocks_count(), 0);
    ck_assert(blocks_check());
}
END_TEST

START_TEST(without_memory_an_insert_says_so_and_the_table_stays_whole)
{
    arena_limit(arena_used() + 64 * 1024);
    struct block old, out;
    uint64_t kept = 0, refused = 0;
    for (uint64_t n = 0; n < 100000; n++) {
        struct block block = derived(n);
        enum blocks_insert done = blocks_insert(&unit_guard, &block, &old);
        ck_assert(done == BLOCKS_NEW || done == BLOCKS_NO_MEMORY);
        kept += done == BLOCKS_NEW;
        refused += done == BLOCKS_NO_MEMORY;
    }
    ck_assert(kept > 0 && refused > 0);
    ck_assert_uint_eq(blocks_count(), kept);
    ck_assert(blocks_check());
    ck_assert_msg(arena_used() <= 256 * 4096 + 64 * 1024 + 4096, "used %" PRIu64, arena_used());
    uint64_t found = 0;
    for (uint64_t n = 0; n < 100000; n++)
        found += blocks_remove(&unit_guard, derived(n).address, &out);
    ck_assert_uint_eq(found, kept);
}
END_TEST

START_TEST(a_giant_without_memory_leaves_no_row_behind)
{
    /* Fill one stripe until it refuses; then giants that are refused must not use up the rows. */
    struct block old, out;
    arena_limit(arena_used());
    uint64_t refused_at = 0;
    for (uint64_t n = 0; !refused_at; n++) {
        struct block block = derived(n);
        if (blocks_insert(&unit_guard, &block, &old) == BLOCKS_NO_MEMORY)
            refused_at = n;
    }
    for (int i = 0; i < 1000; i++) {
        struct block giant = derived(refused_at);
        giant.size = GIANT;
        ck_assert_int_eq(blocks_insert(&unit_guard, &giant, &old), BLOCKS_NO_MEMORY);
    }
    arena_limit(0);
    struct block giant = at(BASE - 4096);
    giant.size = GIANT;
    blocks_insert(&unit_guard, &giant, &old);
    ck_assert(blocks_remove(&unit_guard, giant.address, &out));
    ck_assert_msg(out.size == GIANT, "wanted %llu, got %" PRIu64, GIANT, out.size);
}
END_TEST

/* ---- Threads ----------------------------------------------------------------------------------------- */

#define THREADS 4
#define EACH 60000

/* Each thread owns addresses of its own, all of them spread over the same stripes. */
static void *churn(void *argument)
{
    uint64_t me = (uintptr_t)argument, bad = 0;
    uint64_t state = unit_seed + me;
    struct block got;
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t n = me; n < EACH; n += THREADS) {
            struct block block = derived(n);
            bad += blocks_insert(&unit_guard, &block, &got) != BLOCKS_NEW;
            if (unit_random(&state) % 4 == 0) {
                bad += !blocks_remove(&unit_guard, block.address, &got) || !same(&got, &block);
                bad += blocks_insert(&unit_guard, &block, &got) != BLOCKS_NEW;
            }
        }
        for (uint64_t n = me; n < EACH; n += THREADS) {
            struct block block = derived(n);
            if (round == 2 && n % 2)
                continue;
            bad += !blocks_remove(&unit_guard, block.address, &got) || !same(&got, &block);
        }
    }
    return (void *)(uintptr_t)bad;
}

START_TEST(threads_do_not_lose_each_others_blocks)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        ck_assert_msg(!bad, "thread %d: %d operations went wrong", i, (int)(intptr_t)bad);
    }
    ck_assert_uint_eq(blocks_count(), EACH / 2);
    ck_assert(blocks_check());
}
END_TEST

/* ---- Fork -------------------------------------------------------------------------------------------- */

START_TEST(a_fork_child_owns_a_copy)
{
    struct block old, out;
    for (uint64_t n = 0; n < 1000; n++) {
        struct block block = derived(n);
        blocks_insert(&unit_guard, &block, &old);
    }
    blocks_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        blocks_fork_child();
        bool good = blocks_check() && blocks_count() == 1000;
        for (uint64_t n = 0; n < 1000; n++)
            good = good && blocks_remove(&unit_guard, derived(n).address, &out);
        _exit(!good);
    }
    blocks_fork_unlock();
    int status;
    waitpid(pid, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(blocks_count(), 1000);
    ck_assert(blocks_remove(&unit_guard, derived(999).address, &out));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("blocks");
    TCase *entries = tcase_create("entries");
    tcase_add_checked_fixture(entries, setup, NULL);
    tcase_add_loop_test(entries, every_field_comes_back_as_it_went_in, 0, ARRAY_LENGTH(fields));
    tcase_add_test(entries, neighbours_of_a_block_are_not_the_block);
    tcase_add_loop_test(entries, an_insert_over_an_address_replaces_and_says_what_was_there, 0,
                        ARRAY_LENGTH(replacings));
    tcase_add_test(entries, giants_come_and_go_without_using_up_their_table);
    tcase_add_test(entries, more_giants_than_rows_count_as_the_largest_size_that_fits);
    suite_add_tcase(suite, entries);
    TCase *table = tcase_create("model");
    tcase_set_timeout(table, 120);
    tcase_add_checked_fixture(table, setup, NULL);
    tcase_add_loop_test(table, random_operations_agree_with_a_naive_model, 0, ARRAY_LENGTH(loads));
    tcase_add_test(table, a_million_random_operations_on_a_growing_table);
    suite_add_tcase(suite, table);
    TCase *growth = tcase_create("growth");
    tcase_set_timeout(growth, 60);
    tcase_add_checked_fixture(growth, setup, NULL);
    tcase_add_test(growth, growth_keeps_every_block_and_stays_dense);
    tcase_add_test(growth, without_memory_an_insert_says_so_and_the_table_stays_whole);
    tcase_add_test(growth, a_giant_without_memory_leaves_no_row_behind);
    suite_add_tcase(suite, growth);
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 60);
    tcase_add_checked_fixture(threads, setup, NULL);
    tcase_add_test(threads, threads_do_not_lose_each_others_blocks);
    tcase_add_test(threads, a_fork_child_owns_a_copy);
    suite_add_tcase(suite, threads);
    return unit_main(argc, argv, suite);
}
