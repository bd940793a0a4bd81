// Hard case 13: memory right below a guard page and right above one: the words at both ends hold, the
// guard pages are not read. (LeakSanitizer: guard-page.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// REFUSE: signal
// JSON: verdict("first_word") == {"reachable": (1, 40)} and verdict("last_word") == {"reachable": (1, 56)}
// JSON: lost_total == (0, 0) and p.snapshot.rung == "parked" and p.end.value == 0

#include "lib/verdicts.h"
#include <signal.h>
#include <sys/mman.h>

TAKE(first_word, 40)
TAKE(last_word, 56)
static void handler(int s) { write(1, "signal\n", 7); _exit(1); }

FAR static void make(void)
{
    char *p = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE);
    *(void **)(p + 4096) = first_word();
    *(void **)(p + 8192 - 8) = last_word();
}

int main(void)
{
    signal(SIGSEGV, handler);
    make();
    return 0;
}
