/* test_counters.c - changes between two times, and how they are written in a column. */
#include <check.h>
#include <string.h>

#include "tests/unit/suite.h"
#include "top/listing.h"
#include "top/counters.h"

static struct counter_baseline baseline_of(double time, struct counters counted)
{
    return counter_baseline_copy(time, counted, &counted, 1);
}

START_TEST(rates_are_by_the_time_that_passed)
{
    struct counter_baseline before = baseline_of(10, (struct counters){1000, 10, 100, 90});
    struct counters now = {4000, 40, 140, 100};
    struct counter_delta delta = counter_delta_of(&before, 0, &now, 12);

    ck_assert(delta.known);
    ck_assert_int_eq(delta.bytes, 3000);
    ck_assert_double_eq(delta.allocs, 20);
    ck_assert_double_eq(delta.frees, 5);
    counter_baseline_free(&before);
}
END_TEST

START_TEST(what_was_given_back_is_a_change_below_nothing)
{
    struct counter_baseline before = baseline_of(1, (struct counters){1000, 10, 10, 0});
    struct counters now = {0, 0, 10, 10};

    ck_assert_int_eq(counter_delta_of(&before, 0, &now, 2).bytes, -1000);
    ck_assert_int_eq(counter_delta_of_total(&before, &now, 2).bytes, -1000);
    counter_baseline_free(&before);
}
END_TEST

START_TEST(a_site_that_came_was_nothing_before)
{
    struct counter_baseline before = baseline_of(1, (struct counters){1000, 10, 10, 0});
    struct counters now = {500, 5, 6, 1};
    struct counter_delta delta = counter_delta_of(&before, 1, &now, 2);

    ck_assert(delta.known);
    ck_assert_int_eq(delta.bytes, 500);
    ck_assert_double_eq(delta.allocs, 6);
    counter_baseline_free(&before);
}
END_TEST

START_TEST(sums_that_go_back_are_no_events)
{
    struct counter_baseline before = baseline_of(1, (struct counters){1000, 10, 100, 90});
    struct counters now = {1000, 10, 99, 89};
    struct counter_delta delta = counter_delta_of(&before, 0, &now, 2);

    ck_assert_double_eq(delta.allocs, 0);
    ck_assert_double_eq(delta.frees, 0);
    counter_baseline_free(&before);
}
END_TEST

START_TEST(without_time_between_them_nothing_is_known)
{
    struct counter_baseline before = baseline_of(5, (struct counters){1000, 10, 10, 0});
    struct counters now = {2000, 20, 20, 0};

    ck_assert(!counter_delta_of(&before, 0, &now, 5).known);
    ck_assert(!counter_delta_of(&before, 0, &now, 4).known);
    ck_assert(counter_delta_of(&before, 0, &now, 5.5).known);
    counter_baseline_free(&before);
}
END_TEST

static const struct {
    uint64_t bytes;
    const char *cell;
} sizes[] = {{0, "0 B"},         {9999, "9999 B"},      {10000, "10 kB"},
             {999499, "999 kB"}, {999500, "1.0 MB"},    {9949999, "9.9 MB"},
             {9950000, "10 MB"}, {999500000, "1.0 GB"}, {UINT64_MAX, "18447 PB"}};

START_TEST(sizes_have_three_digits_and_a_unit)
{
    char cell[CELL_SIZE];

    ck_assert_str_eq(cell_bytes(sizes[_i].bytes, cell), sizes[_i].cell);
}
END_TEST

START_TEST(changes_have_a_sign)
{
    char cell[CELL_SIZE];

    ck_assert_str_eq(cell_delta(true, 12000, cell), "+12 kB");
    ck_assert_str_eq(cell_delta(true, -12000, cell), "-12 kB");
    ck_assert_str_eq(cell_delta(true, 0, cell), "0");
    ck_assert_str_eq(cell_delta(false, 12000, cell), "-");
    ck_assert_str_eq(cell_delta(true, INT64_MIN, cell), "-9223 PB");
}
END_TEST

START_TEST(rates_fit_their_column)
{
    char cell[CELL_SIZE];

    ck_assert_str_eq(cell_rate(true, 0, cell), "0");
    ck_assert_str_eq(cell_rate(true, 0.25, cell), "0.2");
    ck_assert_str_eq(cell_rate(true, 9999.4, cell), "9999");
    ck_assert_str_eq(cell_rate(true, 5e6, cell), "5.0M");
    ck_assert_str_eq(cell_rate(false, 5e6, cell), "-");
    ck_assert_str_eq(cell_share(1, 3, cell), "33.3");
    ck_assert_str_eq(cell_share(3, 3, cell), "100");
    ck_assert_str_eq(cell_share(0, 0, cell), "0.0");
}
END_TEST

START_TEST(bars_go_from_nothing_to_the_largest)
{
    static const uint64_t values[] = {0, 50, 100}, nothing[] = {0, 0};
    char text[3 * 3 + 1];

    cell_bars(values, 3, true, text);
    ck_assert_str_eq(text, "▁▄█");
    cell_bars(values, 3, false, text);
    ck_assert_str_eq(text, "_-#");
    cell_bars(nothing, 2, false, text);
    ck_assert_str_eq(text, "__");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *changes = tcase_create("changes"), *cells = tcase_create("cells");

    tcase_add_test(changes, rates_are_by_the_time_that_passed);
    tcase_add_test(changes, what_was_given_back_is_a_change_below_nothing);
    tcase_add_test(changes, a_site_that_came_was_nothing_before);
    tcase_add_test(changes, sums_that_go_back_are_no_events);
    tcase_add_test(changes, without_time_between_them_nothing_is_known);
    tcase_add_loop_test(cells, sizes_have_three_digits_and_a_unit, 0, ROWS(sizes));
    tcase_add_test(cells, changes_have_a_sign);
    tcase_add_test(cells, rates_fit_their_column);
    tcase_add_test(cells, bars_go_from_nothing_to_the_largest);
    suite_add_tcase(suite, changes);
    suite_add_tcase(suite, cells);
    return suite_run(suite);
}
