// A pool is destroyed while blocks of it live: they went with it, and are no leak. With pool_destroy_leaks=on they
// are reported, each stack once with its count, with the stack that destroyed the pool; released blocks and an empty
// pool are not. Live blocks of a pool that was not destroyed get the usual verdicts.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t; (export LIBLEAK_OPTIONS=pool_destroy_leaks=on; %leak %t); (export LIBLEAK_OPTIONS=pool_destroy_leaks=on:on_error=pool-leak=abort; %leak %t) || echo "ended by $?"; for s in store/*.leak; do %report $s; done
// EXPECT: ^ended by 134$
// EXPECT: pool-leak: 40 bytes of pool 'rows' alive when it was destroyed \(7 times\)$
// JSON: len(procs) == 3 and not misuse(procs[0])
// JSON: [(e.type, e.count, e.pool, e.to_pool) for e in misuse(procs[1])] == [("pool-leak", 7, "rows", "rows")]
// JSON: wrongs(procs[1]) == {("pool-leak", "row", "drop"): 7} and named(procs[1])
// JSON: all(verdict("row", q) == {} for q in procs[:2])
// JSON: all(verdict("lost_row", q) == {"lost": (2, 60)} for q in procs[:2])
// JSON: all(verdict("kept_row", q) == {"reachable": (1, 50)} for q in procs[:2])
// JSON: all({r.kind for r in q.records if any(f.function == "lost_row" for f in r.frames)} == {"pool"} for q in procs[:2])

#include "lib/verdicts.h"
#include <sys/mman.h>

static char *next, *volatile kept;
static int rows, empty, alive;

FAR static char *carve(void)
{
    next += 64;
    return next;
}
FAR static char *row(void)
{
    char *p = carve();

    LIBLEAK_POOL_ALLOC(&rows, p, 40);
    return p;
}
FAR static void lost_row(void)
{
    LIBLEAK_POOL_ALLOC(&alive, carve(), 30);
}
FAR static char *kept_row(void)
{
    char *p = carve();

    LIBLEAK_POOL_ALLOC(&alive, p, 50);
    return opaque(p);
}
FAR static void drop(void *pool) { LIBLEAK_POOL_DESTROY(pool); }

int main(void)
{
    next = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LIBLEAK_POOL_CREATE(&rows, "rows");
    LIBLEAK_POOL_CREATE(&empty, "empty");
    LIBLEAK_POOL_CREATE(&alive, "alive");
    for (int i = 0; i < 10; i++) {
        char *p = row();

        if (i < 3)
            LIBLEAK_POOL_FREE(&rows, p);
    }
    lost_row();
    kept = kept_row();
    lost_row();
    drop(&rows);
    drop(&empty);
    drop(&rows); /* there is none any more */
    next = NULL;
    scrub();
    return 0;
}
