/* test_session_dir.c - which session directories are passed on, and as what. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/processes/session_dir.h"
#include "tests/unit/suite.h"

#define DAY (24 * 60 * 60)

static char place[] = "/tmp/libleak-unit-XXXXXX";
static char *made;

static void begin(void)
{
    strcpy(place, "/tmp/libleak-unit-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(place));
    made = session_dir_make(place);
    ck_assert_ptr_nonnull(made);
}

static void end(void)
{
    session_dir_remove(made);
    rmdir(place);
    free(made);
}

static void count(const struct session_dir *session, void *context)
{
    ck_assert_str_eq(session->path, made);
    ck_assert_int_eq(session->state, SESSION_DIR_IN_USE); /* by this process */
    ++*(int *)context;
}

/* since: from when on a marked session is spared, in seconds from now. */
static const struct {
    bool marked;
    long since;
    int visits;
} rows[] = {
    {false, 0, 1},
    {false, -DAY, 1},
    {true, -DAY, 0},
    {true, DAY, 1},
};

START_TEST(sessions_that_a_message_named_lately_are_left_out)
{
    int visits = 0;

    if (rows[_i].marked)
        session_dir_mark_kept(made);
    session_dir_visit(place, time(NULL) + rows[_i].since, count, &visits);
    ck_assert_int_eq(visits, rows[_i].visits);
    visits = 0;
    session_dir_visit(place, 0, count, &visits);
    ck_assert_int_eq(visits, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_dir");
    TCase *all = tcase_create("visit");

    tcase_add_checked_fixture(all, begin, end);
    tcase_add_loop_test(all, sessions_that_a_message_named_lately_are_left_out, 0, ROWS(rows));
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
