// max_memory= holds for each process: the child of a child of a child has as much as the first one.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=max_memory=4m; %leak %t
// REFUSE: untracked
// JSON: len(procs) == 61 and all(of("one", q).blocks >= 1 for q in procs)
// JSON: not any(q.coverage.untracked for q in procs)

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) static void one(void) { sink = malloc(10); }

int main(void)
{
    for (int generation = 0; generation < 60; generation++) {
        one();
        if (fork()) {
            wait(NULL);
            return 0;
        }
    }
    one();
    return 0;
}
