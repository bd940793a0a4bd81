// Hard case 3, after the last exit handler: what a function that called exit and its callers hold is
// told of them, and not of the functions of libc that run the handlers.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("in_main") == {"reachable": (1, 40)} and verdict("in_between") == {"reachable": (1, 24)}
// JSON: root("in_main").cls == "stacks" and root("in_main").function in ("main", "between") # it may wait in a register that between() has saved
// JSON: root("in_between").cls == "stacks" and root("in_between").function == "between"
// JSON: verdict("by_handler") == {"reachable": (1, 72)} and verdict("dropped") == {"lost": (1, 56)}

#include "lib/verdicts.h"

TAKE(in_main, 40)
TAKE(in_between, 24)
TAKE(by_handler, 72)
LOSE(dropped, 56)
static void *volatile kept;

static void handler(void)
{
    kept = by_handler();
}

FAR static void between(void)
{
    void *volatile local[9] = {in_between()};

    exit(!local[0]);
}

int main(void)
{
    void *volatile local = in_main();

    atexit(handler);
    dropped();
    between();
    return !local;
}
