/* bootstrap_alloc.h - memory for the moment before the real malloc is known.
 *
 * dlsym itself may allocate while we ask it for malloc. Such calls are served from a fixed pool;
 * its addresses are recognised for ever: freeing one is a no-op, growing one copies it out.
 * The pool is bumped, never reused; when it is full the allocation fails, as malloc may.
 */
#ifndef PRELOAD_INTERPOSE_BOOTSTRAP_ALLOC_H
#define PRELOAD_INTERPOSE_BOOTSTRAP_ALLOC_H

#include "preload/base/base.h"

#define BOOT_POOL_SIZE 65536

extern char boot_pool[BOOT_POOL_SIZE] HIDDEN;

void *boot_alloc(size_t size, size_t alignment);

static inline bool boot_owns(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)boot_pool < BOOT_POOL_SIZE;
}

/* Bytes usable at a pointer that boot_owns. */
size_t boot_size(const void *pointer);

#endif
