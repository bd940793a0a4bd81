// Hard case 4: a block that only itself points to, at its start, inside or at all its words, is lost, not
// indirect, and it is no ring of several; held from elsewhere it is reachable.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("at_start") == {"lost": (1, 24)} and verdict("inside") == {"lost": (1, 48)} and verdict("all_over") == {"lost": (1, 4000)}
// JSON: one("at_start").retained == {"blocks": 1, "bytes": 24}
// JSON: verdict("held") == {"reachable": (1, 56)}
// JSON: lost_total == (3, 24 + 48 + 4000)

#include "lib/verdicts.h"

TAKE(at_start, 24)
TAKE(inside, 48)
TAKE(all_over, 4000)
TAKE(held, 56)
static void *volatile global;

FAR static void make(void)
{
    void **p = at_start();

    p[0] = p;
    p = inside();
    p[5] = p + 2; /* into itself */
    p = all_over();
    for (int i = 0; i < 500; i++)
        p[i] = p;
    p = held();
    p[1] = p;
    global = p;
}

int main(void)
{
    make();
    scrub();
    exit(0);
}
