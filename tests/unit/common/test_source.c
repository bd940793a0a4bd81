/* test_source.c - lines of source files, as reports and panes show them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/names/source.h"
#include "tests/unit/suite.h"

static const struct source_search search;
static char path[64];

static void setup(void)
{
    int fd = mkstemp(strcpy(path, "/tmp/libleak-source-XXXXXX"));

    ck_assert_int_ge(fd, 0);
    dprintf(fd, "first\n\tif (a)\t\t/* b */\n a\tb  \n\t\t\t\n");
    close(fd);
}

static void teardown(void)
{
    unlink(path);
}

START_TEST(a_pane_has_blanks_up_to_the_next_tab_stop)
{
    struct source_name name = {path, NULL};
    char lines[4][40];

    ck_assert_uint_eq(source_read_lines(&search, &name, 2, lines[0], 4, sizeof(lines[0])), 3);
    ck_assert_str_eq(lines[0], "        if (a)          /* b */");
    ck_assert_str_eq(lines[1], " a      b");
    ck_assert_str_eq(lines[2], "");
}
END_TEST

START_TEST(a_tab_at_the_end_of_the_room_writes_no_further)
{
    struct source_name name = {path, NULL};
    char line[] = "????????????";

    ck_assert_uint_eq(source_read_lines(&search, &name, 2, line, 1, 6), 1);
    ck_assert_str_eq(line, "");
    ck_assert_mem_eq(line + 6, "??????", 6);
}
END_TEST

START_TEST(a_single_line_has_no_indentation_and_one_blank_for_tabs)
{
    struct source_name name = {path, NULL};
    char line[40];

    ck_assert(source_read_line(&search, &name, 2, line, sizeof(line)));
    ck_assert_str_eq(line, "if (a) /* b */");
    ck_assert(!source_read_line(&search, &name, 4, line, sizeof(line)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *tests = tcase_create("lines");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_pane_has_blanks_up_to_the_next_tab_stop);
    tcase_add_test(tests, a_tab_at_the_end_of_the_room_writes_no_further);
    tcase_add_test(tests, a_single_line_has_no_indentation_and_one_blank_for_tabs);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
