// Hard case 19: a filter that refuses clone, fork and vfork: no look can be made, which is said; nothing is
// called lost; the program ends with its own status.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^look: -[12]$
// EXIT: 5
// JSON: verdict("dropped") == {"unfreed": (1, 40)}
// JSON: p.snapshot is None or p.snapshot.rung == "none"
// JSON: "no leak check" in notes and p.end.value == 5

#include "lib/verdicts.h"
#include "../filter.h"

LOSE(dropped, 40)

#define NO(call) FILTER_REFUSE(SYS_##call, EPERM)
#ifdef SYS_fork
#define NO_FORK NO(fork), NO(vfork), NO(clone), NO(clone3)
#else
#define NO_FORK NO(clone), NO(clone3)
#endif

int main(void)
{
    if (!FILTER_SET(NO_FORK))
        return 1;
    dropped();
    if (fork() != -1 || errno != EPERM)
        return 2;
    dprintf(1, "look: %ld\n", look());
    return 5;
}
