// Hard case 4: ten rings of five blocks from one place, a tail of three blocks at each: ten are lost, one
// leader for each ring, everything else is indirect and counted as retained. Rings that a lost head
// points to are indirect, and no leaders.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("ring") == {"lost": (10, 320), "indirect": (40, 40 * 32)} and one("ring", "lost").cycle is True
// JSON: verdict("tail") == {"indirect": (30, 30 * 24)} and under("tail", "ring") and under("ring", "ring")
// JSON: one("ring", "lost").retained == {"blocks": 80, "bytes": 50 * 32 + 30 * 24}
// JSON: verdict("head") == {"lost": (1, 16)} and not one("head").cycle and one("head").retained == {"blocks": 4, "bytes": 16 + 3 * 64}
// JSON: verdict("headed_ring") == {"indirect": (3, 192)} and under("headed_ring", "head")
// JSON: lost_total == (84, 50 * 32 + 30 * 24 + 16 + 3 * 64)

#include "lib/verdicts.h"

TAKE(ring, 32)
TAKE(tail, 24)
TAKE(head, 16)
TAKE(headed_ring, 64)

FAR static void **circle(void *(*take)(void), int n)
{
    void **first = take(), **last = first;

    while (--n)
        last = *last = take();
    *last = first;
    return first;
}

FAR static void make(void)
{
    for (int i = 0; i < 10; i++) {
        void **p = circle(ring, 5);
        void **q = p[1] = tail();
        q = *q = tail();
        *q = tail();
    }
    *(void **)head() = circle(headed_ring, 3);
}

int main(void)
{
    make();
    return 0;
}
