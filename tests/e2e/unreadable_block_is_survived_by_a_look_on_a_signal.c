// A leak check on a signal is made in a handler that has all signals blocked, faults included. Blocks made PROT_NONE and guard pages that
// no mapping shows (MADV_GUARD_INSTALL: Linux 6.13, and glibc 2.42 below the stacks of threads) do not end it: the block is reachable,
// and what only a guard page held is lost.
// CFLAGS: -O0 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off; %leak %t
// JSON: p.snapshot.rung and verdict("whole") == {"reachable": (1, 8192)}
// JSON: verdict("dropped") == {"lost": (1, 48)}
// JSON: verdict("in_mapping") == {"reachable": (2, 80)}
// JSON: verdict("in_guard") == {"lost": (1, 56)}

#include "lib/verdicts.h"
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096
#define GUARD_INSTALL 102

FAR static void *whole(void)
{
    return opaque(memset(aligned_alloc(4096, 8192), 0, 8192));
}
TAKE(in_mapping, 40)
TAKE(in_guard, 56)
LOSE(dropped, 48)
static void *volatile global;

FAR static void make(void)
{
    char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *(void **)p = in_mapping();
    *(void **)(p + PAGE) = in_guard();
    *(void **)(p + 2 * PAGE) = in_mapping();
    if (madvise(p + PAGE, PAGE, GUARD_INSTALL) != 0) /* an older kernel */
        *(void **)(p + PAGE) = NULL;
    global = whole();
    mprotect(global, 8192, PROT_NONE);
    dropped();
}

int main(void)
{
    make();
    scrub();
    if (libleak_present())
        kill(getpid(), 62);
    usleep(300000);
    return 0;
}
