// A rule suppresses a block that is possibly lost: what only that block holds is suppressed by the same rule, as what a lost
// block holds. Without the rule both are reported; a block that another one holds is reported in any case.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// BUILD: printf 'leak:owner\n' >rule; printf 'leak:member\n' >other
// RUN: for rule in rule other; do LSAN_OPTIONS=suppressions=$rule %leak %t; done; %leak %t
// JSON: [q.summary.possible.bytes for q in procs] == [48, 248, 288]
// JSON: [q.suppressed.bytes for q in procs] == [240, 40, 0]
// JSON: [r.suppressed_by for n in ("owner", "member", "apart") for r in hits(n, procs[0])] == ["leak:owner", "leak:owner", None]
// JSON: [r.suppressed_by for n in ("owner", "member", "apart") for r in hits(n, procs[1])] == [None, "leak:member", None]

#include "lib/verdicts.h"

static char *volatile held, *volatile another;
TAKE(owner, 200)
TAKE(member, 40)
TAKE(apart, 48)

FAR static void fill(void)
{
    void **block = owner();
    block[0] = member();
    held = (char *)(block + 12);
    another = (char *)apart() + 8;
}

int main(void)
{
    fill();
    scrub();
    return 0;
}
