// Hard case 32: a malloc linked into the program that cannot be led to us, its free being one instruction: what passes
// us by is said, with the reason, "no leaks" never.
// CFLAGS: -O1 -g -fno-builtin
// CFLAGS: -O1 -g -fno-builtin -rdynamic
// RUN: %leak %t; %report store/*.leak; %run -- %t
// EXPECT: own malloc works
// EXPECT: ^libleak: the program's own malloc is not tracked: free: it (is too short|begins with code that cannot be moved)$
// EXPECT: (malloc of (its|their) own|0 allocations seen|nothing could be tracked|own allocator)
// REFUSE: [Nn]o leaks
// JSON: "own" in str(p.coverage.untracked).lower() or p.totals.allocations == 0

#include <stdio.h>
#include <string.h>
#include <stddef.h>
#include <unistd.h>

static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~15ul; return p; }
__asm__(".text; .globl free; .type free, %function; free: ret; .size free, 1; .globl behind; .type behind, %function; behind: ret");
void free(void *);
void *calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }

void *volatile sink;

int main(void)
{
    for (int i = 0; i < 100; i++)
        sink = malloc(10);
    write(1, "own malloc works\n", 17);
    return 0;
}
