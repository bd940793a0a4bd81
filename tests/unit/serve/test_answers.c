/* test_answers.c - what an address means; and the marks that a page of differences begins at. */
#include <check.h>

#include "serve/answers.h"
#include "tests/unit/suite.h"

static const struct {
    const char *path;
    enum route route;
    pid_t pid;
    enum job_kind report;
} path_rows[] = {
    {"/", ROUTE_PROCESSES, 0, 0},
    {"/metrics", ROUTE_METRICS, 0, 0},
    {"/style.css", ROUTE_STYLE, 0, 0},
    {"/debug/pprof/", ROUTE_PROCESSES, 0, 0},
    {"/debug/pprof/heap", ROUTE_REPORT, 0, REPORT_HEAP},
    {"/debug/pprof/allocs", ROUTE_REPORT, 0, REPORT_ALLOCS},
    {"/process/42", ROUTE_GROWTH, 42, 0},
    {"/process/42/diff", ROUTE_DIFFERENCE, 42, 0},
    {"/process/42/look", ROUTE_LOOK, 42, 0},
    {"/process/42/mark", ROUTE_MARK, 42, 0},
    {"/process/42/report", ROUTE_REPORT, 42, REPORT_HTML},
    {"/process/42/report.txt", ROUTE_REPORT, 42, REPORT_TEXT},
    {"/process/42/report.json", ROUTE_REPORT, 42, REPORT_JSON},
    {"/process/42/debug/pprof/heap", ROUTE_REPORT, 42, REPORT_HEAP},
    {"/process/999999999", ROUTE_GROWTH, 999999999, 0},
    {"", ROUTE_NONE, 0, 0},
    {"//", ROUTE_NONE, 0, 0},
    {"/metrics/", ROUTE_NONE, 0, 0},
    {"/metricsx", ROUTE_NONE, 0, 0},
    {"/report", ROUTE_NONE, 0, 0}, /* of all processes: no */
    {"/report.txt", ROUTE_NONE, 0, 0},
    {"/debug", ROUTE_NONE, 0, 0},
    {"/debug/pprof/profile", ROUTE_NONE, 0, 0},
    {"/process/", ROUTE_NONE, 0, 0},
    {"/process/0", ROUTE_NONE, 0, 0},
    {"/process/042", ROUTE_NONE, 0, 0},
    {"/process/-1", ROUTE_NONE, 0, 0},
    {"/process/+1", ROUTE_NONE, 0, 0},
    {"/process/1000000000", ROUTE_NONE, 0, 0},
    {"/process/42/", ROUTE_NONE, 0, 0},
    {"/process/42/../43", ROUTE_NONE, 0, 0},
    {"/process/42/report/../../../etc/passwd", ROUTE_NONE, 0, 0},
    {"/process/42report", ROUTE_NONE, 0, 0},
    {"/process/self", ROUTE_NONE, 0, 0},
    {"/../etc/passwd", ROUTE_NONE, 0, 0},
};

START_TEST(an_address_is_one_of_the_table_or_none)
{
    struct address address = address_of_path(path_rows[_i].path);

    ck_assert_int_eq(address.route, path_rows[_i].route);
    if (address.route == ROUTE_NONE)
        return;
    ck_assert_int_eq(address.pid, path_rows[_i].pid);
    ck_assert_int_eq(address.report, path_rows[_i].report);
}
END_TEST

static struct counters counts_at(double time)
{
    return (struct counters){.bytes = (uint64_t)time};
}

/* Reads every five seconds until that time. */
static void run_marks(struct marks *marks, double until)
{
    for (double time = 0; time <= until; time += 5) {
        struct counters counts = counts_at(time);

        marks_update(marks, time, counts, &counts, 1);
    }
}

START_TEST(a_mark_is_at_least_as_old_as_its_name_and_less_than_twice)
{
    static const double spans[MARK_SPANS] = {60, 600, 3600};
    struct marks marks = {0};

    for (double until = 0; until < 9000; until += 5) {
        struct counters counts = counts_at(until);

        marks_update(&marks, until, counts, &counts, 1);
        for (enum mark i = 0; i < MARK_SPANS; i++) {
            const struct counter_baseline *mark = marks_find(&marks, i);

            ck_assert((mark != NULL) == (until >= spans[i]));
            if (!mark)
                continue;
            ck_assert(until - mark->time >= spans[i] - 1e-9);
            ck_assert(until - mark->time < 2 * spans[i]);
            ck_assert_uint_eq(mark->at[0].bytes, (uint64_t)mark->time);
        }
    }
    ck_assert_double_eq(marks_find(&marks, MARK_FIRST)->time, 0);
    marks_end(&marks);
}
END_TEST

START_TEST(the_mark_of_the_user_stays_until_the_next)
{
    struct marks marks = {0};
    struct counters counts = counts_at(7);

    ck_assert_ptr_null(marks_find(&marks, MARK_USER));
    ck_assert_ptr_null(marks_find(&marks, MARK_FIRST));
    marks_set_user(&marks, 7, counts, &counts, 1);
    run_marks(&marks, 4000);
    ck_assert_double_eq(marks_find(&marks, MARK_USER)->time, 7);
    marks_set_user(&marks, 8, counts, &counts, 1);
    ck_assert_double_eq(marks_find(&marks, MARK_USER)->time, 8);
    marks_end(&marks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("answers");
    TCase *tests = tcase_create("addresses and marks");

    tcase_add_loop_test(tests, an_address_is_one_of_the_table_or_none, 0, ROWS(path_rows));
    tcase_add_test(tests, a_mark_is_at_least_as_old_as_its_name_and_less_than_twice);
    tcase_add_test(tests, the_mark_of_the_user_stays_until_the_next);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
