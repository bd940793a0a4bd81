// Hard case 14: an allocator whose blocks begin 8 bytes off a multiple of 16: the same verdicts.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: cc -O1 -g -fno-builtin -shared -fPIC -o %d/eight.so %S/lib/eight.c
// RUN: env "LD_PRELOAD=%O/libleak.so %d/eight.so" LIBLEAK_OPTIONS=dir=%d/store %t
// EXPECT: address ends in 8
// JSON: verdict("dropped") == {"lost": (10, 240)} and verdict("held") == {"reachable": (1, 40)}
// JSON: verdict("node") == {"reachable": (20, 20 * 24)} and verdict("inner") == {"possible": (1, 56)}

#include "lib/verdicts.h"

LOSE(dropped, 24)
TAKE(held, 40)
TAKE(node, 24)
TAKE(inner, 56)
static void *volatile global, *volatile list;
static char *volatile middle;

FAR static void make(void)
{
    for (int i = 0; i < 10; i++)
        dropped();
    global = held();
    middle = (char *)inner() + 16;
    for (int i = 0; i < 20; i++) {
        void **p = node();
        *p = list;
        list = p;
    }
}

int main(void)
{
    make();
    if (((unsigned long)global & 15) == 8)
        write(1, "address ends in 8\n", 18);
    return 0;
}
