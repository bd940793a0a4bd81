// A leak far down a recursion and one after it: both lost, whatever the depth of the stack left behind.
// (Valgrind: lks.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("at_the_bottom") == {"lost": (1, 40)} and verdict("after") == {"lost": (1, 56)}
// JSON: lost_total == (2, 96)

#include "lib/verdicts.h"

LOSE(after, 56)
FAR static void at_the_bottom(void)
{
    void *volatile p = malloc(40);
    opaque((void *)&p);
}

FAR static void down(int n)
{
    volatile char room[100];

    room[0] = n;
    if (n)
        down(n - 1);
    else
        at_the_bottom();
    room[1] = n;
}

int main(void)
{
    down(10000);
    after();
    exit(0);
}
