// Hard case 2: frames that are gone still hold the address, many times, at every depth, and main calls
// exit right above them: lost; what the frame of main itself holds is not.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("dropped") == {"lost": (1, 40)}
// JSON: verdict("held") == {"reachable": (1, 24)}
// JSON: lost_total == (1, 40)

#include "lib/verdicts.h"

TAKE(dropped, 40)
TAKE(held, 24)

FAR static void spread(int depth, void *p)
{
    void *volatile words[64];

    for (int i = 0; i < 64; i++)
        words[i] = p;
    if (depth)
        spread(depth - 1, opaque(p));
    opaque((void *)words);
}

FAR static void dirty(void)
{
    spread(40, dropped());
    opaque(NULL);
}

int main(void)
{
    void *volatile local = held();

    dirty();
    exit(!local);
}
