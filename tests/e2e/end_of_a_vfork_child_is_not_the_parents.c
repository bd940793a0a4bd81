// Hard case 18: a child of vfork, whose memory is the parent's, calls _exit, or fails to exec and calls
// _exit: no look is made of the parent there, and the one at its own end is right.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^back twice
// JSON: len(procs) == 1 and p.end.how == "exit" and p.end.value == 7
// JSON: verdict("after") == {"lost": (1, 40)} and verdict("held") == {"reachable": (1, 56)}
// JSON: lost_total == (1, 40)
// EXIT: 7

#include "lib/verdicts.h"
#include <sys/wait.h>

LOSE(after, 40)
TAKE(held, 56)
static void *volatile global;

int main(void)
{
    int status, back = 0;
    pid_t pid;

    global = held();
    if (!(pid = vfork()))
        _exit(3);
    back += waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3;
    if (!(pid = vfork())) {
        execl("/no/such/program", "x", NULL);
        _exit(4);
    }
    back += waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 4;
    if (back == 2)
        write(1, "back twice\n", 11);
    after();
    return 7;
}
