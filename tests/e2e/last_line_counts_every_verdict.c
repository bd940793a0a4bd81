// The last line of the text report: every verdict with its bytes, blocks and records, always.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t >/dev/null; %report store/*.leak | tail -n 1
// EXPECT: ^libleak: pid=[0-9]+ lost=56/1/1 indirect=48/2/1 possible=40/1/1 hidden=400/2/1 reachable=72/3/1 runtime=[0-9]+/[0-9]+/[0-9]+ unfreed=0/0/0 growing=0 errors=0 resources=0$
// JSON: p.summary.lost.bytes == 56 and p.summary.indirect.blocks == 2 and p.summary.possible.records == 1 and p.summary.hidden.blocks == 2 and p.summary.reachable.bytes == 72

#include "lib/verdicts.h"

static void *volatile reached[3];
static char *volatile inside;
static volatile unsigned long disguised[2];
TAKE(owner, 56)
TAKE(owned, 24)
TAKE(possible, 40)
TAKE(hidden, 200)
TAKE(reachable, 24)

FAR static void make(void)
{
    void **p = owner();

    for (int i = 0; i < 3; i++) {
        reached[i] = reachable();
        if (i < 2)
            p[i] = owned(), disguised[i] = ~(unsigned long)hidden();
    }
    inside = (char *)possible() + 16;
}

int main(void)
{
    make();
    return 0;
}
