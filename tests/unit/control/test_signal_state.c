/* test_signal_state.c - what /proc says of the threads of a process, and what that means for a
 * signal. */
#include <check.h>
#include <stdio.h>

#include "control/signal_state.h"
#include "tests/unit/suite.h"

#define SIGNAL 62
#define BIT "2000000000000000"
#define NONE "0000000000000000"

struct row {
    const char *states;   /* a letter for each thread, as /proc has them */
    const char *blocking; /* likewise: b = it blocks the signal */
    const char *caught;
    enum signal_obstacle obstacle;
    pid_t receiver; /* threads are numbered from 1 */
};

static const struct row rows[] = {
    {"S", ".", BIT, OBSTACLE_NONE, 1},
    {"SSR", "...", BIT, OBSTACLE_NONE, 1},
    {"SSR", "b.b", BIT, OBSTACLE_NONE, 2},
    {"SSR", "bbb", BIT, OBSTACLE_BLOCKED, 0},
    {"ZS", ".b", BIT, OBSTACLE_BLOCKED, 0}, /* the first thread has ended */
    {"ZS", "b.", BIT, OBSTACLE_NONE, 2},
    {"T", ".", BIT, OBSTACLE_STOPPED, 0},
    {"TTT", "bbb", BIT, OBSTACLE_STOPPED, 0},
    {"TST", "...", BIT, OBSTACLE_NONE, 2},
    {"tt", "..", BIT, OBSTACLE_TRACED, 0},
    {"tT", "..", BIT, OBSTACLE_TRACED, 0},
    {"tS", "..", BIT, OBSTACLE_NONE, 2},
    {"D", ".", BIT, OBSTACLE_UNINTERRUPTIBLE, 0},
    {"DS", ".b", BIT, OBSTACLE_UNINTERRUPTIBLE, 0},
    {"DS", "..", BIT, OBSTACLE_NONE, 2},
    {"S", ".", NONE, OBSTACLE_NO_HANDLER, 1},
    {"T", ".", NONE, OBSTACLE_NO_HANDLER, 0},
};

START_TEST(the_first_thing_in_the_way_is_named)
{
    const struct row *row = &rows[_i];
    struct signal_state state = {0};
    char text[512];

    for (size_t i = 0; row->states[i]; i++) {
        snprintf(
            text, sizeof(text),
            "Name:\tState\nUmask:\t0022\nState:\t%c (word)\nTgid:\t7\nPid:\t%zu\nSigPnd:\t" NONE
            "\nShdPnd:\t" NONE "\nSigBlk:\t%s\nSigIgn:\t" NONE "\nSigCgt:\t%s\n",
            row->states[i], i + 1, row->blocking[i] == 'b' ? BIT : NONE, row->caught);
        signal_state_add_thread(&state, text, SIGNAL);
    }
    ck_assert_msg(signal_state_obstacle(&state) == row->obstacle, "%s %s: got %d, wanted %d",
                  row->states, row->blocking, signal_state_obstacle(&state), row->obstacle);
    ck_assert(!state.pending);
    ck_assert_int_eq(state.receiver, row->receiver);
}
END_TEST

START_TEST(odd_text_says_nothing)
{
    static const char *const texts[] = {"", "State:", "State:\t", "nothing\n\n",
                                        "State:\tX (dead)\n"};
    struct signal_state state = {0};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        signal_state_add_thread(&state, texts[i], SIGNAL);
    ck_assert_uint_eq(state.threads, 0);
    signal_state_add_thread(&state, "State:\tS\nShdPnd:\t" BIT, SIGNAL);
    ck_assert_uint_eq(state.threads, 1);
    ck_assert(state.pending);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("signal_state");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, the_first_thing_in_the_way_is_named, 0, ROWS(rows));
    tcase_add_test(all, odd_text_says_nothing);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
