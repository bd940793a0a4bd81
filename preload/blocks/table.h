/* table.h - the open table: live blocks for which the shadow has no room.
 *
 * Blocks that a program allocates together mostly have neighbouring addresses, so the table stores
 * neighbours side by side: the blocks of one region (2 KiB of addresses) share one tray, a small
 * array. The table proper maps regions to trays: striped locks, open addressing, each stripe grown
 * independently by a quarter. Four neighbouring regions share a cache line, one in each of its
 * lanes. When a lane of the home line is taken, the same lane of the next line is tried. 16 bytes a
 * slot:
 *
 *     region: blocks in the tray (10), size class of the tray (6), number (48); the tray (64)
 *
 * A tray has an array of one-byte keys (which 8 bytes of the region) and an array of 20-byte
 * entries, in no order (struct blocks_entry):
 *
 *     size (48)   thread (16, low bits of its serial)   site (32)
 *     count (32, n-th allocation of its thread)   tick (24, saturating: 24 days)   kind (8)
 *
 * A region without blocks stays until its stripe is full. In each stripe:
 *     used <= capacity * 3/4 in each lane,
 *     and every region is reachable from its home line without passing a gap of its lane.
 */
#ifndef PRELOAD_BLOCKS_TABLE_H
#define PRELOAD_BLOCKS_TABLE_H

#include "preload/blocks/block.h"
#include "preload/base/lock.h"
#include "arch.h"

/* A slot of the table. */
struct blocks_region {
    uint64_t word; /* blocks (10), size class (6), number (48); 0 = empty */
    uint8_t *tray;
} __attribute__((aligned(16)));

/* Regions are numbered in the order of their addresses. */
static inline uint64_t blocks_region_number(const struct blocks_region *region)
{
    return region->word >> 16;
}

/* ---- Memory of trays -------------------------------------------------------------------------
 * A tray of capacity n is n bytes of keys, then n entries (so that 16 bytes may be read at any 16th
 * key that is used); only its size class must be remembered. Trays are cut from chunks of the arena
 * and recycled through free lists, one a size class; chunks are never returned. The chunk size
 * grows with the total (an eighth of it, 64 to 256 KiB), and chunks are populated at once: one
 * system call instead of a fault a page. */

#define TRAY_ENTRY_SIZE sizeof(struct blocks_entry)
#define TRAY_CLASSES 20

extern const uint16_t tray_capacity[TRAY_CLASSES] HIDDEN;

/* The place in a tray at which the entries begin. */
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

/* ---- The table -------------------------------------------------------------------------------- */

bool table_start(void);
bool table_is_started(void);
/* Inserts a block whose address is not in the table. False: no memory. */
bool table_insert(const struct block *block);
bool table_remove(uintptr_t address, struct block *out);
bool table_find(uintptr_t address, struct block *out);

/* The highest block of a region, by its number, at or below an address. */
bool table_find_below(uint64_t number, uintptr_t address, struct block *out);
/* The same without waiting: sets *busy when the region's lock is held. */
bool table_try_find_below(uint64_t number, uintptr_t address, struct block *out, bool *busy);

uint64_t table_count(void);
/* Copies all regions that have blocks and returns their number; out NULL: only the number. */
uint64_t table_copy_regions(struct blocks_region *out);
/* Calls visit for every block of these regions, or of the stripes: not while they change. */
void table_each_in_regions(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                           void *context);
void table_each(blocks_visit *visit, void *context);
bool table_check(void);

void table_fork_lock(void);
void table_fork_unlock(void);
void table_fork_child(void);

#endif
