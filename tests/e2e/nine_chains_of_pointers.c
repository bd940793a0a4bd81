// Valgrind's nine cases (leak-cases): R a root, A and B blocks, -> a pointer to the start, -?> one into
// the middle.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("b1") == {"reachable": (1, 24)}
// JSON: verdict("a2") == {"reachable": (1, 48)} and verdict("b2") == {"reachable": (1, 24)}
// JSON: verdict("b3") == {"lost": (1, 24)}
// JSON: verdict("a4") == {"lost": (1, 48)} and verdict("b4") == {"indirect": (1, 24)} and under("b4", "a4")
// JSON: verdict("b5") == {"possible": (1, 24)}
// JSON: verdict("a6") == {"reachable": (1, 48)} and verdict("b6") == {"possible": (1, 24)}
// JSON: verdict("a7") == {"possible": (1, 48)} and verdict("b7") == {"possible": (1, 24)}
// JSON: verdict("a8") == {"possible": (1, 48)} and verdict("b8") == {"possible": (1, 24)}
// JSON: verdict("a9") == {"lost": (1, 48)} and verdict("b9") == {"indirect": (1, 24)} and under("b9", "a9")
// JSON: lost_total == (5, 24 + 72 + 72)

#include "lib/verdicts.h"

static char *volatile root[10];
TAKE(b1, 24)
TAKE(a2, 48)
TAKE(b2, 24)
TAKE(b3, 24)
TAKE(a4, 48)
TAKE(b4, 24)
TAKE(b5, 24)
TAKE(a6, 48)
TAKE(b6, 24)
TAKE(a7, 48)
TAKE(b7, 24)
TAKE(a8, 48)
TAKE(b8, 24)
TAKE(a9, 48)
TAKE(b9, 24)

FAR static char *chain(void *a, char *b)
{
    *(char **)a = b;
    return a;
}

FAR static void make(void)
{
    root[1] = b1();                              /* R -> B */
    root[2] = chain(a2(), b2());                 /* R -> A -> B */
    b3();                                        /* R B */
    chain(a4(), b4());                           /* R A -> B */
    root[5] = (char *)b5() + 16;                 /* R -?> B */
    root[6] = chain(a6(), (char *)b6() + 16);    /* R -> A -?> B */
    root[7] = chain(a7(), b7()) + 16;            /* R -?> A -> B */
    root[8] = chain(a8(), (char *)b8() + 16) + 16; /* R -?> A -?> B */
    chain(a9(), (char *)b9() + 16);              /* R A -?> B */
}

int main(void)
{
    make();
    return 0;
}
