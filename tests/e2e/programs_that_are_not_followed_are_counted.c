// Hard case 29d: programs that a followed one starts and that will have no account are counted where
// they were started: static ones, and those given an environment of their own. A failed exec and a
// followed child are not.
// CFLAGS: -O1 -g
// BUILD: echo 'int main(){return 0;}' | gcc -w -static -x c -o %d/static -
// RUN: %leak %t first %d/static
// JSON: sum(u["count"] for q in procs for u in q.coverage.untracked if "programs started" in u["what"] + u["why"]) == 4
// JSON: p.end.how == "exit" and p.end.value == 0

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
void *volatile sink;

int main(int argc, char **argv)
{
    char *none[] = { NULL }, *self[] = { "t", "child", NULL }, *other[] = { "static", NULL };
    pid_t pid;

    sink = malloc(1);
    if (!strcmp(argv[1], "child"))
        return 0;
    if (!fork()) { /* 1 */
        execv("/no/such/program", self);
        execv(argv[2], other);
        _exit(9);
    }
    if (!vfork()) { /* 2 */
        execve(argv[2], other, environ);
        _exit(9);
    }
    if (!fork()) { /* 3 */
        execle("/proc/self/exe", "t", "child", NULL, none);
        _exit(9);
    }
    posix_spawn(&pid, "/proc/self/exe", NULL, NULL, self, none); /* 4 */
    if (!fork()) {
        execv("/proc/self/exe", self);
        _exit(9);
    }
    while (wait(NULL) > 0)
        continue;
    return execve("/no/such/program", self, none) == -1 ? 0 : 1;
}
