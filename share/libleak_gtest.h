/* libleak_gtest.h - GoogleTest: a test in whose time blocks were lost fails. In main, before RUN_ALL_TESTS():
 *
 *     libleak_gtest_listen();
 *
 * and run it with leakrun. Without libleak nothing changes. One leak check is made after each test. */
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

/* Appends the listener behind the printer, because listeners hear of a test's end in the opposite
 * order. */
static inline void libleak_gtest_listen()
{
    testing::UnitTest::GetInstance()->listeners().Append(new LibleakListener);
}

#endif
