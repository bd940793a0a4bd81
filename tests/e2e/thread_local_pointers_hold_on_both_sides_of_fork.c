// Hard case 16: a __thread pointer set before fork and another set after it: reachable in the parent, and
// in the child; cleared in the child alone, lost in the child alone.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: len(procs) == 2
// JSON: verdict("before_fork") == {"reachable": (1, 40)} and root("before_fork").cls == "tls"
// JSON: sorted(str(verdict("after_fork", q)) for q in procs) == [str({"reachable": (1, 56)})] * 2
// JSON: sorted(str(verdict("cleared", q)) for q in procs) == [str({"lost": (1, 72)}), str({})]
// JSON: all(q.summary.lost.blocks == len(verdict("cleared", q)) for q in procs)

#include "lib/verdicts.h"
#include <sys/wait.h>

static __thread void *volatile before, *volatile after, *volatile third;
TAKE(before_fork, 40)
TAKE(after_fork, 56)
TAKE(cleared, 72)

FAR static void child(void)
{
    third = cleared();
    third = NULL;
}

int main(void)
{
    before = before_fork();
    if (!fork()) {
        after = after_fork();
        child();
        return 0;
    }
    wait(NULL);
    after = after_fork();
    return 0;
}
