// A malloc in the program that only counts up, compiled together with its callers: the compiler knows which
// registers it preserves, and the callers keep values there over the call. It cannot be redirected to libleak, one
// line says so, and the program runs unchanged. So does a malloc that calls a leaf function. A malloc that calls a
// library, directly or through another function, is redirected.
// CFLAGS: -O2 -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin -fipa-ra -no-pie
// CFLAGS: -O2 -g -fno-builtin -DHELPED
// BUILD: cc -w -O2 -g -fno-builtin -DCALLS -o %d/calls %s
// BUILD: cc -w -O2 -g -fno-builtin -DCALLS -DHELPED -o %d/calls_by_another %s
// RUN: export LIBLEAK_OPTIONS=verbosity=1; %t && %leak %t && %leak %d/calls && %leak %d/calls_by_another
// EXPECT: ^all went well$
// EXPECT: ^libleak: the program's own malloc is not tracked: [a-z]*: its callers may rely on registers that it preserves$
// EXPECT: ^libleak: the program's own malloc is tracked
// JSON: len(procs) == 3 and all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: ["OWN_ALLOCATOR" in str(q.coverage.untracked) for q in procs] == [True, False, False]
// JSON: all(q.totals.allocations >= 201 and q.totals.frees >= 100 for q in procs[1:])

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

static char heap[1 << 20] __attribute__((aligned(64)));
static size_t used;
static volatile int calls;

#ifdef HELPED
FAR
#else
inline
#endif
static void call(void)
{
    calls++;
#ifdef CALLS
    if (getppid() < 0)
        _exit(3);
#endif
}

FAR void *malloc(size_t size)
{
    void *block = heap + used;
    call();
    size = (size + 15) & ~(size_t)15;
    if (used + size > sizeof heap)
        return NULL;
    used += size;
    return block;
}

FAR void free(void *block)
{
    call();
    if (block == heap)
        used = 0;
}

FAR void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    if (old && block)
        memcpy(block, old, size);
    return block;
}

FAR long work(long a, long b, long c, long d, double x)
{
    char *first = malloc(a & 63), *second = malloc(b & 31);
    free(second);
    return a + b * 3 + c * 5 + d * 7 + (long)(x * 2) + !first;
}

int main(void)
{
    char *text = malloc(10);
    long sum = 0;
    strcpy(text, "something");
    text = realloc(text, 100);
    for (long i = 0; i < 100; i++)
        sum += work(i, 1, 2, 3, i * .5);
    if (strcmp(text, "something") || sum != 100 * (3 + 10 + 21) + 2 * 4950)
        return 1;
    return write(1, "all went well\n", 14) != 14;
}
