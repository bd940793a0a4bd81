// Hard case 4: two blocks that point to each other: one lost record, said to be a cycle; the other block
// hangs under it. Which of the two leads does not depend on where they lie or which word points.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for i in 1 2 3 4 5 6; do %leak %t $i || exit; done
// JSON: len(procs) == 6
// JSON: all(sorted({**verdict("first", q), **verdict("second", q)}) == ["indirect", "lost"] for q in procs)
// JSON: all(len([r for r in q.records if r.verdict == "lost" and r.cycle and r.blocks == 1 and r.retained == {"blocks": 2, "bytes": 64}]) == 1 for q in procs)
// JSON: all(under("first", "second", q) or under("second", "first", q) for q in procs)
// JSON: all(len({str(sorted((r.signature, r.verdict) for r in q.records if r.verdict in ("lost", "indirect"))) for q in procs[i::2]}) == 1 for i in (0, 1))
// JSON: lost_total == (2, 64)

#include "lib/verdicts.h"

TAKE(first, 24)
TAKE(second, 40)

FAR static void make(int n)
{
    void *fill[64], **a, **b;

    for (int i = 0; i < 64; i++)
        fill[i] = malloc(8 + i % 6 * 16 * n);
    if (n & 1)
        a = first(), b = second();
    else
        b = second(), a = first();
    a[n % 3] = b;
    b[n % 5] = a;
    for (int i = 0; i < 64; i++)
        free(fill[i]);
}

int main(int argc, char **argv)
{
    make(atoi(argv[1]));
    return 0;
}
