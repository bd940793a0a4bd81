// Hard case 14: blocks of 32 MiB, which malloc maps by themselves: lost, reachable, and read for what they
// hold, as any block; they are no anonymous mapping of the program. (LeakSanitizer:
// large_allocation_leak.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (1, 32 << 20)} and verdict("held") == {"reachable": (1, 32 << 20)}
// JSON: verdict("below_dropped") == {"indirect": (1, 40)} and under("below_dropped", "dropped")
// JSON: verdict("below_held") == {"reachable": (1, 56)}
// JSON: lost_total == (2, (32 << 20) + 40)

#include "lib/verdicts.h"

FAR static void *dropped(void) { return opaque(malloc(32 << 20)); }
FAR static void *held(void) { return opaque(malloc(32 << 20)); }
TAKE(below_dropped, 40)
TAKE(below_held, 56)
static void **volatile global;

FAR static void make(void)
{
    void **p = dropped();

    p[1000000] = below_dropped();
    p = global = held();
    p[4194303] = below_held();
}

int main(void)
{
    make();
    return 0;
}
