// Hard case 13: reachable blocks made PROT_NONE, wholly and in one of two pages, at the exit and at a
// look that is asked for: the look is made, the blocks are reachable, what else is lost is found; what
// the readable page points to is reachable. (LeakSanitizer: dies.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^lost now: 1$
// JSON: verdict("whole") == {"reachable": (1, 8192)} and verdict("partly") == {"reachable": (1, 8192)}
// JSON: verdict("behind_readable") == {"reachable": (1, 40)}
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.end.how == "exit" and p.end.value == 0

#include "lib/verdicts.h"
#include <sys/mman.h>

FAR static void *whole(void) { return opaque(memset(aligned_alloc(4096, 8192), 0, 8192)); }
FAR static void *partly(void) { return opaque(memset(aligned_alloc(4096, 8192), 0, 8192)); }
TAKE(behind_readable, 40)
LOSE(dropped, 56)
static void *volatile a, **volatile b;

FAR static void make(void)
{
    a = whole(), b = partly();
    b[10] = behind_readable();
    mprotect(a, 8192, PROT_NONE);
    mprotect((char *)b + 4096, 4096, PROT_NONE);
    dropped();
}

int main(void)
{
    make();
    scrub();
    printf("lost now: %ld\n", look());
    return 0;
}
