// Hard case 32: an allocator preloaded before us takes every call: 0 allocations seen is said aloud.
// NEEDS: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2
// RUN: env "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 %O/libleak.so" LIBLEAK_OPTIONS=dir=%d/store %t; %report store/*.leak
// EXPECT: (0 allocations|nothing could be tracked|no allocation)
// REFUSE: [Nn]o leaks
// JSON: p.totals.allocations == 0

#include <stdlib.h>

void *volatile sink;

int main(void)
{
    sink = malloc(10);
    return 0;
}
