// Promise 4.14: a debugger that stops where start_at= waits, and goes on, does not change what the program does; nor does one that
// only looks on.
// NEEDS: gdb
// RUN: at() { gdb -nx -batch -ex "set startup-with-shell off" -ex "set environment LD_PRELOAD=%O/libleak.so" -ex "set environment LIBLEAK_OPTIONS=dir=%d/store:start_at=begin" "$@" %t; }
// RUN: at -ex run -ex continue && at -ex "handle SIGILL nostop noprint" -ex run
// EXPECT: received signal SIGILL
// EXPECT: exited normally
// REFUSE: exited with code
// JSON: len(procs) == 2 and all(q.end.value == 0 and q.summary.lost.bytes == 100 for q in procs)

#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) static int begin(int n)
{
    __asm__ volatile("");
    return n + 1;
}

int main(int argc, char **argv)
{
    int right = begin(42) == 43;
    sink = malloc(100);
    sink = NULL;
    return !right;
}
