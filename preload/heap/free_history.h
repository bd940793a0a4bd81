/* free_history.h - where the blocks of each site were freed, and the last frees of each thread.
 *
 * Two questions a report will ask: "where are the others of this site freed?" and "who freed this
 * address?". The first is a table in the store, a record for each (site, stack of the free), found
 * by a private index: 16 stripes of open addressing under a lock each. The second is a ring of a
 * thread's own.
 *
 * A free's stack costs as much as an allocation's. free_stacks=sample looks at the first free of a
 * site and then, by dice, at one in 64, later in 512, and lets that one stand for so many:
 *     the expected value of a record's blocks = the frees of that pair
 */
#ifndef PRELOAD_HEAP_FREE_HISTORY_H
#define PRELOAD_HEAP_FREE_HISTORY_H

#include "preload/base/base.h"
#include "preload/heap/blocks.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* Each thread's own. */
struct freed {
    uint64_t dice;
    struct leak_recent *recent; /* in the store; NULL = no room */
    uint32_t place;             /* of the next one there: recent->next % LEAK_RECENT */
};

bool freed_start(void);
void freed_open(struct guard *guard, struct freed *freed, uint32_t serial);
void freed_close(struct guard *guard, struct freed *freed);

/* For how many frees the next one of a site with so many before stands: 0 = it is not looked at. */
static inline unsigned freed_weight(struct freed *freed, uint64_t before)
{
    if (before < LEAK_FREED_FIRST)
        return 1;
    freed->dice = freed->dice * 6364136223846793005ull + 1442695040888963407ull;
    if (likely(freed->dice > UINT64_MAX / LEAK_FREED_ONE_IN))
        return 0;
    if (before < LEAK_FREED_MANY)
        return LEAK_FREED_ONE_IN;
    return freed->dice > UINT64_MAX / LEAK_FREED_ONE_IN_MANY ? 0 : LEAK_FREED_ONE_IN_MANY;
}

/* One free in that node, which stands for weight of them. */
void freed_count(struct guard *guard, uint32_t site, uint32_t node, unsigned weight,
                 uint64_t bytes);
/* A stack was taken for it. */
static inline void freed_captured(struct freed *freed)
{
    if (likely(freed->recent))
        bump(&freed->recent->captures, 1);
}

/* address: the block's. node 0: only the return address of the free is known. */
static inline void freed_remember(struct freed *freed, const struct block *block, uintptr_t address,
                                  uintptr_t pc, uint32_t node, uint32_t tick, enum leak_form form)
{
    struct leak_recent *recent = freed->recent;
    if (unlikely(!recent))
        return;
    struct leak_recent_free *at = &recent->free[freed->place];
    freed->place = freed->place + 1 < LEAK_RECENT ? freed->place + 1 : 0;
    at->address = address;
    at->pc = pc;
    at->node = node;
    at->site = block->site;
    at->tick = tick;
    uint64_t units = (block->size + LEAK_RECENT_UNIT - 1) / LEAK_RECENT_UNIT;
    at->size_form = (units < 0xffffff ? units : 0xffffff) << 8 | form;
    store_release(&recent->next, recent->next + 1); /* for readers of the store */
}

/* The last free of an address that is remembered, by whichever thread (its serial); what others
 * write meanwhile is not taken. Of frees in one tick the caller's own is taken for the last. Not
 * for often.
 */
bool freed_find(struct guard *guard, const struct freed *own, uintptr_t address,
                struct leak_recent_free *out, uint32_t *thread);

/* Every record is found under its key. */
bool freed_check(void);

void freed_fork_lock(void);
void freed_fork_unlock(void);
/* The child counts from nothing. */
void freed_fork_child(void);

#endif
