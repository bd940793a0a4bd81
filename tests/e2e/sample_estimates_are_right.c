// sample=: over 200 runs the mean of the estimates is the truth, within five standard deviations, and the
// error said holds the truth in more than 85 % of the runs. What was freed is no record. (Chance fails this
// in one of some hundred thousand runs.)
// CFLAGS: -O1 -g -fno-builtin
// RUN: for i in $(seq 200); do LIBLEAK_OPTIONS=sample=4096; %leak %t || exit 1; done
// JSON: len(procs) == 200 and all(q.sampled.bytes == 4096 for q in procs)
// JSON: all(of("freed", q).blocks == 0 and q.coverage.unknown_frees == 0 for q in procs)
// JSON: abs(sum(of("small", q).bytes for q in procs) / 200 - 80000) < 5 * (2000 * 40**2 * 4096/41 / 200)**.5
// JSON: abs(sum(of("small", q).blocks for q in procs) / 200 - 2000) < 5 * (2000 * 4096/41 / 200)**.5
// JSON: abs(sum(of("middle", q).bytes for q in procs) / 200 - 300000) < 5 * (100 * 3000**2 * 1.5 / 200)**.5
// JSON: abs(sum(of("large", q).bytes for q in procs) / 200 - 200000) < 5 * (20 * 10000**2 * .3 / 200)**.5
// JSON: abs(sum(of("mixed", q).bytes for q in procs) / 200 - 99900) < 5 * (100 * 999**2 * 4096/1000 / 200)**.5
// JSON: all(of("sure", q).bytes == 1000000 and of("sure", q).blocks == 1 for q in procs)
// JSON: sum(abs(r.bytes - 80000) <= r.error.bytes and abs(r.blocks - 2000) <= r.error.blocks for q in procs for r in hits("small", q)) >= 170
// JSON: sum(abs(r.bytes - 300000) <= r.error.bytes for q in procs for r in hits("middle", q)) >= 170
// JSON: sum(abs(r.bytes - 99900) <= r.error.bytes for q in procs for r in hits("mixed", q)) >= 170
// JSON: sum(abs(q.totals.live_bytes - 1679900) <= q.totals.error.bytes for q in procs) >= 170
// JSON: all(r.error.bytes == r.error.blocks == 0 and r.error.samples == 1 for q in procs for r in hits("sure", q))
// JSON: abs(sum(q.totals.allocations for q in procs) / 200 - 7421) < 5 * (7421 * 4096/40 / 200)**.5

#include <stdlib.h>

void *volatile sink;
#define FAR __attribute__((noinline))
FAR void small(void)
{
    for (int i = 0; i < 2000; i++)
        sink = malloc(40);
}
FAR void middle(void)
{
    for (int i = 0; i < 100; i++)
        sink = calloc(3, 1000);
}
FAR void large(void)
{
    for (int i = 0; i < 20; i++)
        sink = malloc(10000);
}
FAR void sure(void) { sink = malloc(1000000); }
FAR void mixed(void)
{
    for (int i = 0; i < 200; i++)
        sink = realloc(malloc(70), i % 2 ? 999 : 0x0);
}
FAR void freed(void)
{
    for (int i = 0; i < 5000; i++)
        free(malloc(i % 300));
}

int main(void)
{
    small(), middle(), large(), mixed(), freed(), sure();
    return 0;
}
