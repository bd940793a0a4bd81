// sample=, min_size= and max_size= leave blocks unknown, which may hold pointers to others: no look is made,
// "unfreed" stays, and the report says why.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for o in sample=64k min_size=20 max_size=4096; do LIBLEAK_OPTIONS=$o; %leak %t || exit; done
// JSON: len(procs) == 3
// JSON: all(q.summary.lost.blocks == 0 and q.summary.possible.blocks == 0 for q in procs)
// JSON: all("no leak check" in str(q.notes) for q in procs)
// JSON: all(set(verdict("dropped", q)) <= {"unfreed"} for q in procs)

#include "lib/verdicts.h"

LOSE(dropped, 40)

int main(void)
{
    for (int i = 0; i < 10000; i++)
        dropped();
    return 0;
}
