// Hard case 14: malloc(0), new of nothing: no bytes, but blocks that are lost, reachable, and counted.
// (Valgrind: leak-0.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (3, 0)}
// JSON: verdict("held") == {"reachable": (2, 0)}
// JSON: lost_total == (3, 0) and p.summary.lost.blocks == 3

#include "lib/verdicts.h"

static void *volatile global[2];
FAR static void dropped(void) { sink = malloc(0); sink = NULL; }
FAR static void held(int i) { global[i] = malloc(0); }

int main(void)
{
    dropped(), held(0), dropped(), held(1), dropped();
    return 0;
}
