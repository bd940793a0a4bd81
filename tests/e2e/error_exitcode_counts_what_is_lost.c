// leakrun --error-exitcode: the default counts lost blocks, not reachable ones; --errors-for= other verdicts.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: r() { name=$1; shift; %run -q -o %d/report --force --error-exitcode=9 "$@"; echo "$name: $?"; }
// RUN: r lost %t lost; r reachable %t reachable; r possible %t possible; r possible-counts --errors-for=possible %t possible; r reachable-counts --errors-for=reachable %t reachable
// EXPECT: ^lost: 9$
// EXPECT: ^reachable: 0$
// EXPECT: ^possible: 0$
// EXPECT: ^possible-counts: 9$
// EXPECT: ^reachable-counts: 9$

#include "lib/verdicts.h"

static char *volatile global;
TAKE(take, 40)

int main(int argc, char **argv)
{
    char *p = take();

    if (argv[1][0] == 'r')
        global = p;
    if (argv[1][0] == 'p')
        global = p + 8;
    return 0;
}
