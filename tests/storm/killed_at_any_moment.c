// kill -9 of a busy 4-thread program at KILLS random moments (SEED repeats them): the store is readable
// every time, and its sums are the program's own ledger within one allocation per thread.
// CFLAGS: -O2 -g -fno-builtin -fno-optimize-sibling-calls
// RUN: /usr/bin/python3 %S/kill.py %t %O/libleak.so %report %d
// EXPECT: ^all moments agree

/* The ledger is a shared file: a row of 8 numbers for each thread, written after each call came back.
 * 512 stacks for each thread, so that counters move between threads' slots and sites all the time. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct row { volatile uint64_t allocs, bytes, frees, freed_bytes, pad[4]; };
static struct row *ledger;
static long limit;
static __thread void *volatile sink;

#define FAR __attribute__((noinline))
FAR void *zero(unsigned bits, int left, size_t n);
FAR void *one(unsigned bits, int left, size_t n);
FAR void *next(unsigned bits, int left, size_t n)
{
    void *p = !left ? malloc(n) : bits & 1 ? one(bits >> 1, left - 1, n) : zero(bits >> 1, left - 1, n);
    sink = p;
    return p;
}
void *zero(unsigned bits, int left, size_t n) { void *p = next(bits, left, n); sink = &p; return p; }
void *one(unsigned bits, int left, size_t n) { void *p = next(bits, left, n); sink = &p; return p; }

#define WORK(name, r)                                                                              \
    FAR void *name(void *arg)                                                                      \
    {                                                                                              \
        static void *held[1000];                                                                   \
        static size_t size[1000];                                                                  \
        uint64_t x = 88172645463325252ul + r * 7919;                                               \
        for (long i = 0; i != limit; i++) {                                                        \
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;                                               \
            unsigned k = x % 1000;                                                                 \
            if (held[k]) {                                                                         \
                free(held[k]);                                                                     \
                ledger[r].frees++;                                                                 \
                ledger[r].freed_bytes += size[k];                                                  \
                held[k] = NULL;                                                                    \
            } else {                                                                               \
                size[k] = 1 + (x >> 20) % 600;                                                     \
                held[k] = next(x >> 40 & 511, 9, size[k]);                                         \
                ledger[r].allocs++;                                                                \
                ledger[r].bytes += size[k];                                                        \
            }                                                                                      \
        }                                                                                          \
        return NULL;                                                                               \
    }
WORK(worker_0, 0)
WORK(worker_1, 1)
WORK(worker_2, 2)
WORK(worker_3, 3)

int main(int argc, char **argv)
{
    void *(*work[])(void *) = { worker_0, worker_1, worker_2, worker_3 };
    pthread_t t[4];
    int fd = open(argv[1], O_RDWR);

    limit = atol(argv[2]);
    ledger = mmap(NULL, 4 * sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
