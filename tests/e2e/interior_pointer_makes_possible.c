// Hard case 5: the only pointer is into the block, by 8, by 1, to its last byte, in its middle: possible;
// one of the first 15 bytes, not aligned, may be a tag and is said to. A pointer to the start beside it
// settles it; what a possible block holds is no more certain than itself.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("by_8") == {"possible": (1, 40)} and not one("by_8").tagged
// JSON: verdict("by_1") == {"possible": (1, 40)} and one("by_1").tagged is True
// JSON: verdict("by_last") == {"possible": (1, 40)} and not one("by_last").tagged
// JSON: verdict("by_half") == {"possible": (1, 4096)} and not one("by_half").tagged
// JSON: verdict("both") == {"reachable": (1, 40)}
// JSON: verdict("below") == {"possible": (1, 24)}
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"

static char *volatile word[7];
TAKE(by_8, 40)
TAKE(by_1, 40)
TAKE(by_last, 40)
TAKE(by_half, 4096)
TAKE(both, 40)
TAKE(below, 24)

FAR static void make(void)
{
    char *p = by_half();

    word[0] = (char *)by_8() + 8;
    word[1] = (char *)by_1() + 1;
    word[2] = (char *)by_last() + 39;
    word[3] = p + 2048;
    *(void **)(p + 512) = below();
    p = both();
    word[4] = p + 16;
    word[5] = p;
}

int main(void)
{
    make();
    return 0;
}
