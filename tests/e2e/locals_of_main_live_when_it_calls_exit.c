// Hard case 3: the program that calls exit(0) in main has not left main: its locals, and those of the
// functions between, hold what they point to; what it dropped before is lost all the same.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: verdict("in_main") == {"reachable": (1, 40)} and verdict("in_between") == {"reachable": (1, 24)}
// JSON: root("in_main").cls == "stacks" and root("in_main").function in ("main", "between") # it may wait in a register that between() has saved
// JSON: root("in_between").cls == "stacks" and root("in_between").function == "between"
// JSON: verdict("dropped") == {"lost": (1, 56)} and lost_total == (1, 56)

#include "lib/verdicts.h"

TAKE(in_main, 40)
TAKE(in_between, 24)
LOSE(dropped, 56)

FAR static void between(void)
{
    void *volatile local = in_between();

    exit(!local);
}

int main(void)
{
    void *volatile local = in_main();

    dropped();
    between();
    return !local;
}
