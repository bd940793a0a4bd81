/* test_hearing.c - what /proc says of the threads of a process, and what that means for a signal.
 */
#include <check.h>
#include <stdio.h>

#include "control/hearing.h"
#include "tests/unit/suite.h"

#define SIGNAL 62
#define BIT "2000000000000000"
#define NONE "0000000000000000"

struct row {
    const char *states; /* a letter a thread, upper and lower case as /proc has them */
    const char *deaf;   /* likewise: b = blocks it */
    const char *caught;
    enum hears says;
};

static const struct row rows[] = {
    {"S", ".", BIT, HEARS},
    {"SSR", "...", BIT, HEARS},
    {"SSR", "b.b", BIT, HEARS},
    {"SSR", "bbb", BIT, HEARS_BLOCKED},
    {"ZS", ".b", BIT, HEARS_BLOCKED}, /* the first thread has ended */
    {"ZS", "b.", BIT, HEARS},
    {"T", ".", BIT, HEARS_STOPPED},
    {"TTT", "bbb", BIT, HEARS_STOPPED},
    {"TST", "...", BIT, HEARS},
    {"tt", "..", BIT, HEARS_TRACED},
    {"tT", "..", BIT, HEARS_TRACED},
    {"tS", "..", BIT, HEARS},
    {"D", ".", BIT, HEARS_ASLEEP},
    {"DS", ".b", BIT, HEARS_ASLEEP},
    {"DS", "..", BIT, HEARS},
    {"S", ".", NONE, HEARS_NO_HANDLER},
    {"T", ".", NONE, HEARS_NO_HANDLER},
};

START_TEST(the_first_thing_in_the_way_is_named)
{
    const struct row *row = &rows[_i];
    struct hearing hearing = {0};
    char text[512];

    for (size_t i = 0; row->states[i]; i++) {
        snprintf(text, sizeof(text),
                 "Name:\tState\nUmask:\t0022\nState:\t%c (word)\nTgid:\t7\nSigPnd:\t" NONE
                 "\nShdPnd:\t" NONE "\nSigBlk:\t%s\nSigIgn:\t" NONE "\nSigCgt:\t%s\n",
                 row->states[i], row->deaf[i] == 'b' ? BIT : NONE, row->caught);
        hearing_add(&hearing, text, SIGNAL);
    }
    ck_assert_msg(hearing_says(&hearing) == row->says, "%s %s: got %d, wanted %d", row->states,
                  row->deaf, hearing_says(&hearing), row->says);
    ck_assert(!hearing.waiting);
}
END_TEST

START_TEST(odd_text_says_nothing)
{
    static const char *const texts[] = {"", "State:", "State:\t", "nothing\n\n",
                                        "State:\tX (dead)\n"};
    struct hearing hearing = {0};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        hearing_add(&hearing, texts[i], SIGNAL);
    ck_assert_uint_eq(hearing.threads, 0);
    hearing_add(&hearing, "State:\tS\nShdPnd:\t" BIT, SIGNAL);
    ck_assert_uint_eq(hearing.threads, 1);
    ck_assert(hearing.waiting);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hearing");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, the_first_thing_in_the_way_is_named, 0, ROWS(rows));
    tcase_add_test(all, odd_text_says_nothing);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
