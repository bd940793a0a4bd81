/* blocks.h - the table of live blocks: finds by address the size, site and kind of a block, and the
 * thread, number and time of its allocation.
 *
 * Nearly all blocks are in the shadow (shadow.h): the address leads straight to a word, and neither
 * insertion nor removal takes a lock. The other blocks are in the open table (table.h), which has
 * locks:
 *
 *     an address is in the shadow or in the open table, never in both,
 *     and a lookup searches the shadow first.
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
    BLOCKS_REPLACED, /* *old was recorded at this address: libleak has not seen its free */
    BLOCKS_NO_MEMORY
};

void blocks_start(void);
/* Sets how close to each other two blocks may begin. apart: never in one window of 32 bytes,
 * because all blocks come from an allocator like glibc's. */
void blocks_set_spacing(bool apart);

/* Says whether a block at this address can be recorded: its address must be a multiple of 8. */
static inline bool blocks_has_key(uintptr_t address)
{
    return likely(address % 8 == 0 && address);
}

/* Prefetches the word of the shadow that an insertion will need. Returns the area of the address,
 * for blocks_insert_in. */
static ALWAYS_INLINE uintptr_t blocks_prefetch(uintptr_t address)
{
    uintptr_t area = shadow_area(address, SHADOW_FINE);
    __builtin_prefetch(shadow_word(area, address, SHADOW_FINE), 1);
    return area;
}

/* Inserts a block that blocks_insert_in does not insert itself: a block of 256 bytes or more, one
 * for which the shadow has no room, or one whose area or run has to be made first. */
enum blocks_insert blocks_insert_slowly(struct run *run, const struct block *block,
                                        struct block *old);
/* Removes the block at an address, if it is not one of the blocks of less than 256 bytes in the
 * shadow. False: there is no block. origin: as for shadow_take; set to ORIGIN_TOLD if *out itself
 * has the thread, tick and number of the allocation. */
bool blocks_remove_slowly(uintptr_t address, struct block *out, struct origin *origin);

/* Inserts a block. area: as returned by blocks_prefetch. run: that of the calling thread; NULL: the
 * block goes into the open table. */
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

/* Inserts a removed block again, with the thread, tick and number of its allocation. Any thread may
 * call this function. False: no memory. */
bool blocks_put_back(struct guard *guard, const struct block *block);

/* Removes the block at an address. *out gets all but the thread, tick and number of its allocation,
 * which blocks_tell_origin can find with *origin. False: there is no block. */
static ALWAYS_INLINE bool blocks_take(struct guard *guard UNUSED, uintptr_t address,
                                      struct block *out, struct origin *origin)
{
    struct block other; /* separate, so that *out can stay in registers */
    struct origin told;
    if (likely(shadow_take(address, out, SHADOW_FINE, origin)))
        return true;
    if (unlikely(!blocks_remove_slowly(address, &other, &told)))
        return false;
    *out = other;
    *origin = told;
    return true;
}

/* Removes the block at an address. *out gets all that the table knows. False: there is no block. */
static ALWAYS_INLINE bool blocks_remove(struct guard *guard UNUSED, uintptr_t address,
                                        struct block *out)
{
    return likely(shadow_take(address, out, SHADOW_FINE, NULL)) ||
           blocks_remove_slowly(address, out, NULL);
}

/* Finds the thread, tick and number of the allocation of a block that blocks_take has removed.
 * False: they are no longer known, and are set to 0. */
bool blocks_tell_origin(struct block *block, const struct origin *origin);

/* Finds the block that begins at an address. False: none begins there. */
bool blocks_find(struct guard *guard, uintptr_t address, struct block *out);

/* Finds the block that contains an address. False: there is none. Slow: it searches downwards,
 * through at most 32 MiB. */
bool blocks_find_containing(struct guard *guard, uintptr_t address, struct block *out);

/* Finds the block that contains an address, else the nearest block below the address, in "regions"
 * regions of 2 KiB downwards. It never waits, so the handler of a fatal signal may call it. False:
 * no block is found. *busy: set if another thread holds a lock, so that the result may be
 * incomplete. */
bool blocks_find_nearest(uintptr_t address, unsigned regions, struct block *out, bool *busy);

uint64_t blocks_count(void);
/* Visits every block. The table must not change meanwhile. */
void blocks_each(blocks_visit *visit, void *context);

/* Visits every block in the order of addresses. regions: those of the open table, sorted by their
 * numbers (table_copy_regions). */
struct blocks_region;
void blocks_each_in_order(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                          void *context);
/* Says whether the invariants of the shadow and of the open table hold. */
bool blocks_check(void);

void blocks_fork_lock(void);
void blocks_fork_unlock(void);
void blocks_fork_child(void);

#endif
