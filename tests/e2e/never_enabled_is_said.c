// Promise 4.14: a report of a process in which detection was never enabled says so, and why; of one in which it was, even
// for a moment, it does not. An unknown function name is reported at once; so are missing symbols.
// AFTER: strip -o %d/stripped %t
// RUN: with() { LIBLEAK_OPTIONS=$1; export LIBLEAK_OPTIONS; shift; %leak "$@" 2>&1 | sed "s/^/$LIBLEAK_OPTIONS: /"; }
// RUN: with start=off %t; with start_after=1h %t; with start_at=absent %t; with start_at=never_called %t; with start_at=never_called %d/stripped
// RUN: with start=off %t enable; with start_at=begin %t; with start_at=main %t; with start=on %t; %report store/*; rm -rf alone; LIBLEAK_OPTIONS=start=off:dir=alone LD_PRELOAD=%O/libleak.so %t; %report alone/*
// EXPECT: ^start_at=absent: libleak: start_at=absent: no function of that name so far$
// EXPECT: ^start_at=never_called: libleak: start_at=never_called: no function of that name so far; the program has no symbols but those it exports$
// EXPECT: ^  t \(4 processes\): detection was never enabled\.$
// EXPECT: ^Note: detection was never enabled \(start=off, and libleak_enable_all was not called\): no block is called a leak
// REFUSE: ^start_at=(begin|main): libleak
// JSON: ["never enabled" in " ".join(q.notes) for q in procs] == 5 * [True] + 4 * [False]
// JSON: [q.summary.lost.bytes for q in procs] == 5 * [0] + 4 * [50]

#include "../../include/libleak.h"

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static void begin(void)
{
    __asm__ volatile("");
}

__attribute__((noinline, used)) static void never_called(void)
{
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        libleak_enable_all();
    begin();
    sink = malloc(50);
    sink = NULL;
    if (argc > 1)
        libleak_disable_all();
    return 0;
}
