/* blocks.h - the table of live blocks: address -> size, site, kind, thread, serial, time.
 *
 * Nearly all blocks are in the shadow (shadow.h): the address leads straight to a word, and neither
 * insertion nor removal takes a lock. Others are in the open table (table.h), which has lock
 * stripes:
 *
 *     an address is in at most one of the two,
 *     and a lookup asks the shadow first.
 *
 * A block at an address that is no multiple of 8 is not recorded.
 */
#ifndef PRELOAD_BLOCKS_BLOCKS_H
#define PRELOAD_BLOCKS_BLOCKS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/blocks/shadow.h"

enum blocks_insert {
    BLOCKS_NEW,
    BLOCKS_REPLACED, /* *old was recorded at this address: its free was not seen */
    BLOCKS_NO_MEMORY
};

bool blocks_start(void);
/* Tells how close blocks may be. apart: all blocks come from an allocator, such as glibc's, that
 * never gives two of them in 32 bytes. */
void blocks_set_spacing(bool apart);

/* Says whether a block at this address can be recorded. */
static inline bool blocks_has_key(uintptr_t address)
{
    return likely(address % 8 == 0 && address);
}

/* Prefetches what an insertion will need. Returns the address' area, for blocks_insert_in. */
static ALWAYS_INLINE uintptr_t blocks_prefetch(uintptr_t address)
{
    uintptr_t area = shadow_area(address, SHADOW_FINE);
    __builtin_prefetch(shadow_word(area, address, SHADOW_FINE), 1);
    return area;
}

/* Inserts a block where the shadow has no room, or has to be made ready first. */
enum blocks_insert blocks_insert_slowly(struct run *run, const struct block *block,
                                        struct block *old);
/* origin as for shadow_take; ORIGIN_TOLD if the block itself tells. */
bool blocks_remove_slowly(uintptr_t address, struct block *out, struct origin *origin);

/* Records a block; run is its thread's, or NULL: into the open table. */
static ALWAYS_INLINE enum blocks_insert blocks_insert_in(struct guard *guard UNUSED, uintptr_t area,
                                                         struct run *run, const struct block *block,
                                                         struct block *old)
{
    if (likely(area > SHADOW_SHARED && !shadow_is_shared(area, block->address) &&
               block->size < SHADOW_COARSE_FROM && run &&
               run_has(run, block->tick, block->count)) &&
        likely(shadow_put(area, block, run, SHADOW_FINE)))
        return unlikely(shadow_state.least) && shadow_take(block->address, old, SHADOW_COARSE, NULL)
                   ? BLOCKS_REPLACED
                   : BLOCKS_NEW;
    return blocks_insert_slowly(run, COPY_OF(block), old);
}

static inline enum blocks_insert blocks_insert(struct guard *guard, struct run *run,
                                               const struct block *block, struct block *old)
{
    return blocks_insert_in(guard, shadow_area(block->address, SHADOW_FINE), run, block, old);
}

/* Records a block that was removed, exactly as it was, also in another thread. */
bool blocks_put_back(struct guard *guard, const struct block *block);

/* Removes the block at an address, without its thread, tick and count, which blocks_tell_origin fills
 * in; false when there is none. */
static ALWAYS_INLINE bool blocks_take(struct guard *guard UNUSED, uintptr_t address,
                                      struct block *out, struct origin *origin)
{
    struct block other; /* so that *out can stay in registers */
    struct origin told;
    if (likely(shadow_take(address, out, SHADOW_FINE, origin)))
        return true;
    if (unlikely(!blocks_remove_slowly(address, &other, &told)))
        return false;
    *out = other;
    *origin = told;
    return true;
}

/* The same with all that the table knows. */
static ALWAYS_INLINE bool blocks_remove(struct guard *guard UNUSED, uintptr_t address,
                                        struct block *out)
{
    return likely(shadow_take(address, out, SHADOW_FINE, NULL)) ||
           blocks_remove_slowly(address, out, NULL);
}

/* Tells who allocated a block that blocks_take has removed, and when. False: no longer known, and all
 * three are 0. */
bool blocks_tell_origin(struct block *block, const struct origin *origin);

/* The block that begins at an address. */
bool blocks_find(struct guard *guard, uintptr_t address, struct block *out);

/* The block that contains an address. Slow: searches downwards, for at most 32 MiB. */
bool blocks_find_containing(struct guard *guard, uintptr_t address, struct block *out);

/* Finds the block that contains an address, else the nearest one below it, searched in so many
 * times 2 KiB. For a handler of a fatal signal, so it never waits. *busy: a lock was taken, so the
 * result may be incomplete. */
bool blocks_find_nearest(uintptr_t address, unsigned regions, struct block *out, bool *busy);

uint64_t blocks_count(void);
/* Calls visit for every block; the table must not change meanwhile. */
void blocks_each(blocks_visit *visit, void *context);

/* The same in the order of addresses, 2 KiB at a time. regions: the open table's, sorted by their
 * numbers (table_copy_regions). */
struct blocks_region;
void blocks_each_in_order(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                          void *context);
/* The invariants of the shadow and of the open table. */
bool blocks_check(void);

void blocks_fork_lock(void);
void blocks_fork_unlock(void);
void blocks_fork_child(void);

#endif
