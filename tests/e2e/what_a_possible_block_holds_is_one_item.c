// A block that is held inside makes all that it leads to possibly lost: the report has one item, with what it holds, and
// each record has its path. What is held inside itself is an item of its own.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; %report -v --top=0 store/*.leak
// EXPECT: in 24 blocks possibly lost \(4 records, listed as 2\)$
// EXPECT: ^1\. 200 bytes in 1 block possibly lost
// EXPECT: with it 1,160 bytes in 24 blocks are possibly lost
// EXPECT: holds 20 blocks, 800 bytes from member\(\)
// EXPECT: holds 2 blocks, 96 bytes from table\(\)
// EXPECT: ^2\. 64 bytes in 1 block possibly lost
// REFUSE: ^3\.
// JSON: one("member").owner == one("owner").signature and one("table").owner == one("owner").signature
// JSON: one("owner").owner is None and one("inner").owner is None
// JSON: len(one("member").path) > 2 and one("member").path[0].variable == "held"

#include "lib/verdicts.h"

static char *volatile held;
TAKE(owner, 200)
TAKE(table, 48)
TAKE(member, 40)
TAKE(inner, 64)

FAR static void fill(void)
{
    void **block = owner();
    for (int i = 0; i < 2; i++) {
        void **row = block[i] = table();
        for (int k = 0; k < 5; k++)
            *(void **)(row[k] = member()) = member();
    }
    block[2] = (char *)inner() + 24;
    held = (char *)block + 100;
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
