/* libleak_check.h - lets a test of the framework check fail if blocks were lost while it ran.
 *
 * Add the fixture to a test case, as its last one, and run the program with leakrun:
 *
 *     tcase_add_checked_fixture(tcase, libleak_check_start, libleak_check_end);
 *
 * Without libleak it has no effect. It works with and without CK_FORK=no. */
#ifndef LIBLEAK_CHECK_H
#define LIBLEAK_CHECK_H

#include <check.h>
#include <libleak.h>

static unsigned long libleak_check_moment;

static inline void libleak_check_start(void)
{
    libleak_check_moment = libleak_moment();
}

static inline void libleak_check_end(void)
{
    long lost = libleak_check_moment ? libleak_lost_since(libleak_check_moment) : 0;

    ck_assert_msg(lost <= 0,
                  "libleak: %ld block(s) of this test lost; the report at the end shows where",
                  lost);
}

#endif
