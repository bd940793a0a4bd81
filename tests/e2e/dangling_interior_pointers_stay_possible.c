// Blocks that a program has lost, with pointers into them left over: cursors at different offsets, one
// pointer alone, two of a hundred blocks that are held at their start, the ends of buffers. They stay
// possible, and the report says where the pointers are. What agrees on one offset is the program's way.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; %report --top=0 store/*.leak
// EXPECT: only interior pointers: \+100, from alone
// EXPECT: with it 224 bytes in 2 blocks are possibly lost
// JSON: verdict("cursor_new") == {"possible": (20, 20 * 200)}
// JSON: verdict("alone_new") == {"possible": (1, 200)} and [(i.offset, i.root) for i in one("alone_new").interior] == [(100, True)]
// JSON: verdict("below") == {"possible": (1, 24)} and [(i.offset, i.root) for i in one("below").interior] == [(0, False)]
// JSON: one("below").interior[0].holder[0].function == "alone_new"
// JSON: verdict("usual") == {"reachable": (100, 100 * 80), "possible": (2, 2 * 80)}
// JSON: verdict("end_of") == {"possible": (10, 10 * 64)}
// JSON: verdict("agreed") == {"reachable": (20, 20 * 200)}
// JSON: lost_total == (0, 0)

#include "lib/verdicts.h"

static char *volatile cursor[20];
static char *volatile agree[20];
static char *volatile alone;
static char *volatile usual_one[102];
static char *volatile ends[10];
TAKE(cursor_new, 200)
TAKE(agreed, 200)
TAKE(alone_new, 200)
TAKE(below, 24)
TAKE(usual, 80)
TAKE(end_of, 64)

FAR static void fill(void)
{
    for (int i = 0; i < 20; i++) {
        cursor[i] = (char *)cursor_new() + 16 + 7 * i;
        agree[i] = (char *)agreed() + 16;
    }
    for (int i = 0; i < 102; i++)
        usual_one[i] = (char *)usual() + (i < 2 ? 16 : 0);
    for (int i = 0; i < 10; i++)
        ends[i] = (char *)end_of() + 64;
    char *block = alone_new();
    *(void **)(block + 8) = below();
    alone = block + 100;
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
