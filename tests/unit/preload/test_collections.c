/* test_collections.c - binary search finds the boundary that a linear search finds; a growable array
 * keeps its records in place. (test_range_set.c and test_downsample.c test the rest.) */
#include "tests/unit/preload/unit.h"
#include "preload/memory/collections.h"

START_TEST(the_lower_bound_is_where_the_condition_first_fails)
{
    static uint64_t sorted[40];
    uint64_t state = unit_seed;
    for (unsigned round = 0; round < 2000; round++) {
        size_t count = unit_random(&state) % (ARRAY_LENGTH(sorted) + 1), want = 0;
        uint64_t value = 0, key = unit_random(&state) % 60;
        for (size_t i = 0; i < count; i++)
            sorted[i] = value += unit_random(&state) % 3; /* equal ones among them */
        while (want < count && sorted[want] < key)
            want++;
        UNIT_WANT_MSG(LOWER_BOUND(count, i, sorted[i] < key) == want,
                      "seed %" PRIu64 " round %u: wanted %zu", unit_seed, round, want);
    }
}
END_TEST

START_TEST(the_lower_bound_of_nothing_is_nothing)
{
    size_t asked = 0;
    ck_assert_uint_eq(LOWER_BOUND((size_t)0, i, (asked += 1 + i, true)), 0);
    ck_assert_uint_eq(asked, 0);
    ck_assert_uint_eq(LOWER_BOUND((size_t)7, i, true), 7);
    ck_assert_uint_eq(LOWER_BOUND((size_t)7, i, false), 0);
}
END_TEST

START_TEST(a_growable_array_stays_where_it_is_until_it_is_full)
{
    struct growable_array array;
    ck_assert(growable_array_map(&array, sizeof(uint64_t), 1000));
    uint64_t *first = growable_array_add(&array);
    ck_assert_ptr_nonnull(first);
    ck_assert_uint_eq(*first, 0);
    *first = 17;
    ck_assert_ptr_null(growable_array_add_many(&array, 1000));
    ck_assert_ptr_eq(growable_array_add_many(&array, 998), first + 1);
    ck_assert_ptr_eq(growable_array_add(&array), first + 999);
    ck_assert_ptr_null(growable_array_add(&array));
    ck_assert_uint_eq(*first, 17);
    ck_assert_uint_eq(array.count, 1000);
    growable_array_unmap(&array);
    ck_assert_uint_eq(array.count, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("containers");
    TCase *all = tcase_create("containers");
    tcase_add_test(all, the_lower_bound_is_where_the_condition_first_fails);
    tcase_add_test(all, the_lower_bound_of_nothing_is_nothing);
    tcase_add_test(all, a_growable_array_stays_where_it_is_until_it_is_full);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
