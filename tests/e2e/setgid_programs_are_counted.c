// A program that gets the rights of another group runs without libleak, and the report of the program that started it counts
// it, as one of another user. With the group it has already, or with a bit that gives no rights, it is recorded.
// NEEDS: root
// BUILD: chmod 755 %d
// AFTER: cp %t other; cp %t same; cp %t bit; chgrp 65534 other bit; chmod 2755 other same; chmod 2745 bit
// RUN: for p in other same bit; do %leak %t %d/$p || echo "failed: $?"; done
// REFUSE: failed
// JSON: sorted((q.argv[1].split("/")[-1], sum(u.count for u in q.coverage.untracked if u.what == "PROGRAMS")) for q in procs if len(q.argv) == 2) == [("bit", 0), ("other", 1), ("same", 0)]
// JSON: sorted(q.argv[0].split("/")[-1] for q in procs if len(q.argv) == 1) == ["bit", "same"]

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;

int main(int argc, char **argv)
{
    int status = 0;

    sink = malloc(10);
    if (argc > 1) {
        if (!fork()) {
            execl(argv[1], argv[1], NULL);
            _exit(127);
        }
        wait(&status);
    }
    return WEXITSTATUS(status);
}
