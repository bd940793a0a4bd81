// A fork child's account starts with what it inherited: not its leaks by default, listed with --inherited.
// What it allocates at a place where its parent had allocated over and over is its own.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t; for s in store/*.leak; do %report "$s" | sed 's/^/plain: /'; %report --inherited "$s" | grep -c before_fork | sed 's/^/inherited: /'; done
// EXPECT: ^plain: .*inherit
// JSON: sorted((of("before_fork", q).blocks, of("in_child", q).blocks) for q in procs) == [(0, 1), (10, 0)]
// JSON: sorted(of("same_place", q).blocks for q in procs) == [5, 300]
// REFUSE: inherited: 0

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void before_fork(void) { for (int i = 0; i < 10; i++) sink = malloc(10); sink = NULL; }
__attribute__((noinline)) void in_child(void) { sink = malloc(20); sink = NULL; }

__attribute__((noinline)) void same_place(void) { sink = malloc(30); sink = NULL; }

int main(void)
{
    pid_t pid = 1;

    before_fork();
    for (int i = 0; i < 305 && pid; i++) { /* one call, as often as it takes to be remembered */
        if (i == 300 && (pid = fork()))
            break;
        if (i == 300)
            pid = 2, in_child();
        same_place();
    }
    if (pid == 2)
        exit(0);
    wait(NULL);
    return 0;
}
