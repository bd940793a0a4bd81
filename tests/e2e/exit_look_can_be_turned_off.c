// exit_look=off: everything is "unfreed"; a look asked for before still stands, for the blocks there were then;
// what came after it is unfreed.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=exit_look=off
// RUN: %leak %t; %leak %t look
// JSON: verdict("dropped", procs[0]) == {"unfreed": (1, 40)} and procs[0].snapshot is None
// JSON: verdict("dropped", procs[1]) == {"lost": (1, 40)} and verdict("later", procs[1]) == {"unfreed": (1, 56)}
// JSON: procs[0].summary.lost.blocks == 0 and procs[1].summary.unfreed.blocks >= 1

#include "lib/verdicts.h"

LOSE(dropped, 40)
LOSE(later, 56)

int main(int argc, char **argv)
{
    dropped();
    scrub();
    if (argc > 1)
        look();
    later();
    return 0;
}
