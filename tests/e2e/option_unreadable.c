// Hard case 13: the only pointer stands in a page that is PROT_NONE at the end: a page of its own, and one in the
// middle of a block whose other pages are readable. Nobody can follow it, so what it points to is lost, and the report
// says that pages could not be read. With unreadable=on it is reachable; what is dropped is lost in any case. A page that
// is only read-only counts as any other, and none is reported.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t none; LIBLEAK_OPTIONS=unreadable=on; %leak %t none; LIBLEAK_OPTIONS=; %leak %t read; %report store/*.leak
// EXPECT: ^2 pages could not be read \(PROT_NONE\): blocks that only they hold are lost;$
// JSON: [verdict("behind", q) for q in procs] == [{"lost": (1, 40)}, {"reachable": (1, 40)}, {"reachable": (1, 40)}]
// JSON: [verdict("within", q) for q in procs] == [{"lost": (1, 72)}, {"reachable": (1, 72)}, {"reachable": (1, 72)}]
// JSON: all(verdict("beside", q) == {"reachable": (1, 24)} and verdict("dropped", q) == {"lost": (1, 56)} for q in procs)
// JSON: all(set(verdict(name, q)) == {"reachable"} for q in procs for name in ("page", "table"))
// JSON: [q.snapshot.unreadable_pages for q in procs] == [2, 0, 0]

#include "lib/verdicts.h"
#include <sys/mman.h>

FAR static void *page(void) { return opaque(memset(aligned_alloc(4096, 4096), 0, 4096)); }
FAR static void *table(void) { return opaque(memset(aligned_alloc(4096, 40960), 0, 40960)); }
TAKE(behind, 40)
TAKE(within, 72)
TAKE(beside, 24)
LOSE(dropped, 56)
static void **volatile one, **volatile many;

FAR static void make(int access)
{
    one = page();
    one[10] = behind();
    mprotect(one, 4096, access);
    many = table();
    many[1600] = within();
    many[100] = beside();
    mprotect((char *)many + 12288, 4096, access);
    dropped();
}

int main(int argc, char **argv)
{
    make(argv[1][0] == 'r' ? PROT_READ : PROT_NONE);
    scrub();
    return 0;
}
