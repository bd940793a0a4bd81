// depth=N keeps the N innermost frames and marks the cut; 1 and 1024 are the bounds; default 128.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: for n in 1 5 128 1024; do LIBLEAK_OPTIONS=depth=$n; %leak %t 600; done; LIBLEAK_OPTIONS=; %leak %t 600; %leak %t 20
// JSON: [len(hits("down", q)[0].frames) for q in procs[1:5]] == [5, 128, 600 + len(hits("down", procs[5])[0].frames) - 20, 128]
// JSON: [q.coverage.truncated_stacks > 0 for q in procs] == [True, True, True, False, True, False]
// JSON: len(hits("down", procs[0])) == 1 and len(hits("down", procs[0])[0].frames) <= 1
// JSON: all(of("down", q).blocks == 1 for q in procs)

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) int down(int n)
{
    if (n == 1)
        sink = malloc(8);
    return n == 1 ? 0 : down(n - 1) + 1;
}

int main(int argc, char **argv)
{
    return down(atoi(argv[1])) != atoi(argv[1]) - 1;
}
