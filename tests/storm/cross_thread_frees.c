// 8 threads of 1e6 allocations each; most blocks are freed by another thread; realloc by others too:
// the sums are exact.
// CFLAGS: -O2 -g -fno-builtin
// RUN: %leak %t 1000000 >ledger; %leak %t 0 >/dev/null
// JSON: p.totals.allocations - procs[1].totals.allocations == 8 * 1000000
// JSON: p.totals.live_blocks - procs[1].totals.live_blocks == int(ledger[0][0]) == sum(r.blocks for r in hits("worker"))
// JSON: p.totals.live_bytes - procs[1].totals.live_bytes == int(ledger[0][1]) == sum(r.bytes for r in hits("worker"))
// JSON: p.totals.frees - procs[1].totals.frees == 8 * 1000000 - int(ledger[0][0])
// JSON: p.coverage.unknown_frees == 0
// JSON: all(r.blocks >= 0 and r.bytes >= 0 for r in p.records)

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SHELVES 4096
static _Atomic(void *) shelf[SHELVES];
static atomic_long live_blocks, live_bytes;
static long count;

static __attribute__((noinline)) void *from_one(size_t n) { void *p = malloc(n); *(size_t *)p = n; return p; }
static __attribute__((noinline)) void *from_two(size_t n) { void *p = calloc(1, n); *(size_t *)p = n; return p; }
static __attribute__((noinline)) void *again(void *p, size_t n) { p = realloc(p, n); *(size_t *)p = n; return p; }

static __attribute__((noinline)) void *worker(void *arg)
{
    unsigned long x = 88172645463325252ul + (long)arg * 977, blocks = 0, bytes = 0;

    for (long i = 0; i < count; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        size_t n = 8 + x % 500;
        void *p, *old = atomic_exchange(&shelf[x >> 20 & (SHELVES - 1)], NULL);
        if (old && x % 5 == 0) {
            bytes -= *(size_t *)old, blocks--;
            p = again(old, n);
            old = NULL;
        } else {
            p = x & 1 ? from_one(n) : from_two(n);
        }
        bytes += n, blocks++;
        if (old) {
            bytes -= *(size_t *)old, blocks--;
            free(old);
        }
        if (x % 1009 == 0)
            continue; /* leaked */
        if ((old = atomic_exchange(&shelf[x >> 40 & (SHELVES - 1)], p))) {
            bytes -= *(size_t *)old, blocks--;
            free(old);
        }
    }
    live_blocks += blocks, live_bytes += bytes;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[8];
    char line[64];

    count = atol(argv[1]);
    for (long i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    dprintf(1, "%ld %ld\n", (long)live_blocks, (long)live_bytes);
    return 0;
}
