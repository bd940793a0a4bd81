// snapshot_every=: the last look tells what was lost when it was taken; a program killed later leaves it behind.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// ENV: LIBLEAK_OPTIONS=snapshot_every=50ms
// RUN: (%leak %t) 2>/dev/null; echo "ended with $?"
// EXPECT: ^ended with 137
// JSON: verdict("dropped") == {"lost": (1, 40)} and verdict("held") == {"reachable": (1, 56)}
// JSON: p.snapshot.rung == "parked"

#include "lib/verdicts.h"
#include <signal.h>

LOSE(dropped, 40)
TAKE(held, 56)
static void *volatile global;

int main(void)
{
    dropped();
    global = held();
    scrub();
    usleep(600000);
    kill(getpid(), SIGKILL);
    return 0;
}
