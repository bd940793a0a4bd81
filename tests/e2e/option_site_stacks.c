// site_stacks=off: no stacks, yet blocks, bytes and kinds exact; on (the default): stacks.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=site_stacks=off; %leak %t; LIBLEAK_OPTIONS=site_stacks=on; %leak %t
// JSON: of("leak", procs[0]).blocks == 0 and of("leak", procs[1]).blocks == 100
// JSON: procs[0].totals.live_blocks == procs[1].totals.live_blocks >= 110
// JSON: procs[0].totals.live_bytes == procs[1].totals.live_bytes
// JSON: procs[0].totals.allocations == procs[1].totals.allocations
// JSON: sum(r.blocks for r in procs[0].records if r.kind == "memalign") == 10
// JSON: not any(r.frames for r in procs[0].records)

#include <stdlib.h>

void *volatile sink;
__attribute__((noinline)) void leak(void) { sink = malloc(10); sink = NULL; }

int main(void)
{
    for (int i = 0; i < 100; i++)
        leak();
    for (int i = 0; i < 10; i++)
        sink = aligned_alloc(64, 64);
    return 0;
}
