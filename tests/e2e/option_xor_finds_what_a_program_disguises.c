// Hard case 10: pointers kept xor a constant: lost without the option, hidden with
// xor=; blocks nothing points to stay lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=xor=0x5a5aa5a5deadbee0; %leak %t
// JSON: verdict("disguised", procs[0]) == {"lost": (3, 3 * 200)} and verdict("disguised", procs[1]) == {"hidden": (3, 3 * 200)}
// JSON: all(verdict("dropped", q) == {"lost": (1, 40)} for q in procs)

#include "lib/verdicts.h"

static volatile unsigned long word[3];
TAKE(disguised, 200)
LOSE(dropped, 40)

FAR static void make(void)
{
    for (int i = 0; i < 3; i++)
        word[i] = (unsigned long)disguised() ^ 0x5a5aa5a5deadbee0;
}

int main(void)
{
    make();
    dropped();
    return 0;
}
