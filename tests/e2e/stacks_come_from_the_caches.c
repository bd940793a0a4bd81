// Stacks that come back are found in the stack cache, and of those that are walked the outer frames are
// the ones of the walk before: rates that a fault in either would bring down while every stack stayed
// right. Printed with -v; without stacks there is nothing to capture.
// CFLAGS: -O1 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: %leak %t hot; %report -v store/*.leak; %leak %t deep; LIBLEAK_OPTIONS=free_stacks=all; %leak %t hot; LIBLEAK_OPTIONS=site_stacks=off; %leak %t hot
// EXPECT: ^Stacks: [0-9,]+ captures, [0-9,]+ \(9[0-9]\.[0-9] %\) found in the stack cache; [0-9,]+ walks,$
// EXPECT: ^  [0-9,]+ \([0-9]+\.[0-9] %\) of their frames shared with the previous walk\.$
// JSON: all(s.captures == s.leaf_cache_hits + s.walks for s in (q.coverage.stacks for q in procs))
// JSON: procs[0].coverage.stacks.leaf_cache_hits > 0.95 * procs[0].coverage.stacks.captures >= 0.95 * procs[0].coverage.allocations
// JSON: procs[1].coverage.stacks.frames_shared > 0.8 * (procs[1].coverage.stacks.frames_shared + procs[1].coverage.stacks.frames_walked)
// JSON: procs[1].coverage.stacks.walks >= 3000
// JSON: procs[2].coverage.stacks.captures == procs[2].coverage.allocations + procs[2].totals.frees
// JSON: procs[0].coverage.stacks.captures < procs[0].coverage.allocations + procs[0].totals.frees / 16
// JSON: procs[3].coverage.stacks == dict(captures=0, leaf_cache_hits=0, walks=0, frames_walked=0, frames_shared=0)

#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline))

void *volatile sink;

FAR int hot(int n)
{
    if (n)
        return hot(n - 1) + 1;
    for (int i = 0; i < 20000; i++) {
        sink = malloc(24);
        free(sink);
    }
    return 0;
}

/* Each allocation in a stack that was not there before, 40 frames deep, the inner few of them new. */
FAR int one(int path)
{
    if (path > 1)
        return (path & 1 ? one(path >> 1) : one(path >> 1) + 1);
    sink = malloc(24);
    return 0;
}

FAR int deep(int n)
{
    int sum = 0;
    if (n)
        return deep(n - 1) + 1;
    for (int i = 8; i < 4096; i++)
        sum += one(i);
    return sum;
}

int main(int argc, char **argv)
{
    return (strcmp(argv[1], "hot") ? deep(40) : hot(20)) == -1;
}
