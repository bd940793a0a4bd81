// Calls of addresses where nothing is, and stacks full of nonsense: the stack ends, marked, and the other
// unwinder, which may go on or read blindly, neither crashes the program nor is led to a difference.
// CFLAGS: -O2 -fno-stack-protector
// CFLAGS: -O1 -fno-stack-protector -fno-omit-frame-pointer
// RUN: export LIBLEAK_OPTIONS; LIBLEAK_OPTIONS=verbosity=1:unwind_check=1; %leak %t
// RUN: LIBLEAK_OPTIONS=verbosity=1:unwind_check=1:unwind_oracle=libgcc; %leak %t
// EXPECT: ^survived
// REFUSE: unwind_check: |unwind_check is off
// NEEDS: /usr/lib/x86_64-linux-gnu/libunwind.so.8
// JSON: len(procs) == 2 and all(q.coverage.unwind_checks == q.totals.allocations >= 170 for q in procs)
// JSON: all(q.coverage.unwind_mismatches == 0 and q.coverage.truncated_stacks > 50 for q in procs)

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define FAR __attribute__((noinline))
#define WORDS 24
static void *volatile sink;
static sigjmp_buf back;
static volatile int round;
static uintptr_t saved[WORDS];

static void handler(int number)
{
    (void)number;
    sink = malloc(5);
    siglongjmp(back, 1);
}

static uintptr_t nonsense(int k)
{
    return round % 3 == 0 ? 0x4141414141414140 + k : round % 3 == 1 ? 8 * k : (uintptr_t)&saved[k];
}

/* What lies above our own words is spoilt while we allocate, and then put back. */
FAR static void spoil(void)
{
    volatile uintptr_t here[2], *above = here + 2;

    for (int k = 0; k < WORDS; k++)
        saved[k] = above[k];
    sink = malloc(1);
    for (int k = 0; k < WORDS; k++)
        above[k] = nonsense(k);
    sink = malloc(7);
    for (int k = 0; k < WORDS; k++)
        above[k] = saved[k];
}

FAR static void with_room(void)
{
    volatile char room[300];

    room[3] = 1;
    spoil();
    room[4] = 1;
}

int main(void)
{
    signal(SIGSEGV, handler);
    for (round = 0; round < 50; round++) {
        void (*volatile nowhere)(void) = (void (*)(void))(round * 4096000ul);
        if (!sigsetjmp(back, 1))
            nowhere();
    }
    for (round = 0; round < 60; round++)
        with_room();
    return write(1, "survived\n", 9) != 9;
}
