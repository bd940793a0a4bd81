/* free_history.h - where are the blocks of a site freed, and who freed this address last?
 *
 * The first answer is a table in the recording file, a record for each pair (site, stack of the
 * free), found by a private index: 16 stripes of open addressing under a lock each. The second is a
 * ring of recent frees for each thread.
 *
 * Capturing a free's stack costs as much as an allocation's. free_stacks=sample captures the first
 * free of a site and then, at random, one in 64, later in 512, and counts it as so many:
 *     the expected value of a record's blocks = the frees of that pair
 * The dice of a thread begin with its number, so two equal runs capture the same frees. Where
 * contexts keep changing nearly each free is the first one of its site: from LEAK_FREED_SITES sites
 * on, one in LEAK_FREED_SITES_ONE_IN of these is captured, and counts as that many.
 *
 * A rare place of frees, which the sample would miss, may be the one that matters. So a free is
 * captured, too, and counts for one, when a thread has not yet freed blocks of that site at that
 * return address and depth of the stack (a wrapper has one return address, but its callers differ
 * in depth). A small table of hashes remembers these, and forgets. Of such captures there are a
 * quarter as many as others, and FREE_HISTORY_CREDIT more:
 *     captures of new places <= FREE_HISTORY_CREDIT + sampled captures / 4
 */
#ifndef PRELOAD_HEAP_FREE_HISTORY_H
#define PRELOAD_HEAP_FREE_HISTORY_H

#include "preload/base/base.h"
#include "preload/blocks/blocks.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#define FREE_HISTORY_CREDIT 512
#define FREE_HISTORY_SCANS 8192
#define FREE_HISTORY_KNOWN_BITS 9

/* What one thread remembers of its frees. */
struct free_history {
    uint64_t dice;
    uintptr_t base;             /* a stack pointer of the thread: depths count from it */
    uint32_t credit;            /* quarters of captures of new places that are left */
    uint32_t sites;             /* first frees of a site, up to LEAK_FREED_SITES */
    uint32_t scans_left;        /* of the budget in dropped_pointers.h */
    struct leak_recent *recent; /* in the recording file; NULL = no memory */
    uint32_t place;             /* index of the next entry: recent->next % LEAK_RECENT */
    uint16_t known[1u << FREE_HISTORY_KNOWN_BITS]; /* by hash of site and place: more of the hash */
};

bool free_history_start(void);
void free_history_open(struct guard *guard, struct free_history *freed, uint32_t serial);
void free_history_close(struct guard *guard, struct free_history *freed);

/* The number of frees that the next free of a site counts for, after so many before; 0 = its stack
 * is not captured. */
static inline unsigned free_history_weight(struct free_history *freed, uint64_t before)
{
    bool first = before < LEAK_FREED_FIRST;
    if (first && freed->sites < LEAK_FREED_SITES)
        return freed->sites++, 1;
    freed->dice = freed->dice * 6364136223846793005ull + 1442695040888963407ull;
    if (unlikely(first))
        return freed->dice > UINT64_MAX / LEAK_FREED_SITES_ONE_IN ? 0 : LEAK_FREED_SITES_ONE_IN;
    if (likely(freed->dice > UINT64_MAX / LEAK_FREED_ONE_IN))
        return 0;
    if (before < LEAK_FREED_MANY)
        return LEAK_FREED_ONE_IN;
    return freed->dice > UINT64_MAX / LEAK_FREED_ONE_IN_MANY ? 0 : LEAK_FREED_ONE_IN_MANY;
}

/* Is this the first free of the site by this thread at that place? Remembers it. Runs of a program
 * differ in addresses, by whole pages: only what is equal in them is used. */
static inline bool free_history_is_new_place(struct free_history *freed, uint32_t site,
                                             const struct frame *caller)
{
    uint32_t place = (uint32_t)(freed->base - caller->sp) << 12 | (caller->pc & 0xfff);
    uint64_t hash = ((uint64_t)site << 32 | place) * 0x9e3779b97f4a7c15ull;
    uint16_t *known = &freed->known[hash >> (64 - FREE_HISTORY_KNOWN_BITS)];
    uint16_t rest = (uint16_t)(hash >> 16) | 1; /* 0: nothing yet */
    if (likely(*known == rest) || freed->credit < 4)
        return false;
    *known = rest;
    freed->credit -= 4;
    return true;
}

/* Counts weight frees with that stack. */
void free_history_count(struct guard *guard, uint32_t site, uint32_t node, unsigned weight,
                        uint64_t bytes);
/* Counts weight frees of temporary blocks (LEAK_TEMPORARY_ALLOCATIONS). */
void free_history_count_temporary(struct guard *guard, uint32_t site, unsigned weight,
                                  uint64_t bytes);
/* Counts a captured stack. */
static inline void free_history_count_capture(struct free_history *freed)
{
    if (likely(freed->recent))
        bump(&freed->recent->captures, 1);
}

/* Adds a free to the thread's ring. node 0: only the return address of the free is known. */
static inline void free_history_add_recent(struct free_history *freed, const struct block *block,
                                           uintptr_t pc, uint32_t node, uint32_t tick,
                                           enum leak_form form)
{
    struct leak_recent *recent = freed->recent;
    if (unlikely(!recent))
        return;
    struct leak_recent_free *at = &recent->free[freed->place];
    freed->place = freed->place + 1 < LEAK_RECENT ? freed->place + 1 : 0;
    at->address = block->address;
    at->pc = pc;
    at->node = node;
    at->site = block->site;
    at->tick = tick;
    uint64_t units = (block->size + LEAK_RECENT_UNIT - 1) / LEAK_RECENT_UNIT;
    at->size_form = (units < 0xffffff ? units : 0xffffff) << 8 | form;
    store_release(&recent->next, recent->next + 1); /* publishes it to readers of the recording */
}

/* The last free of an address that is still in some thread's ring (*thread: its serial); entries
 * that are being overwritten are ignored. Of frees in one tick the caller's own counts as the last.
 * Slow: searches all rings. */
bool free_history_find_recent(struct guard *guard, const struct free_history *own,
                              uintptr_t address, struct leak_recent_free *out, uint32_t *thread);

/* Every record is found under its key. */
bool free_history_check(void);

/* The child's table and rings begin empty. */
void free_history_fork_child(void);

#endif
