/* test_breaks.c - the serials of break_at=, and which allocation of a thread is waited for next. */
#include "tests/unit/preload/unit.h"
#include "preload/misuse/alloc_watch.h"
#include "preload/contexts/unwind_check.h"

static const struct {
    const char *option;
    bool good;
} options[] = {
    {"", true},
    {"T1#1", true},
    {"T1#4213,T2#7", true},
    {"T1#4213=stop", true},
    {"T1#1=print,T1#2=trap,T1#3=abort", true},
    {"T1#5,", true},
    {"T4294967295#4294967295", true},
    {"T1#4294967296", false},
    {"T4294967296#1", false},
    {"4213", false},
    {"T1", false},
    {"T1#", false},
    {"T#1", false},
    {"T0#1", false},
    {"T1#0", false},
    {"T1#-1", false},
    {"T1# 1", false},
    {"T1#1=", false},
    {"T1#1=report", false},
    {"T1#1=stopp", false},
    {"T1=stop", false},
    {"=T1#1", false},
    {",T1#1", false},
    {"t1#1", false},
    {"T1#1 ", false},
};

START_TEST(a_list_of_serials_is_read_whole_or_not_at_all)
{
    const char *option = options[_i].option;
    size_t length = strlen(option);
    char *copy = malloc(length + 1); /* nothing stands behind it */
    memcpy(copy, option, length);
    ck_assert_msg(break_at_parse(copy, length) == options[_i].good, "\"%s\"", option);
    ck_assert_msg(break_at_is_set() == (options[_i].good && length), "\"%s\"", option);
    free(copy);
}
END_TEST

START_TEST(sixty_four_serials_fit)
{
    char list[1024] = "";
    for (int i = 1; i <= 64; i++)
        sprintf(list + strlen(list), "%sT1#%d", i > 1 ? "," : "", i);
    ck_assert(break_at_parse(list, strlen(list)));
    ck_assert_uint_eq(break_at_next(1, 63), 64);
    strcat(list, ",T1#65");
    ck_assert(!break_at_parse(list, strlen(list)));
    ck_assert(!break_at_is_set());
}
END_TEST

START_TEST(the_next_one_of_a_thread_is_its_own_and_comes_later)
{
    ck_assert(break_at_parse("T2#7,T1#30,T1#10,T1#20,T3#1", 27));
    ck_assert_uint_eq(break_at_next(1, 0), 10);
    ck_assert_uint_eq(break_at_next(1, 9), 10);
    ck_assert_uint_eq(break_at_next(1, 10), 20);
    ck_assert_uint_eq(break_at_next(1, 25), 30);
    ck_assert_uint_eq(break_at_next(1, 30), 0);
    ck_assert_uint_eq(break_at_next(2, 0), 7);
    ck_assert_uint_eq(break_at_next(2, 7), 0);
    ck_assert_uint_eq(break_at_next(4, 0), 0);
}
END_TEST

START_TEST(every_nth_stack_is_waited_for)
{
    ck_assert_uint_eq(unwind_check_next(5), 0);
    options_current.unwind_check = 1;
    ck_assert_uint_eq(unwind_check_next(0), 1);
    ck_assert_uint_eq(unwind_check_next(41), 42);
    options_current.unwind_check = 10;
    ck_assert_uint_eq(unwind_check_next(0), 10);
    ck_assert_uint_eq(unwind_check_next(9), 10);
    ck_assert_uint_eq(unwind_check_next(10), 20);
    ck_assert(unwind_check_is_due(20) && !unwind_check_is_due(19) && !unwind_check_is_due(21));
    options_current.unwind_check = 1ull << 40;
    ck_assert_uint_eq(unwind_check_next(7), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("breaks");
    TCase *all = tcase_create("breaks");
    tcase_add_loop_test(all, a_list_of_serials_is_read_whole_or_not_at_all, 0,
                        ARRAY_LENGTH(options));
    tcase_add_test(all, sixty_four_serials_fit);
    tcase_add_test(all, the_next_one_of_a_thread_is_its_own_and_comes_later);
    tcase_add_test(all, every_nth_stack_is_waited_for);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
