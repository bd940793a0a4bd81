// Hard case 14: blocks of 5 GiB: lost with all their bytes; a word far behind the first 4 GiB holds, a
// pointer far into the block is possible (and so much address space is met by old words, too: the dropped
// block may be possible). Memory never touched costs nothing.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^three there
// JSON: verdict("dropped") in ({"lost": (1, 5 << 30)}, {"possible": (1, 5 << 30)}) and verdict("held") == {"reachable": (1, 5 << 30)}
// JSON: verdict("far_away") == {"reachable": (1, 40)} and verdict("inside") == {"possible": (1, 5 << 30)}
// JSON: p.snapshot.rung == "parked" and lost_total in ((1, 5 << 30), (0, 0))

#include "lib/verdicts.h"

#define BIG ((size_t)5 << 30)
FAR static void *dropped(void) { return opaque(malloc(BIG)); }
FAR static void *held(void) { return opaque(malloc(BIG)); }
FAR static void *inside(void) { return opaque(malloc(BIG)); }
TAKE(far_away, 40)
static char *volatile a, *volatile b;

FAR static int make(void)
{
    int ok = dropped() != NULL;

    a = held();
    b = inside();
    if (!ok || !a || !b)
        return 1;
    *(void **)(a + BIG - 64) = far_away();
    b += BIG - 100;
    return 0;
}

int main(void)
{
    if (make())
        return 1;
    scrub();
    write(1, "three there\n", 12);
    return 0;
}
