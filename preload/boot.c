#include "preload/boot.h"
#include "preload/atomic.h"

#define POOL_SIZE 65536

static _Alignas(64) char pool[POOL_SIZE];
static size_t used;

/* The size stands in the 16 bytes before the block. */
void *boot_alloc(size_t size, size_t alignment)
{
    if (alignment < 16)
        alignment = 16;
    if (size > POOL_SIZE || alignment > 4096)
        return NULL;
    size_t span = 16 + alignment + size;
    size_t start = add_relaxed(&used, span);
    if (start + span > POOL_SIZE)
        return NULL;
    uintptr_t block = round_up((uintptr_t)pool + start + 16, alignment);
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

bool boot_owns(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)pool < POOL_SIZE;
}

size_t boot_size(const void *pointer)
{
    return ((const size_t *)pointer)[-1];
}
