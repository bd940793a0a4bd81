// sample=1 records exactly; sample=N says what is an estimate, how good it is and what may be missing, in
// text and JSON, and that no leak check was made; a program without a sample is not reported as untracked. Other options apply as well.
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=exit_look=off; %leak %t; LIBLEAK_OPTIONS=sample=1; %leak %t; LIBLEAK_OPTIONS=sample=64m; %leak %t
// RUN: LIBLEAK_OPTIONS=sample=100:site_stacks=off; %leak %t; LIBLEAK_OPTIONS=sample=100:min_size=1000:depth=2; %leak %t
// RUN: LIBLEAK_OPTIONS=sample=65m; %leak %t; LIBLEAK_OPTIONS=; echo; rm -f store/*.6.leak
// RUN: %run --sample=10k --all-frames %t
// RUN: %run --sample=64m --error-exitcode=9 %t little
// RUN: %run --sample=64m %t little children
// EXPECT: bad value in 'sample=65m'
// EXPECT: ^~[0-9.]+ (k|M)B \+-[0-9.]+ (k|M)B in ~[0-9,]+ blocks unfreed \([0-9] records\)$
// EXPECT: ^[0-9]\. ~[0-9.]+ (k|M)B in ~[0-9,]+ of ~[0-9,]+ blocks unfreed \(malloc\) +[0-9a-f]{16}$
// EXPECT: ^     estimated from [0-9]+ samples: \+-[0-9.]+ (k|M)B, \+-[0-9,]+ blocks \(95 %\)$
// EXPECT: ^[0-9]\. 3,000,000 bytes in 1 block unfreed \(malloc\) +[0-9a-f]{16}$
// EXPECT: ^~[0-9,]+ allocations, ~[0-9,]+ frees; peak ~[0-9.]+ MB\.$
// EXPECT: ^Note: recorded with sample=10240: .*estimates
// EXPECT: ^Note: small leaks can be missed: one of L bytes with probability exp\(-L/10240\), which is 37 % at 10,240 bytes
// EXPECT: ^no unfreed blocks among the sampled ones$
// EXPECT: ^Same result in 3 more processes:
// REFUSE: WARNING
// REFUSE: could be tracked
// JSON: len(procs) == 6
// JSON: procs[0].sampled is None and procs[0].totals.error is None and all(r.error is None for r in procs[0].records)
// JSON: procs[1].sampled.bytes == 1 and procs[2].sampled.bytes == 2**26
// JSON: procs[0].totals.live_bytes == procs[1].totals.live_bytes and procs[0].totals.frees == procs[1].totals.frees
// JSON: procs[0].totals.allocations == procs[1].totals.allocations and procs[0].totals.bytes_allocated == procs[1].totals.bytes_allocated
// JSON: procs[0].totals.peak_bytes == procs[1].totals.peak_bytes
// JSON: [(r.signature, r.bytes, r.blocks, len(r.frames)) for r in procs[0].records] == [(r.signature, r.bytes, r.blocks, len(r.frames)) for r in procs[1].records]
// JSON: all(r.error.bytes == r.error.blocks == 0 and r.error.samples == r.blocks for r in procs[1].records)
// JSON: procs[1].totals.error.bytes == 0 and procs[1].notes == ["no leak check was made: with sample= most blocks are unknown"]
// JSON: procs[2].notes[:1] == procs[1].notes and len(procs[2].notes) == 3 and "exp(-L/67108864)" in procs[2].notes[2]
// JSON: not any(r.frames for r in procs[3].records) and procs[3].totals.error.samples > 100
// JSON: abs(procs[3].totals.live_bytes - procs[0].totals.live_bytes) < 3 * procs[3].totals.error.bytes
// JSON: of("small", procs[4]).blocks == 0 and of("sure", procs[4]).bytes == 3000000
// JSON: all(len(r.frames) <= 2 for r in procs[4].records)
// JSON: any(9000 < u.count < 15000 for u in procs[4].coverage.untracked if u.what == "FILTERED")
// JSON: procs[5].sampled is None

#include <stdlib.h>
#include <unistd.h>

void *volatile sink;
#define FAR __attribute__((noinline))
FAR void small(void)
{
    for (int i = 0; i < 10000; i++)
        sink = malloc(100);
}
FAR void sure(void)
{
    sink = malloc(3000000);
}
FAR void empty(void)
{
    for (int i = 0; i < 500; i++)
        sink = malloc(0);
}
FAR void freed(void)
{
    for (int i = 0; i < 1000; i++)
        free(malloc(700));
}

FAR void little(void)
{
    sink = malloc(50);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        for (int i = 3; argc > 2 && i; i--)
            if (fork() == 0)
                argc = 2;
        little();
        return 0;
    }
    small(), empty(), freed(), sure();
    return 0;
}
