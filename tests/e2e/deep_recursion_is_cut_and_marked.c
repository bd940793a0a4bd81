// Hard case 27: recursion 100,000 deep: no crash, the kept frames are the innermost, the cut is marked.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// CFLAGS: -O0 -g
// RUN: ulimit -s 65536; %leak %t 100000
// RUN: ulimit -s 65536; %leak %t 20
// RUN: %report %d/store/*.leak
// EXPECT: (cut|truncat|\.\.\.|…)
// JSON: of("deep", procs[0]).blocks == 1000 and of("deep", procs[1]).blocks == 20
// JSON: procs[0].coverage.truncated_stacks > 0 and procs[1].coverage.truncated_stacks == 0
// JSON: all(len([f for f in r.frames if f.function == "deep"]) >= 100 for r in hits("deep", procs[0]))
// JSON: all(r.frames[-1].function in ("_start", "main", "__libc_start_main", "__libc_start_call_main") for r in hits("deep", procs[1]))

#include <stdlib.h>

void *volatile sink;

__attribute__((noinline)) int deep(int n)
{
    if (n < 1000)
        sink = malloc(8);
    return n == 0 ? 0 : deep(n - 1) + 1;
}

int main(int argc, char **argv)
{
    return deep(atoi(argv[1]) - 1) != atoi(argv[1]) - 1;
}
