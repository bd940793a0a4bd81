// Hard case 18: exec, abort, a crash, SIGKILL, a signal with fatal_look=off, the bare system call: no look, and no guess:
// "unfreed", no snapshot; how it ended is recorded, status and signal are the program's.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: for how in exec abort fault kill term bare; do (LIBLEAK_OPTIONS=fatal_look=off; export LIBLEAK_OPTIONS; %leak %t $how) >/dev/null 2>&1; echo "$how $?"; done 2>/dev/null
// EXPECT: ^exec 0$
// EXPECT: ^abort 134$
// EXPECT: ^fault 139$
// EXPECT: ^kill 137$
// EXPECT: ^term 143$
// EXPECT: ^bare 17$
// JSON: [q.argv[1] for q in procs if len(q.argv) > 1 and verdict("dropped", q) == {"unfreed": (3, 120)} and not (q.snapshot and q.snapshot.rung != "none")] == ["exec", "abort", "fault", "kill", "term", "bare"]
// JSON: {q.argv[1]: (q.end.how, q.end.value) for q in procs if len(q.argv) > 1}["exec"][0] == "exec"
// JSON: all(q.summary.lost.blocks == 0 for q in procs)
// JSON: [[n for n in q.notes if "no leak check" in n][0].split(": ")[1].split()[0] for q in procs if q.argv[1:] and q.argv[1] in ("abort", "kill", "bare")] == ["the", "SIGKILL", "SIGKILL"]

#include "lib/verdicts.h"
#include <signal.h>
#include <sys/syscall.h>

LOSE(dropped, 40)

int main(int argc, char **argv)
{
    const char *how = argv[1];

    dropped(), dropped(), dropped();
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", NULL);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "fault"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "bare"))
        syscall(SYS_exit_group, 17);
    return 1;
}
