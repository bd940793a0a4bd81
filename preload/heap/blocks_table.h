/* blocks_table.h - how the table of live blocks lies in memory: for blocks.c, which changes it, and
 * blocks_find.c, which reads it. blocks.h says what it is.
 */
#ifndef PRELOAD_HEAP_BLOCKS_TABLE_H
#define PRELOAD_HEAP_BLOCKS_TABLE_H

#include "preload/heap/blocks_entry.h"
#include "preload/base/lock.h"
#include "preload/heap/tray_alloc.h"
#include "arch.h"

#define STRIPE_BITS 6
#define STRIPES (1u << STRIPE_BITS)
#define REGION_BITS 11
#define GRANULE_BITS 3   /* 256 of them in a region: a key is one byte */
#define FETCHED_MOST 384 /* bytes of a tray */
#define LANES                                                                                      \
    (64 / sizeof(struct blocks_region)) /* slots of a line; capacities are multiples of it */

struct blocks_stripe {
    struct lock lock;
    uint32_t capacity;    /* slots */
    uint32_t used[LANES]; /* empty regions included */
    struct blocks_region *regions;
} __attribute__((aligned(64)));

extern struct blocks_stripe blocks_stripes[STRIPES] HIDDEN;

static inline unsigned size_class_of(const struct blocks_region *region)
{
    return region->word >> 10 & 63;
}

static inline unsigned used_of(const struct blocks_region *region)
{
    return region->word & 1023;
}

/* ---- Trays --------------------------------------------------------------------------------- */

static inline uint8_t key_of(uintptr_t address)
{
    return address >> GRANULE_BITS;
}

static inline uintptr_t address_of(const struct blocks_region *region, unsigned at)
{
    return blocks_region_number(region) << REGION_BITS | (uintptr_t)region->tray[at]
                                                             << GRANULE_BITS;
}

static inline struct blocks_entry *entries_of(const struct blocks_region *region)
{
    return (struct blocks_entry *)trays_entries(region->tray, size_class_of(region));
}

/* Which entry has that key; -1: none. */
int blocks_find_key(const struct blocks_region *region, uint8_t key);

/* The lines of a tray, which are needed one after the other: keys, entry, last entry. A block that
 * was not used for long costs 100 ns less so (a million live blocks, a random one goes). Inline: a
 * function that only fetches has no effect for the compiler, which leaves calls of it out. */
static ALWAYS_INLINE void fetch_tray(const struct blocks_region *region)
{
    const uint8_t *line = region->tray;
    const uint8_t *end = (const uint8_t *)(entries_of(region) + used_of(region));
    end = end < line + FETCHED_MOST ? end : line + FETCHED_MOST;
    for (; line < end; line += 64)
        __builtin_prefetch(line, 1);
}

/* ---- Places -------------------------------------------------------------------------------- */

/* Neighbours have one hash: programs go from one to the next. */
static inline uint64_t spread(uint64_t number)
{
    uint64_t hash = number / LANES * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static inline struct blocks_stripe *stripe_of(uint64_t hash)
{
    return &blocks_stripes[hash >> (64 - STRIPE_BITS)];
}

/* A program may use every fourth region only: each four begin in a lane of their own. */
static inline unsigned lane_of(uint64_t hash, uint64_t number)
{
    return (number + hash) % LANES;
}

/* Multiply-shift on the bits that did not choose the stripe: any number of lines will do. */
static inline uint32_t home_of(uint64_t hash, uint64_t number, uint32_t capacity)
{
    uint64_t line = (hash >> (32 - STRIPE_BITS) & UINT32_MAX) * (capacity / LANES) >> 32;
    return line * LANES + lane_of(hash, number);
}

/* The region of that number, or the gap where it would go. */
struct blocks_region *blocks_probe(const struct blocks_stripe *stripe, uint64_t hash,
                                   uint64_t number);

#endif
