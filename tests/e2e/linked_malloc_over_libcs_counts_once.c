// A malloc in the program that is made of libc's, found by dlsym(RTLD_NEXT) or called as __libc_malloc, with a word of
// its own in front of each block: one block for each call, where the program has it, and nothing is released wrongly.
// CFLAGS: -O1 -g -fno-builtin -DNEXT
// CFLAGS: -O2 -g -fno-builtin -DNEXT -no-pie
// CFLAGS: -O1 -g -fno-builtin
// RUN: LIBLEAK_OPTIONS=; %leak %t || exit; LIBLEAK_OPTIONS=sample=16; %leak %t
// EXPECT: ^all went well$
// JSON: all(q.end.how == "exit" and q.end.value == 0 and not q.errors for q in procs)
// JSON: verdict("lose", procs[0]) == {"lost": (10, 1000)} and verdict("hold", procs[0]) == {"reachable": (1, 50)}
// JSON: of("come_and_go", procs[0]).blocks == 0 and procs[0].coverage.unknown_frees == 0
// JSON: procs[0].totals.allocations == 10 + 1 + 200 + 1
// JSON: 500 <= of("lose", procs[1]).bytes <= 2500
// JSON: "own" not in str([q.coverage.untracked for q in procs]).lower()

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR __attribute__((noinline, noclone))
#define HEAD 16 /* with the size at its start */

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

static void *get(size_t size)
{
#ifdef NEXT
    static void *(*next)(size_t);
    if (!next)
        next = dlsym(RTLD_NEXT, "malloc");
    return next(size);
#else
    return __libc_malloc(size);
#endif
}

static void give(void *block)
{
#ifdef NEXT
    static void (*next)(void *);
    if (!next)
        next = dlsym(RTLD_NEXT, "free");
    next(block);
#else
    __libc_free(block);
#endif
}

FAR void *malloc(size_t size)
{
    char *block = get(size + HEAD);
    if (!block)
        return NULL;
    *(size_t *)block = size;
    return block + HEAD;
}

FAR void free(void *block)
{
    if (block)
        give((char *)block - HEAD);
}

FAR void *calloc(size_t count, size_t size)
{
    return memset(malloc(count * size), 0, count * size);
}

FAR void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t had = old ? *(size_t *)((char *)old - HEAD) : 0;
    memcpy(block, old, had < size ? had : size);
    free(old);
    return block;
}

static void *volatile sink, *volatile held;

FAR static void lose(void)
{
    sink = malloc(100);
    sink = NULL;
}

FAR static void hold(void)
{
    held = malloc(50);
}

FAR static void come_and_go(void)
{
    free(realloc(malloc(10), 1000));
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        lose();
    hold();
    for (int i = 0; i < 100; i++)
        come_and_go();
    puts("all went well");
    return 0;
}
