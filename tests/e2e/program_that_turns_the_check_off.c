// A program that defines __lsan_is_turned_off as 1: no look, no verdicts but "unfreed"; as 0: as ever.
// (LeakSanitizer: link_turned_off.)
// CFLAGS: -O0 -g -fno-builtin -rdynamic -DOFF=1
// CFLAGS: -O2 -g -fno-builtin -rdynamic -DOFF=1
// BUILD: cc -w -D_GNU_SOURCE -O1 -g -fno-builtin -rdynamic -DOFF=0 -o %d/on %s
// RUN: %leak %t && %leak %d/on
// JSON: verdict("dropped") == {"unfreed": (1, 40)} and p.snapshot is None
// JSON: [verdict("dropped", q) for q in procs if q.exe.endswith("/on")] == [{"lost": (1, 40)}]

#include "lib/verdicts.h"

LOSE(dropped, 40)
int __lsan_is_turned_off(void) { return OFF; }

int main(void)
{
    dropped();
    return 0;
}
