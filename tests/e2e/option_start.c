// With start=off nothing is a leak until the program says so; with start_after= until the time has come.
// RUN: export LIBLEAK_OPTIONS=start=off; %leak %t enable
// RUN: export LIBLEAK_OPTIONS=start_after=100ms; %leak %t wait
// JSON: all(q.summary.lost.bytes == 100 and q.summary.lost.blocks == 1 for q in procs) and len(procs) == 2
// JSON: all(q.summary.reachable.bytes >= 20 for q in procs)

#include "../../include/libleak.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) static void lose(size_t size)
{
    sink = malloc(size);
    sink = NULL;
}

int main(int argc, char **argv)
{
    lose(20);
    if (argc > 1 && strcmp(argv[1], "enable") == 0)
        libleak_enable_all();
    else
        sleep(2); /* the kernel's timer of 100 ms is over before, however slow the machine */
    lose(100);
    return 0;
}
