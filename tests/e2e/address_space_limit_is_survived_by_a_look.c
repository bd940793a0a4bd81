// Hard case 19: no more address space to be had (RLIMIT_AS): the look is made with what there is, or is said
// not to be; the program goes on, and nothing held is called lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^goes on$
// EXIT: 6
// JSON: verdict("dropped") in ({"lost": (1, 40)}, {"unfreed": (1, 40)}) and verdict("held") in ({"reachable": (1, 56)}, {"unfreed": (1, 56)})
// JSON: p.snapshot and p.snapshot.rung == "parked" or "no leak check" in notes
// JSON: p.end.value == 6

#include "lib/verdicts.h"
#include <sys/resource.h>

LOSE(dropped, 40)
TAKE(held, 56)
static void *volatile global;

int main(void)
{
    struct rlimit limit;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    fscanf(f, "%ld", &pages);
    fclose(f);
    limit.rlim_cur = limit.rlim_max = pages * 4096 + 65536;
    dropped();
    global = held();
    if (setrlimit(RLIMIT_AS, &limit))
        return 1;
    look();
    write(1, "goes on\n", 8);
    return 6;
}
