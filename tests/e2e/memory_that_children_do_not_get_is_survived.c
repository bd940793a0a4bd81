// Hard case 13: blocks and a mapping marked MADV_DONTFORK: a child of the process does not have them. The
// look is made, neither they nor what they hold is lost, the rest is right. Of a block marked
// MADV_WIPEONFORK the child sees zeros: it is reachable, of what it holds nothing is asked here.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("not_forked") == {"reachable": (1, 8192)} and verdict("wiped") == {"reachable": (1, 8192)}
// JSON: of("behind").blocks == 2 and "lost" not in verdict("behind")
// JSON: verdict("dropped") == {"lost": (1, 56)}
// JSON: p.end.how == "exit" and p.end.value == 0 and p.snapshot.rung == "parked"

#include "lib/verdicts.h"
#include <sys/mman.h>

FAR static void *not_forked(void) { return opaque(memset(aligned_alloc(4096, 8192), 0, 8192)); }
FAR static void *wiped(void) { return opaque(memset(aligned_alloc(4096, 8192), 0, 8192)); }
TAKE(behind, 40)
LOSE(dropped, 56)
static void **volatile a, **volatile b;

FAR static void make(void)
{
    void **m = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    a = not_forked(), b = wiped();
    a[20] = behind(), m[20] = behind();
    madvise(a, 8192, MADV_DONTFORK);
    madvise(b, 8192, MADV_WIPEONFORK);
    madvise(m, 16384, MADV_DONTFORK);
    dropped();
}

int main(void)
{
    make();
    return 0;
}
