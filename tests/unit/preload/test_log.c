/* test_log.c - one line, one write, and never into a file of the program's. */
#include "tests/unit/preload/unit.h"
#include "preload/base/log.h"

static int ends[2];
static char got[4096];

/* Standard error becomes a pipe of the test. */
static void setup(void)
{
    ck_assert_int_eq(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    dup2(ends[1], 2);
}

static void teardown(void)
{
    close(ends[0]);
    close(ends[1]);
}

static const char *said(void)
{
    ssize_t length = read(ends[0], got, sizeof got - 1);
    got[length > 0 ? length : 0] = '\0';
    return got;
}

START_TEST(a_line_has_our_name_and_all_parts)
{
    log_start();
    log_line("no store in ", "/x", ": ", "full", NULL);
    ck_assert_str_eq(said(), "libleak: no store in /x: full\n");
    log_line("", NULL);
    ck_assert_str_eq(said(), "libleak: \n");
}
END_TEST

START_TEST(before_the_start_nothing_is_said)
{
    ck_assert(!log_stderr_usable());
    log_line("early", NULL);
    ck_assert_str_eq(said(), "");
    log_start();
    ck_assert(log_stderr_usable());
    log_line("late", NULL);
    ck_assert_str_eq(said(), "libleak: late\n");
}
END_TEST

START_TEST(a_long_line_is_cut_and_still_ends)
{
    char part[3000];
    memset(part, 'x', sizeof part);
    log_start();
    for (size_t length = 1000; length < 1040; length++) {
        part[length] = '\0';
        log_line(part, NULL);
        part[length] = 'x';
        size_t whole = strlen(said());
        ck_assert_msg(whole <= 1024 && got[whole - 1] == '\n' && strchr(got, '\n') == got + whole - 1,
                      "%zu bytes become %zu", length, whole);
    }
}
END_TEST

START_TEST(a_descriptor_that_is_another_file_now_is_left_alone)
{
    char path[100];
    strcpy(path, unit_directory);
    strcat(path, "/file");
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), old = dup(2);
    log_start();
    dup2(file, 2);
    ck_assert(!log_stderr_usable());
    log_line("secret", NULL);
    ck_assert_int_eq(lseek(file, 0, SEEK_END), 0);
    close(2);
    ck_assert(!log_stderr_usable());
    log_line("secret", NULL);
    dup2(old, 2);
    ck_assert(log_stderr_usable());
    log_line("back", NULL);
    ck_assert_str_eq(said(), "libleak: back\n");
    close(file);
    close(old);
}
END_TEST

START_TEST(errno_stays)
{
    log_start();
    close(2);
    errno = 4711;
    log_line("standard error is closed", NULL);
    ck_assert_int_eq(errno, 4711);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("log");
    TCase *all = tcase_create("log");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_line_has_our_name_and_all_parts);
    tcase_add_test(all, before_the_start_nothing_is_said);
    tcase_add_test(all, a_long_line_is_cut_and_still_ends);
    tcase_add_test(all, a_descriptor_that_is_another_file_now_is_left_alone);
    tcase_add_test(all, errno_stays);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
