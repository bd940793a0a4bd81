#include "preload/track/annotate.h"
#include "preload/heap/suballoc.h"
#include "preload/heap/pools.h"
#include "preload/heap/sample.h"
#include "preload/track/track.h"
#include "preload/misuse/bad_free.h"

static void went(struct guard *guard, const struct frame *caller, const void *block, uint32_t how,
                 uint32_t pool)
{
    struct carved it;
    uintptr_t address = arch_address(block);
    if (carved_remove(guard, address, pool, &it)) {
        track_carved_gone(guard, caller, &it.block, how);
    } else if (carved_remove(guard, address, CARVED_ANY, &it)) {
        wrongs_of_carved(guard, caller, &it, how, pool);
        track_carved_gone(guard, caller, &it.block, how);
    } else {
        wrongs_of_carving(guard, caller, address, how, pool);
    }
}

/* ---- Of no pool ----------------------------------------------------------------------------- */

void annotate_new(struct guard *guard, const struct frame *caller, const void *block, size_t size)
{
    if (block && !sample_bytes)
        track_carved(guard, caller, (void *)block, size, LEAK_KIND_CUSTOM, 0);
}

void annotate_gone(struct guard *guard, const struct frame *caller, const void *block)
{
    if (block && !sample_bytes)
        went(guard, caller, block, BY_BLOCK_GONE, 0);
}

/* As realloc has it: one free, one allocation. */
void annotate_resize(struct guard *guard, const struct frame *caller, const void *block,
                     size_t size)
{
    if (!block || sample_bytes)
        return;
    went(guard, caller, block, BY_BLOCK_RESIZE, 0);
    track_carved(guard, caller, (void *)block, size, LEAK_KIND_CUSTOM, 0);
}

/* ---- Of pools ------------------------------------------------------------------------------- */

void annotate_create(struct guard *guard, const void *pool, const char *name)
{
    if (!sample_bytes)
        pools_create(guard, (uintptr_t)pool, name);
}

bool annotate_exists(struct guard *guard, const void *pool)
{
    return pools_find(guard, (uintptr_t)pool) != 0;
}

void annotate_move(struct guard *guard, const void *from, const void *to)
{
    pools_move(guard, (uintptr_t)from, (uintptr_t)to);
}

void annotate_alloc(struct guard *guard, const struct frame *caller, const void *pool,
                    const void *block, size_t size)
{
    uint32_t number = block && !sample_bytes ? pools_create(guard, (uintptr_t)pool, NULL) : 0;
    if (number)
        track_carved(guard, caller, (void *)block, size, LEAK_KIND_POOL, number);
}

void annotate_free(struct guard *guard, const struct frame *caller, const void *pool,
                   const void *block)
{
    if (block && !sample_bytes)
        went(guard, caller, block, BY_POOL_FREE, pools_find(guard, (uintptr_t)pool));
}

void annotate_change(struct guard *guard, const struct frame *caller, const void *pool,
                     const void *block, const void *now, size_t size)
{
    annotate_free(guard, caller, pool, block);
    annotate_alloc(guard, caller, pool, now, size);
}

void annotate_trim(struct guard *guard, const struct frame *caller, const void *pool,
                   const void *start, size_t size)
{
    struct carved it;
    uint32_t number = pools_find(guard, (uintptr_t)pool);
    while (carved_remove_outside(guard, number, (uintptr_t)start, (uintptr_t)start + size, &it))
        track_carved_gone(guard, caller, &it.block, BY_POOL_FREE);
}

void annotate_destroy(struct guard *guard, const struct frame *caller, const void *pool)
{
    struct carved it;
    uint32_t number = pools_find(guard, (uintptr_t)pool);
    while (carved_remove_member(guard, number, &it)) {
        if (track_options.pool_destroy_leaks)
            wrongs_of_member(guard, caller, &it);
        track_carved_gone(guard, caller, &it.block, BY_POOL_DESTROY);
    }
    pools_remove(guard, (uintptr_t)pool);
}
