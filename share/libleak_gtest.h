/* libleak_gtest.h - lets a GoogleTest test fail if blocks were lost while it ran.
 *
 * Call this in main, before RUN_ALL_TESTS(), and run the program with leakrun:
 *
 *     libleak_gtest_listen();
 *
 * Without libleak it has no effect. It makes a leak check after each test. */
#ifndef LIBLEAK_GTEST_H
#define LIBLEAK_GTEST_H

#include <gtest/gtest.h>
#include <libleak.h>

class LibleakListener : public testing::EmptyTestEventListener
{
    unsigned long start = 0;

    void OnTestStart(const testing::TestInfo &) override
    {
        start = libleak_moment();
    }

    void OnTestEnd(const testing::TestInfo &) override
    {
        long lost = start ? libleak_lost_since(start) : 0;
        if (lost > 0)
            ADD_FAILURE() << "libleak: " << lost << (lost == 1 ? " block" : " blocks")
                          << " of this test lost; the report at the end shows where";
    }
};

/* Appends the listener behind the printer: GoogleTest calls listeners at the end of a test in
 * reverse order, so the failure is added before the printer prints. */
static inline void libleak_gtest_listen()
{
    testing::UnitTest::GetInstance()->listeners().Append(new LibleakListener);
}

#endif
