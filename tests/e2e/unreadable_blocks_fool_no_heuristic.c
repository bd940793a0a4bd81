// A block without access that only pointers behind a header reach (+8, an array; +24, a string): nothing in it can say
// what it is, so it is possibly lost, and what it held is lost. (Valgrind: leak-segv-jmp.) The same block with access and
// with the header of such a string is reachable.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t none; %leak %t
// JSON: verdict("text", procs[0]) == {"possible": (1, 200000)} and verdict("held", procs[0]) == {"lost": (1, 1000)}
// JSON: verdict("text", procs[1]) == {"reachable": (1, 200000)} and verdict("held", procs[1]) == {"reachable": (1, 1000)}

#include "lib/verdicts.h"
#include <sys/mman.h>

TAKE(text, 200000)
TAKE(held, 1000)
char *volatile at_8, *volatile at_24;

FAR static void make(int closed)
{
    size_t *head = text();

    head[0] = 3, head[1] = 199000;
    head[4000] = (size_t)held();
    at_8 = (char *)(head + 1);
    at_24 = (char *)(head + 3);
    if (closed)
        mprotect((void *)((size_t)head & -4096ul), 200704, PROT_NONE);
}

int main(int argc, char **argv)
{
    make(argc > 1);
    scrub();
    return 0;
}
