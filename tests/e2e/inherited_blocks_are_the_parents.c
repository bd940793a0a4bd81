// A fork child's account starts with what it inherited: not its leaks by default, listed with --inherited.
// CFLAGS: -O1 -g -fno-builtin
// RUN: %leak %t; for s in store/*.leak; do %report "$s" | sed 's/^/plain: /'; %report --inherited "$s" | grep -c before_fork | sed 's/^/inherited: /'; done
// EXPECT: ^plain: .*inherit
// JSON: sorted((of("before_fork", q).blocks, of("in_child", q).blocks) for q in procs) == [(0, 1), (10, 0)]
// REFUSE: inherited: 0

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;
__attribute__((noinline)) void before_fork(void) { for (int i = 0; i < 10; i++) sink = malloc(10); sink = NULL; }
__attribute__((noinline)) void in_child(void) { sink = malloc(20); sink = NULL; }

int main(void)
{
    before_fork();
    if (!fork()) {
        in_child();
        exit(0);
    }
    wait(NULL);
    return 0;
}
