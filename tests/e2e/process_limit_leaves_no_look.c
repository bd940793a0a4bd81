// Hard case 19: RLIMIT_NPROC lets the program make no more processes: no look can be made, which is said;
// nothing is called lost; the program goes on as without us.
// NEEDS: root
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// EXPECT: ^look: -[12]$
// EXIT: 9
// JSON: verdict("dropped") == {"unfreed": (1, 40)}
// JSON: p.snapshot is None or p.snapshot.rung == "none"
// JSON: "no leak check" in notes and "process limit" in notes
// JSON: p.end.how == "exit" and p.end.value == 9

#include "lib/verdicts.h"
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

LOSE(dropped, 40)

int main(void)
{
    struct rlimit none = { 0, 0 };

    chmod(".", 0777), chmod("store", 0777);
    if (setgid(54321) || setuid(54321) || setrlimit(RLIMIT_NPROC, &none))
        return 1;
    dropped();
    if (fork() != -1 || errno != EAGAIN)
        return 2;
    dprintf(1, "look: %ld\n", look());
    return 9;
}
