/* test_open_table.c - regions and trays of the open table: they grow, shrink, and take few bytes. */
#include "tests/unit/preload/some_blocks.h"

enum { GRANULES = REGION / 8 };

static void add(uintptr_t address, uint32_t count)
{
    struct block block = at(address);
    block.count = count;
    UNIT_WANT(table_insert(&block));
}

static void shuffle(uint16_t *order, unsigned count, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned other = unit_random(state) % i;
        uint16_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* From one block to all 256 that fit, in any order; what is not there is not found. */
START_TEST(a_region_holds_any_number_of_blocks)
{
    uint64_t state = unit_seed;
    uint16_t order[GRANULES];
    struct block out;
    for (unsigned count = 1; count <= GRANULES; count += count < 20 ? 1 : 7 + count % 5) {
        shuffle(order, GRANULES, &state);
        for (unsigned i = 0; i < count; i++)
            add(BASE + order[i] * 8, i);
        ck_assert_uint_eq(table_count(), count);
        UNIT_WANT_MSG(table_check(), "seed %" PRIu64 ": %u blocks in a region", unit_seed, count);
        for (unsigned i = 0; i < GRANULES; i++) {
            unsigned from = (i * 97 + count) % GRANULES;
            bool found = table_remove(BASE + order[from] * 8, &out);
            UNIT_WANT_MSG(found == (from < count) && (!found || out.count == from),
                          "seed %" PRIu64 ": place %u of %u: found %d, block %u", unit_seed, from,
                          count, found, found ? out.count : 0);
            if (i == GRANULES / 2)
                UNIT_WANT(table_check());
        }
        ck_assert_uint_eq(table_count(), 0);
    }
}
END_TEST

/* What a region held at its fullest serves others once it is nearly empty. */
START_TEST(a_region_that_has_become_small_gives_its_memory_back)
{
    struct block out;
    uint64_t before = arena_used();
    for (uint64_t region = 0; region < 1000; region++) {
        for (unsigned i = 0; i < GRANULES; i++)
            add(BASE + region * REGION + i * 8, i);
        for (unsigned i = 0; i < GRANULES; i++)
            if (i % 100 != 50)
                UNIT_WANT(table_remove(BASE + region * REGION + i * 8, &out));
    }
    ck_assert_uint_eq(table_count(), 3 * 1000);
    ck_assert(table_check());
    uint64_t took = arena_used() - before;
    UNIT_WANT_MSG(took < 1 << 20, "%" PRIu64 " bytes for 3000 blocks", took);
    for (uint64_t region = 0; region < 1000; region++)
        UNIT_WANT(table_remove(BASE + region * REGION + 50 * 8, &out));
}
END_TEST

/* A heap that moves on and on: only what is there now takes memory. */
START_TEST(regions_that_have_become_empty_are_no_reason_to_grow)
{
    enum { LIVE = 300 };
    struct block out;
    for (uint64_t n = 0; n < 300000; n++) {
        add(BASE + n * REGION, n);
        if (n >= LIVE)
            UNIT_WANT(table_remove(BASE + (n - LIVE) * REGION, &out));
    }
    ck_assert_uint_eq(table_count(), LIVE);
    ck_assert(table_check());
    UNIT_WANT_MSG(arena_used() <= 64 * 4096 + 6 * (64 << 10), "%" PRIu64 " bytes for %d blocks",
                  arena_used(), LIVE);
}
END_TEST

/* Neighbours share a line: a program that uses only some of each four must not fill a part of it.
 */
static const unsigned strides[] = {1, 2, 3, 4, 8, 64, 1024};

START_TEST(regions_at_any_distance_find_their_places)
{
    enum { REGIONS = 60000 };
    struct block out;
    uint64_t apart = strides[_i] * REGION, before = arena_used();
    for (uint64_t n = 0; n < REGIONS; n++)
        add(BASE + n * apart, n);
    ck_assert(table_check());
    uint64_t each = (arena_used() - before) / REGIONS;
    ck_assert_msg(each <= 72, "%" PRIu64 " bytes a region of one block", each);
    for (uint64_t n = 0; n < REGIONS; n++)
        UNIT_WANT(table_remove(BASE + n * apart, &out));
    ck_assert_uint_eq(table_count(), 0);
}
END_TEST

START_TEST(growth_keeps_every_block)
{
    enum { BLOCKS = 300000 };
    struct block out;
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block block = derived(n);
        UNIT_WANT(table_insert(&block));
    }
    ck_assert(table_check());
    ck_assert_uint_eq(table_count(), BLOCKS);
    for (uint64_t n = 0; n < BLOCKS; n++) {
        struct block want = derived(n);
        UNIT_WANT_MSG(table_remove(want.address, &out) && same(&out, &want),
                      "block %" PRIu64 " is lost", n);
    }
    ck_assert_uint_eq(table_count(), 0);
    ck_assert(table_check());
}
END_TEST

/* Bytes from one block to the next, as glibc's malloc lays them. */
static const struct {
    const char *name;
    unsigned least, most;
} heaps[] = {{"the smallest blocks", 32, 32},
             {"nodes of a list", 48, 48},
             {"small blocks", 32, 128},
             {"all sizes to 1 KiB", 32, 1024}};

START_TEST(a_live_block_takes_at_most_36_bytes)
{
    enum { BLOCKS = 500000 };
    uint64_t state = unit_seed;
    uintptr_t address = BASE;
    double sum = 0;
    unsigned samples = 0;
    for (unsigned n = 1; n <= BLOCKS; n++) {
        unsigned range = (heaps[_i].most - heaps[_i].least) / 16 + 1;
        add(address, n);
        address += heaps[_i].least + unit_random(&state) % range * 16;
        if (n >= BLOCKS / 4 && n % 1000 == 0) {
            sum += (double)arena_used() / n;
            samples++;
        }
    }
    UNIT_WANT_MSG(sum / samples <= 36, "seed %" PRIu64 ": %s take %.1f bytes", unit_seed,
                  heaps[_i].name, sum / samples);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("open_table");
    TCase *regions = tcase_create("regions");
    tcase_set_timeout(regions, 60);
    tcase_add_checked_fixture(regions, start_blocks, NULL);
    tcase_add_test(regions, a_region_holds_any_number_of_blocks);
    tcase_add_test(regions, a_region_that_has_become_small_gives_its_memory_back);
    tcase_add_test(regions, regions_that_have_become_empty_are_no_reason_to_grow);
    tcase_add_loop_test(regions, regions_at_any_distance_find_their_places, 0,
                        ARRAY_LENGTH(strides));
    suite_add_tcase(suite, regions);
    TCase *growth = tcase_create("growth");
    tcase_set_timeout(growth, 60);
    tcase_add_checked_fixture(growth, start_blocks, NULL);
    tcase_add_test(growth, growth_keeps_every_block);
    tcase_add_loop_test(growth, a_live_block_takes_at_most_36_bytes, 0, ARRAY_LENGTH(heaps));
    suite_add_tcase(suite, growth);
    return unit_main(argc, argv, suite);
}
