// Hard case 19: PR_SET_DUMPABLE 0 (its /proc files belong to root then), as root and as somebody else: the
// same verdicts.
// NEEDS: root
// CFLAGS: -O0 -g -fno-builtin -DID=0
// CFLAGS: -O2 -g -fno-builtin -DID=0
// CFLAGS: -O2 -g -fno-builtin -DID=54321
// JSON: verdict("dropped") == {"lost": (1, 40)} and verdict("held") == {"reachable": (1, 56)}
// JSON: p.snapshot.rung == "parked" and p.end.value == 0

#include "lib/verdicts.h"
#include <sys/prctl.h>

LOSE(dropped, 40)
TAKE(held, 56)
static void *volatile global;

int main(void)
{
    if (ID && (chmod(".", 0777) || chmod("store", 0777) || setgid(ID) || setuid(ID)))
        return 1;
    prctl(PR_SET_DUMPABLE, 0);
    dropped();
    global = held();
    return 0;
}
