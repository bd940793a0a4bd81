// Hard case 1: main has returned, and with it went the only pointers: its locals, of a block and of a
// list, point to nothing that is still in use.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("take_one") == {"lost": (1, 40)}
// JSON: verdict("take_head") == {"lost": (1, 48)} and verdict("take_node") == {"indirect": (9, 9 * 32)}
// JSON: under("take_node", "take_head") and one("take_head").retained == {"blocks": 10, "bytes": 48 + 9 * 32}
// JSON: lost_total == (11, 40 + 48 + 9 * 32)
// JSON: p.snapshot.rung == "parked"

#include "lib/verdicts.h"

TAKE(take_one, 40)
TAKE(take_head, 48)
TAKE(take_node, 32)

int main(void)
{
    void *volatile one = take_one();
    void **volatile list = take_head(), **node = (void **)list;

    for (int i = 0; i < 9; i++)
        node = *node = take_node();
    return !one || !list;
}
