/* forward.c - bare interposition: a preload library that only forwards calls.
 *
 * Its cost, one more call through a pointer, is the minimum cost of any tool that interposes
 * malloc.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "bench/pool.h"

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);

static int looking;

/* Looks up the real functions at the first call, which may come from a constructor of another
 * library. */
__attribute__((noinline)) static int find(void)
{
    if (looking)
        return 0;
    looking = 1;
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return 1;
}

#define KNOWN(real) (__builtin_expect((real) != NULL, 1) || find())

void *malloc(size_t size)
{
    return KNOWN(real_malloc) ? real_malloc(size) : from_pool(size);
}

void free(void *block)
{
    if (KNOWN(real_free) && !in_pool(block))
        real_free(block);
}

void *calloc(size_t count, size_t size)
{
    return KNOWN(real_calloc) ? real_calloc(count, size) : from_pool(count * size);
}

void *realloc(void *block, size_t size)
{
    if (!in_pool(block))
        return KNOWN(real_realloc) ? real_realloc(block, size) : from_pool(size);
    return leave_pool(block, size);
}
