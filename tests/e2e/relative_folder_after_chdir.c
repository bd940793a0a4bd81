// dir= and LD_PRELOAD relative, chdir right after the start: the child's store goes where the parent's is, and
// both are reported at the end.
// CFLAGS: -O1 -g -fno-builtin
// RUN: cp %O/libleak.so %O/leakreport .; LD_PRELOAD=./libleak.so LIBLEAK_OPTIONS=dir=store:report=exit %t
// REFUSE: no recording file in
// EXPECT: reachable=10/1/1 .* unfreed=0/0/0
// EXPECT: reachable=11/1/1 .* unfreed=0/0/0
// JSON: len(procs) == 2

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *volatile sink;

int main(void)
{
    chdir("/");
    sink = malloc(10);
    if (!fork()) {
        sink = malloc(11);
        return 0;
    }
    wait(NULL);
    return 0;
}
