// With several leak checks in one run, the report of a lost block says between which two of them it was lost; of blocks
// that were lost one after another, the first and the last of them; of one that the first check has found, that it was
// before. With one check at the end nothing is said: also where exit code runs between its two halves.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=fill=auto; %leak %t checks; %leak %t; %report --show=lost --top=0 store/*.leak
// EXPECT: lost before the first leak check at 0\.[0-9] s$
// EXPECT: lost between the leak checks at 0\.[0-9] s and 0\.[0-9] s$
// EXPECT: lost between the leak checks at 0\.[0-9] s and 0\.[0-9] s,$
// EXPECT: the last of them between the leak checks at 0\.[0-9] s and [0-9.]+ s$
// JSON: one("at_once").lost_between.first.after is None and one("at_once").lost_between.last == one("at_once").lost_between.first
// JSON: one("later").lost_between.first.after == one("at_once").lost_between.first.by
// JSON: one("later").lost_between.first == one("later").lost_between.last
// JSON: one("often").lost_between.first == one("later").lost_between.first
// JSON: one("often").lost_between.last.after > one("often").lost_between.first.by
// JSON: one("in_exit_code").lost_between.first.after == one("often").lost_between.last.after
// JSON: one("in_exit_code").lost_between.first.by > one("often").lost_between.last.by
// JSON: one("at_once", process=procs[1]).lost_between is None

#include "lib/verdicts.h"

static void *volatile held[4];
LOSE(at_once, 40)
LOSE(often, 48)
TAKE(later, 56)
LOSE(in_exit_code, 64)

static void check(int argc)
{
    usleep(20000);
    scrub();
    if (argc > 1)
        libleak_snapshot();
}

static void leave(void) { in_exit_code(); }

int main(int argc, char **argv)
{
    (void)argv;
    atexit(leave);
    at_once();
    held[0] = later();
    check(argc);
    held[0] = NULL;
    often();
    check(argc);
    check(argc);
    check(argc);
    often();
    return 0;
}
