/* free_history.h - records by which code the blocks of each site are freed, and which call freed an
 * address last.
 *
 * The code that frees: a table in the recording file has a record for each pair (site, stack of the
 * free). A hash index in private memory finds the records; it has 16 parts (stripes), each with a
 * lock. The last call: each thread has a ring of its recent frees.
 *
 * Capturing the stack of a free costs as much as that of an allocation. So free_stacks=sample
 * captures the stack of the first free of a site, then at random that of one free in 64, later of
 * one in 512, and counts a captured free as 64 or 512 frees:
 *     the expected value of a record's blocks = the frees of that pair
 * The random numbers of a thread begin with its number, so two equal runs capture the same frees.
 * In programs whose call stacks keep changing, nearly each free is the first one of its site: from
 * LEAK_FREED_SITES sites on, only one in LEAK_FREED_SITES_ONE_IN first frees is captured, and
 * counts as that many.
 *
 * A rare place of frees, which the sample would miss, may be the one that matters. So the stack of
 * a free is captured, too, and counts for one, when the thread has not yet freed blocks of that
 * site at a "place": at that return address and depth of the stack (a wrapper of free has one
 * return address, but its callers differ in depth). A small table of hashes remembers places, and
 * forgets some again. The number of such captures is limited:
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

/* What a thread remembers of its frees. */
struct free_history {
    uint64_t dice;
    /* A stack pointer of the thread, from which the depth of its stack is counted. */
    uintptr_t base;
    uint32_t credit; /* 4 * number of frees at places new to the thread that may be captured */
    uint32_t sites;  /* number of sites whose first free was captured, up to LEAK_FREED_SITES */
    /* How many first frees may still be scanned within the budget of dropped_pointers.h. */
    uint32_t scans_left;
    struct leak_recent *recent; /* the thread's ring in the recording file; NULL: no memory */
    /* Index of the entry of the ring that is written next: recent->next % LEAK_RECENT. */
    uint32_t place;
    /* The small table of places seen. Some bits of a hash of site and place are the index; the
     * element has other bits of that hash; 0: no place was seen. */
    uint16_t known[1u << FREE_HISTORY_KNOWN_BITS];
};

bool free_history_start(void);
void free_history_open(struct guard *guard, struct free_history *freed, uint32_t serial);
void free_history_close(struct guard *guard, struct free_history *freed);

/* Decides whether the stack of a free is captured. Returns for how many frees a captured stack
 * counts; 0: it is not captured. before: how many blocks of its site this thread has freed
 * before. */
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

/* Says whether this is, as far as the thread remembers, its first free of the site at this place
 * (return address and depth of the stack), and whether its stack may still be captured; remembers
 * the place. Only those bits of addresses are used that are equal in all runs: addresses differ
 * between runs by whole pages. */
static inline bool free_history_is_new_place(struct free_history *freed, uint32_t site,
                                             const struct frame *caller)
{
    uint32_t place = (uint32_t)(freed->base - caller->sp) << 12 | (caller->pc & 0xfff);
    uint64_t hash = ((uint64_t)site << 32 | place) * 0x9e3779b97f4a7c15ull;
    uint16_t *known = &freed->known[hash >> (64 - FREE_HISTORY_KNOWN_BITS)];
    /* The 1 ensures that a stored hash is never 0, because 0 means that no place was seen. */
    uint16_t rest = (uint16_t)(hash >> 16) | 1;
    if (likely(*known == rest) || freed->credit < 4)
        return false;
    *known = rest;
    freed->credit -= 4;
    return true;
}

/* Counts "weight" frees of "bytes" bytes each, of blocks of a site. node: context tree node of the
 * stack of the frees. */
void free_history_count(struct guard *guard, uint32_t site, uint32_t node, unsigned weight,
                        uint64_t bytes);
/* Counts "weight" frees of temporary blocks: blocks that were freed before their thread had made
 * LEAK_TEMPORARY_ALLOCATIONS further allocations. */
void free_history_count_temporary(struct guard *guard, uint32_t site, unsigned weight,
                                  uint64_t bytes);
/* Counts one captured stack of a free, for the statistics in the thread's ring. */
static inline void free_history_count_capture(struct free_history *freed)
{
    if (likely(freed->recent))
        bump(&freed->recent->captures, 1);
}

/* Adds a free to the thread's ring. node: context tree node of the free's stack; 0: only the return
 * address (pc) is known. */
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
    /* Makes the entry visible to readers of the recording file. */
    store_release(&recent->next, recent->next + 1);
}

/* Finds the last free of an address, if it is still in some thread's ring. False: it is not.
 * *thread: number of that thread. Of several frees in one tick, the calling thread's own counts as
 * the last. Entries that are being overwritten are ignored. Slow: it searches all rings. */
bool free_history_find_recent(struct guard *guard, const struct free_history *own,
                              uintptr_t address, struct leak_recent_free *out, uint32_t *thread);

/* Checks that the hash index finds the record of every pair (site, stack of the free). */
bool free_history_check(void);

/* Empties the table of pairs and the rings in a fork child. */
void free_history_fork_child(void);

#endif
