#include "preload/interpose/bootstrap_alloc.h"
#include "preload/base/base.h"

_Alignas(64) char boot_pool[BOOT_POOL_SIZE];
static size_t used;

/* The size stands in the 16 bytes before the block. */
void *boot_alloc(size_t size, size_t alignment)
{
    if (alignment < 16)
        alignment = 16;
    if (size > BOOT_POOL_SIZE || alignment > 4096)
        return NULL;
    size_t span = 16 + alignment + size;
    size_t start = add_relaxed(&used, span);
    if (start + span > BOOT_POOL_SIZE)
        return NULL;
    uintptr_t block = round_up((uintptr_t)boot_pool + start + 16, alignment);
    ((size_t *)block)[-1] = size;
    return (void *)block;
}

size_t boot_size(const void *pointer)
{
    return ((const size_t *)pointer)[-1];
}
