/* libleak_catch2.h - lets a Catch2 test case (versions 2 and 3) fail if blocks were lost while
 * it ran.
 *
 * Include it in one source of the test program, behind Catch2's header, and run the program with
 * leakrun. Without libleak it has no effect. */
#ifndef LIBLEAK_CATCH2_H
#define LIBLEAK_CATCH2_H

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <libleak.h>
#include <string>
#include <unistd.h>

#if __has_include(<catch2/catch_version_macros.hpp>)
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
typedef Catch::EventListenerBase LibleakListenerBase;
#else
typedef Catch::TestEventListenerBase LibleakListenerBase;
#endif

/* Counts test cases that lost blocks. Catch2 does not let a listener fail a test case, so the
 * exit status is set at the end of the program. */
struct LibleakListener : LibleakListenerBase {
    using LibleakListenerBase::LibleakListenerBase;

    void testCaseStarting(Catch::TestCaseInfo const &info) override
    {
        LibleakListenerBase::testCaseStarting(info);
        name = info.name;
        start = libleak_moment();
    }

    void testCaseEnded(Catch::TestCaseStats const &stats) override
    {
        long lost = start ? libleak_lost_since(start) : 0;
        LibleakListenerBase::testCaseEnded(stats);
        if (lost <= 0)
            return;
        failed++;
        std::cout << "libleak: test case \"" << name << "\" FAILED: " << lost
                  << (lost == 1 ? " block" : " blocks")
                  << " lost; the report at the end shows where\n";
    }

    void testRunEnded(Catch::TestRunStats const &stats) override
    {
        LibleakListenerBase::testRunEnded(stats);
        if (!failed)
            return;
        std::cout << "libleak: " << failed << (failed == 1 ? " test case" : " test cases")
                  << " FAILED" << std::endl;
        std::atexit([] {
            std::cout.flush();
            std::fflush(nullptr);
            _exit(1);
        });
    }

  private:
    std::string name;
    unsigned long start = 0, failed = 0;
};
CATCH_REGISTER_LISTENER(LibleakListener)

#endif
