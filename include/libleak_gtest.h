/* libleak_gtest.h - makes a GoogleTest test fail that loses memory, in a process with libleak.so.
 * Without libleak.so it does nothing.
 *
 *     #include <libleak_gtest.h>
 *     static const bool listening = libleak::gtest_listen();      in one source file, or as a call in main
 *
 * The failure is reported for the test that lost the memory. Memory that a fixture keeps for all
 * its tests is reachable, and so not lost.
 */
#ifndef LIBLEAK_GTEST_H
#define LIBLEAK_GTEST_H

#include <gtest/gtest.h>
#include <libleak.h>

namespace libleak
{

class gtest_listener : public ::testing::EmptyTestEventListener
{
  public:
    void OnTestStart(const ::testing::TestInfo &) override
    {
        moment_ = LIBLEAK_MOMENT();
    }
    void OnTestEnd(const ::testing::TestInfo &test) override
    {
        long lost = LIBLEAK_LOST_SINCE(moment_);
        if (lost > 0)
            ADD_FAILURE_AT(test.file(), test.line())
                << lost << (lost == 1 ? " block was" : " blocks were")
                << " lost in this test; the report"
                << " of libleak says where from";
    }

  private:
    unsigned long moment_ = 0;
};

/* Adds the listener to GoogleTest, which owns it. Call it once. */
inline bool gtest_listen()
{
    ::testing::UnitTest::GetInstance()->listeners().Append(new gtest_listener);
    return true;
}

} /* namespace libleak */

#endif
