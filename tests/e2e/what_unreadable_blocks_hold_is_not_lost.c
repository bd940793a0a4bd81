// Hard case 13: the only pointer stands in a page that is PROT_NONE for the moment (pages of a garbage
// collector, of a guard): the program could make it readable again, so what it points to is not lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("page") == {"reachable": (1, 4096)}
// JSON: "lost" not in verdict("behind") and of("behind").blocks == 1
// JSON: verdict("dropped") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <sys/mman.h>

FAR static void *page(void) { return opaque(memset(aligned_alloc(4096, 4096), 0, 4096)); }
TAKE(behind, 40)
LOSE(dropped, 56)
static void **volatile global;

FAR static void make(void)
{
    global = page();
    global[10] = behind();
    mprotect(global, 4096, PROT_NONE);
    dropped();
}

int main(void)
{
    make();
    return 0;
}
