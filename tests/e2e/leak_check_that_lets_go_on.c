// __lsan_do_recoverable_leak_check: 0 while nothing is lost, not 0 after, again and again; the program goes
// on. libleak_snapshot counts the lost blocks. (LeakSanitizer: recoverable_leak_check; Valgrind: leak-delta.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^clean 0, leaky 1, again 1, blocks 0 1 3 3$
// JSON: verdict("dropped") == {"lost": (1, 40)} and verdict("more") == {"lost": (2, 112)}
// JSON: p.end.value == 0

#include "lib/verdicts.h"
#include "lib/lsan.h"

LOSE(dropped, 40)
LOSE(more, 56)
FAR static int check(void) { return __lsan_do_recoverable_leak_check ? __lsan_do_recoverable_leak_check() : -1; }

int main(void)
{
    int clean, leaky, again;
    long blocks[4];

    blocks[0] = look();
    clean = check();
    dropped();
    scrub();
    leaky = check();
    blocks[1] = look();
    more(), more();
    scrub();
    blocks[2] = look();
    again = check();
    blocks[3] = look();
    printf("clean %d, leaky %d, again %d, blocks %ld %ld %ld %ld\n", clean, leaky != 0, again != 0, blocks[0],
           blocks[1], blocks[2], blocks[3]);
    return 0;
}
