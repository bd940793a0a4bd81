/* pool.h - provides memory for dlsym while a preload library looks up the real malloc.
 *
 * Its few blocks are never freed; realloc moves them to the real heap.
 */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include <stdlib.h>
#include <string.h>

static _Alignas(16) char pool[4096];
static size_t pool_taken;

static inline void *from_pool(size_t size)
{
    void *block = pool + pool_taken;
    pool_taken += (size + 15) & ~(size_t)15;
    return pool_taken <= sizeof pool ? block : NULL;
}

static inline int in_pool(const void *block)
{
    return (const char *)block >= pool && (const char *)block < pool + sizeof pool;
}

static inline void *leave_pool(void *block, size_t size)
{
    size_t rest = (size_t)(pool + sizeof pool - (char *)block);
    void *moved = malloc(size);
    return moved ? memcpy(moved, block, size < rest ? size : rest) : NULL;
}

#endif
