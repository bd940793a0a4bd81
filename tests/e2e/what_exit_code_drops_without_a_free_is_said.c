// Exit code that frees and allocates nothing: a destructor clears a variable, or a field of a block, or unmaps or protects the
// memory that held the pointer: dropped by exit code. One that only counts, or moves a pointer within its variables, drops nothing.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for what in variable field map protect nothing writes stack; do %leak %t $what; done
// JSON: all(verdict("held", q) == {"reachable": (1, 1337)} for q in procs) and len(procs) == 7
// JSON: [bool(hits("held", q)[0].dropped) for q in procs] == [True, True, True, True, False, False, False]
// JSON: [q.snapshot.occasion == procs[4].snapshot.occasion for q in procs] == [False, False, False, False, True, True, True]

#include "lib/verdicts.h"
#include <sys/mman.h>

TAKE(held, 1337)
TAKE(holder, 64)
static char what;
static void *volatile variable, **volatile field, **volatile map, *volatile other;

__attribute__((destructor)) static void end(void)
{
    if (what == 'v')
        variable = NULL;
    if (what == 'f')
        field[3] = NULL;
    if (what == 'm')
        munmap(map, 4096);
    if (what == 'p')
        mprotect(map, 4096, PROT_NONE);
    if (what == 'w')
        other = variable, map = NULL;
}

FAR static void make(void)
{
    if (what == 'f') {
        field = holder();
        field[3] = held();
    } else if (what == 'm' || what == 'p') {
        map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        map[7] = held();
    } else {
        variable = held();
    }
}

int main(int argc, char **argv)
{
    void *volatile local = NULL;

    what = argv[1][0];
    if (what == 's') {
        local = held();
        exit(0);
    }
    make();
    scrub();
    return 0;
}
