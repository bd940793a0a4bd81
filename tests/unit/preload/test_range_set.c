/* test_range_set.c - ranges of addresses against a map of every page. */
#include "tests/unit/preload/unit.h"
#include "preload/memory/collections.h"

#define PAGES 64
#define ROOM 64

static struct range space[ROOM];
static struct range_set ranges = {.at = space, .room = ROOM};

/* The naive one: whose page is it? And how many pages each name has been told it has left. */
static uint32_t owner[PAGES];
static size_t told[4096];
static uint32_t last_name;

static uint32_t left(const struct range *was, const struct range *below, const struct range *above,
                     void *context)
{
    size_t low = below->end > below->start ? below->end - below->start : 0;
    size_t high = above->end > above->start ? above->end - above->start : 0;
    UNIT_WANT(context == told);
    if (!low || !high) {
        told[was->number] = low + high;
        return 0;
    }
    told[was->number] = low;
    told[++last_name] = high;
    for (uintptr_t page = above->start; page < above->end; page++)
        owner[page] = last_name;
    return last_name;
}

static void agree(int step)
{
    size_t pages[4096] = {0};
    UNIT_WANT_MSG(range_set_check(&ranges), "seed %" PRIu64 " step %d: not in order", unit_seed,
                  step);
    for (uintptr_t page = 0; page < PAGES; page++) {
        const struct range *range = range_set_find(&ranges, page);
        UNIT_WANT_MSG((range ? range->number : 0) == owner[page],
                      "seed %" PRIu64 " step %d page %d", unit_seed, step, (int)page);
        pages[owner[page]]++;
    }
    for (uint32_t name = 1; name <= last_name; name++)
        UNIT_WANT_MSG(pages[name] == told[name], "seed %" PRIu64 " step %d: %u has %zu, told %zu",
                      unit_seed, step, name, pages[name], told[name]);
}

START_TEST(cuts_and_puts_agree_with_a_map_of_every_page)
{
    uint64_t state = unit_seed;
    for (int step = 0; step < 1500; step++) {
        uintptr_t start = unit_random(&state) % PAGES;
        uintptr_t end = start + 1 + unit_random(&state) % (PAGES - start);
        range_set_cut(&ranges, start, end, left, told);
        for (uintptr_t page = start; page < end; page++)
            owner[page] = 0;
        if (unit_random(&state) % 2) {
            ck_assert(range_set_insert(&ranges, start, end, ++last_name));
            told[last_name] = end - start;
            for (uintptr_t page = start; page < end; page++)
                owner[page] = last_name;
        }
        agree(step);
    }
    ck_assert_uint_gt(last_name, 700);
}
END_TEST

START_TEST(an_empty_cut_cuts_nothing)
{
    ck_assert(range_set_insert(&ranges, 8, 16, 1));
    told[1] = 8;
    range_set_cut(&ranges, 12, 12, left, told);
    range_set_cut(&ranges, 16, 64, left, told);
    range_set_cut(&ranges, 0, 8, left, told);
    ck_assert_uint_eq(ranges.count, 1);
    ck_assert_uint_eq(told[1], 8);
}
END_TEST

START_TEST(without_room_a_split_keeps_its_lower_part)
{
    for (uint32_t i = 0; i < ROOM; i++)
        ck_assert(range_set_insert(&ranges, i * 10, i * 10 + 9, i + 1));
    ck_assert(!range_set_insert(&ranges, 10000, 10001, 99));
    range_set_cut(&ranges, 13, 15, left, told);
    ck_assert(range_set_check(&ranges));
    ck_assert_uint_eq(told[2], 3);
    ck_assert_uint_eq(last_name, 0);
    ck_assert_ptr_null(range_set_find(&ranges, 16));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("ranges");
    TCase *all = tcase_create("ranges");
    tcase_add_test(all, cuts_and_puts_agree_with_a_map_of_every_page);
    tcase_add_test(all, an_empty_cut_cuts_nothing);
    tcase_add_test(all, without_room_a_split_keeps_its_lower_part);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
