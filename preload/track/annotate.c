#include "preload/track/annotate.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/sample.h"
#include "preload/track/track.h"
#include "preload/misuse/bad_free.h"

static void free_suballoc(struct guard *guard, const struct frame *caller, const void *block,
                          uint32_t how, uint32_t pool)
{
    struct suballoc_block it;
    uintptr_t address = arch_address(block);
    if (suballoc_remove(guard, address, pool, &it)) {
        track_suballoc_free(guard, caller, &it.block, how);
    } else if (suballoc_remove(guard, address, SUBALLOC_ANY_POOL, &it)) {
        bad_free_of_suballoc(guard, caller, &it, how, pool);
        track_suballoc_free(guard, caller, &it.block, how);
    } else {
        bad_free_by_suballocator(guard, caller, address, how, pool);
    }
}

/* ---- Blocks that belong to no pool ----------------------------------------------------------- */

void annotate_block_new(struct guard *guard, const struct frame *caller, const void *block,
                        size_t size)
{
    if (block && !sample_state.bytes)
        track_suballoc(guard, caller, (void *)block, size, LEAK_KIND_CUSTOM, 0);
}

void annotate_block_free(struct guard *guard, const struct frame *caller, const void *block)
{
    if (block && !sample_state.bytes)
        free_suballoc(guard, caller, block, FREED_BY_BLOCK_GONE, 0);
}

void annotate_block_resize(struct guard *guard, const struct frame *caller, const void *block,
                           size_t size)
{
    if (!block || sample_state.bytes)
        return;
    free_suballoc(guard, caller, block, FREED_BY_BLOCK_RESIZE, 0);
    track_suballoc(guard, caller, (void *)block, size, LEAK_KIND_CUSTOM, 0);
}

/* ---- Blocks in pools ------------------------------------------------------------------------- */

void annotate_pool_create(struct guard *guard, const void *pool, const char *name)
{
    if (!sample_state.bytes)
        pools_create(guard, (uintptr_t)pool, name);
}

bool annotate_pool_exists(struct guard *guard, const void *pool)
{
    return pools_find(guard, (uintptr_t)pool) != 0;
}

void annotate_pool_move(struct guard *guard, const void *from, const void *to)
{
    pools_move(guard, (uintptr_t)from, (uintptr_t)to);
}

void annotate_pool_alloc(struct guard *guard, const struct frame *caller, const void *pool,
                         const void *block, size_t size)
{
    uint32_t number = block && !sample_state.bytes ? pools_create(guard, (uintptr_t)pool, NULL) : 0;
    if (number)
        track_suballoc(guard, caller, (void *)block, size, LEAK_KIND_POOL, number);
}

void annotate_pool_free(struct guard *guard, const struct frame *caller, const void *pool,
                        const void *block)
{
    if (block && !sample_state.bytes)
        free_suballoc(guard, caller, block, FREED_BY_POOL_FREE, pools_find(guard, (uintptr_t)pool));
}

void annotate_pool_resize(struct guard *guard, const struct frame *caller, const void *pool,
                          const void *block, const void *now, size_t size)
{
    annotate_pool_free(guard, caller, pool, block);
    annotate_pool_alloc(guard, caller, pool, now, size);
}

void annotate_pool_trim(struct guard *guard, const struct frame *caller, const void *pool,
                        const void *start, size_t size)
{
    struct suballoc_block it;
    uint32_t number = pools_find(guard, (uintptr_t)pool);
    while (suballoc_remove_outside(guard, number, (uintptr_t)start, (uintptr_t)start + size, &it))
        track_suballoc_free(guard, caller, &it.block, FREED_BY_POOL_FREE);
}

void annotate_pool_destroy(struct guard *guard, const struct frame *caller, const void *pool)
{
    struct suballoc_block it;
    uint32_t number = pools_find(guard, (uintptr_t)pool);
    while (suballoc_remove_member(guard, number, &it)) {
        if (options_current.pool_destroy_leaks)
            bad_free_of_pool_member(guard, caller, &it);
        track_suballoc_free(guard, caller, &it.block, FREED_BY_POOL_DESTROY);
    }
    pools_remove(guard, (uintptr_t)pool);
}
