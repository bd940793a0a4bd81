// Hard case 4, the opposite: a ring, and a ring of rings, that a global points to: all of it is reachable;
// a chain into the ring from a lost block does not make the ring lost, only that block.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("ring") == {"reachable": (7, 7 * 32)}
// JSON: verdict("outsider") == {"lost": (1, 48)} and one("outsider").retained == {"blocks": 1, "bytes": 48}
// JSON: lost_total == (1, 48)

#include "lib/verdicts.h"

TAKE(ring, 32)
TAKE(outsider, 48)
static void *global;

FAR static void make(void)
{
    void **first = ring(), **last = first;

    for (int i = 0; i < 6; i++)
        last = *last = ring();
    *last = first;
    global = first;
    ((void **)outsider())[2] = last;
}

int main(void)
{
    make();
    return !global;
}
