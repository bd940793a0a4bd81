// Hard case 16: a block lost in a forked child alone: lost in the child's account, unknown in the
// parent's; the parent's own the other way round. (LeakSanitizer: fork, fork_and_leak.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: len(procs) == 2
// JSON: sorted(str(verdict("in_child", q)) for q in procs) == [str({"lost": (1, 40)}), str({})]
// JSON: verdict("in_parent") == {"lost": (1, 56)} and of("in_child").blocks == 0
// JSON: all(q.snapshot.rung == "parked" for q in procs)

#include "lib/verdicts.h"
#include <sys/wait.h>

LOSE(in_child, 40)
LOSE(in_parent, 56)

int main(void)
{
    if (!fork()) {
        in_child();
        return 0;
    }
    wait(NULL);
    in_parent();
    return 0;
}
