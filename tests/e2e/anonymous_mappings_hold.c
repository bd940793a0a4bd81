// Hard case 26a: pointers in memory a program maps for itself, as the arenas of an interpreter: reachable,
// by anon; left out by roots=, lost; and once it is unmapped, lost. (LeakSanitizer leaves them out.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t; LIBLEAK_OPTIONS=roots=globals,stacks,registers,tls,user; %leak %t
// JSON: len(procs) == 2 and verdict("in_mapping", procs[0]) == {"reachable": (100, 4000)} and root("in_mapping", procs[0]).cls == "anon"
// JSON: verdict("in_mapping", procs[1]) == {"lost": (100, 4000)}
// JSON: all(verdict("in_unmapped", q) == {"lost": (1, 56)} for q in procs)

#include "lib/verdicts.h"
#include <sys/mman.h>

TAKE(in_mapping, 40)
TAKE(in_unmapped, 56)

FAR static void make(void)
{
    void **p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **q = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < 100; i++)
        p[i * 1000] = in_mapping();
    q[77] = in_unmapped();
    munmap(q, 1 << 20);
}

int main(void)
{
    make();
    return 0;
}
