/* blocks_table.h - the memory layout of the table of live blocks: for blocks_table.c, which changes
 * it, blocks_find.c, which reads it, and tray_alloc.c, which allocates trays. blocks.h is the
 * manual. */
#ifndef PRELOAD_HEAP_BLOCKS_TABLE_H
#define PRELOAD_HEAP_BLOCKS_TABLE_H

#include "preload/heap/blocks.h"
#include "preload/base/lock.h"
#include "arch.h"

/* ---- Memory of trays -------------------------------------------------------------------------
 * A tray of capacity n is n bytes of keys, then n entries (so that 16 bytes may be read at any 16th
 * key that is used); only its size class must be remembered. Trays are cut from chunks of the arena
 * and recycled through free lists, one a size class; chunks are never returned. The chunk size
 * grows with the total (an eighth of it, 64 to 256 KiB), and chunks are populated at once: one
 * system call instead of a fault a page. */

#define TRAY_ENTRY_SIZE sizeof(struct blocks_entry)
#define TRAY_CLASSES 20

extern const uint16_t tray_capacity[TRAY_CLASSES] HIDDEN;

/* Where the entries begin. */
static inline uint8_t *tray_entries(uint8_t *tray, unsigned size_class)
{
    return tray + ((tray_capacity[size_class] + 3u) & ~3u);
}

/* Returns NULL when there is no memory. Thread-safe. */
uint8_t *tray_alloc(unsigned size_class);
void tray_free(uint8_t *tray, unsigned size_class);

void tray_fork_lock(void);
void tray_fork_unlock(void);
void tray_fork_child(void);

/* ---- Regions --------------------------------------------------------------------------------- */

#define STRIPE_BITS 6
#define STRIPES (1u << STRIPE_BITS)
#define REGION_BITS 11
#define GRANULE_BITS 3   /* 256 of them in a region: a key is one byte */
#define FETCHED_MOST 384 /* bytes of a tray that are prefetched */
#define LANES                                                                                      \
    (64 / sizeof(struct blocks_region)) /* slots of a line; capacities are multiples of it */

struct blocks_stripe {
    struct lock lock;
    uint32_t capacity;    /* slots */
    uint32_t used[LANES]; /* empty regions included */
    struct blocks_region *regions;
} __attribute__((aligned(64)));

extern struct blocks_stripe blocks_stripes[STRIPES] HIDDEN;

static inline unsigned region_size_class(const struct blocks_region *region)
{
    return region->word >> 10 & 63;
}

static inline unsigned region_used(const struct blocks_region *region)
{
    return region->word & 1023;
}

static inline uint8_t block_key(uintptr_t address)
{
    return address >> GRANULE_BITS;
}

static inline uintptr_t entry_address(const struct blocks_region *region, unsigned at)
{
    return blocks_region_number(region) << REGION_BITS | (uintptr_t)region->tray[at]
                                                             << GRANULE_BITS;
}

static inline struct blocks_entry *region_entries(const struct blocks_region *region)
{
    return (struct blocks_entry *)tray_entries(region->tray, region_size_class(region));
}

/* Which entry has that key; -1: none. */
int blocks_find_key(const struct blocks_region *region, uint8_t key);

/* Prefetches the cache lines of a tray, which are needed one after the other: keys, entry, last
 * entry. Saves 100 ns for a block that was not used for long (a million live blocks, a random one
 * is freed). ALWAYS_INLINE: a function that only prefetches has no effect for the compiler, which
 * drops calls of it. */
static ALWAYS_INLINE void prefetch_region_tray(const struct blocks_region *region)
{
    const uint8_t *line = region->tray;
    const uint8_t *end = (const uint8_t *)(region_entries(region) + region_used(region));
    end = end < line + FETCHED_MOST ? end : line + FETCHED_MOST;
    for (; line < end; line += 64)
        __builtin_prefetch(line, 1);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/* The regions of one line have the same hash: programs go from one region to the next. */
static inline uint64_t hash_region(uint64_t number)
{
    uint64_t hash = number / LANES * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

static inline struct blocks_stripe *region_stripe_of(uint64_t hash)
{
    return &blocks_stripes[hash >> (64 - STRIPE_BITS)];
}

/* A program may use only every fourth region, so each line begins with another lane. */
static inline unsigned region_lane(uint64_t hash, uint64_t number)
{
    return (number + hash) % LANES;
}

/* Multiply-shift on the bits that did not choose the stripe: works for any number of lines. */
static inline uint32_t region_home(uint64_t hash, uint64_t number, uint32_t capacity)
{
    uint64_t line = (hash >> (32 - STRIPE_BITS) & UINT32_MAX) * (capacity / LANES) >> 32;
    return line * LANES + region_lane(hash, number);
}

/* The region of that number, or the empty slot where it would go. */
struct blocks_region *blocks_probe(const struct blocks_stripe *stripe, uint64_t hash,
                                   uint64_t number);

#endif
