// exit_budget= and look_mem= that are too small for a heap of a million blocks: no look, said with its
// reason, and no guess; the program's end is the program's. With room for it: the verdicts.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for o in exit_budget=1ms look_mem=4k exit_budget=60s; do LIBLEAK_OPTIONS=$o; %leak %t || exit; done
// JSON: len(procs) == 3 and all(q.end.value == 0 for q in procs)
// JSON: all(verdict("node", q) == {"unfreed": (1000000, 24000000)} and verdict("dropped", q) == {"unfreed": (1, 40)} for q in procs[:2])
// JSON: verdict("node", procs[2]) == {"reachable": (1000000, 24000000)} and verdict("dropped", procs[2]) == {"lost": (1, 40)}
// JSON: "exit_budget" in str(procs[0].notes) and "look_mem" in str(procs[1].notes)

#include "lib/verdicts.h"

TAKE(node, 24)
LOSE(dropped, 40)
static void *volatile list;

int main(void)
{
    for (int i = 0; i < 1000000; i++) {
        void **p = node();
        *p = list;
        list = p;
    }
    dropped();
    return 0;
}
