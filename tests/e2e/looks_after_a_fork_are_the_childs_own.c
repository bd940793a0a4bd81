// A process that has been looked at three times forks: the child's looks go to places of their own in its
// own store, and the end of both is what it would be without. (Looks of one process write over its older ones.)
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// JSON: len(procs) == 2 and not any("damaged" in n for q in procs for n in q.notes)
// JSON: [verdict("in_child", q) for q in procs if of("in_child", q).blocks] == [{"lost": (1, 40)}]
// JSON: verdict("held", procs[0]) == {"reachable": (1, 56)}
// JSON: all(q.snapshot.rung == "parked" and q.end.how == "exit" and q.end.value == 0 for q in procs)
// JSON: [of("many", q).blocks for q in procs if of("in_child", q).blocks] == [400]

#include "lib/verdicts.h"
#include <sys/wait.h>

TAKE(held, 56)
LOSE(in_child, 40)
static void *volatile global, *volatile more[400];

FAR static void *many(int depth) { return depth ? opaque(many(depth - 1)) : opaque(malloc(24)); }

int main(void)
{
    int status;

    global = held();
    for (int i = 0; i < 3; i++)
        look();
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 400; i++)
            more[i] = many(i % 40);
        in_child();
        for (int i = 0; i < 3; i++)
            look();
        return 0;
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
