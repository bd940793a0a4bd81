/* table.h - the open table: live blocks for which the shadow has no room.
 *
 * Blocks that a program allocates together mostly have neighbouring addresses, so the table stores
 * neighbours side by side: the blocks of one region (2 KiB of addresses) share one tray, a small
 * array. The table is a hash table that leads from regions to trays. It has 64 stripes, each with a
 * lock and an array of slots that grows by a quarter when it is full. Four neighbouring regions
 * share a cache line of four slots; the position of a slot in its line is its lane. When the slot
 * of a region is taken, the slot in the same lane of the next line is tried. A slot has 16 bytes:
 *
 *     region: blocks in the tray (10), size class of the tray (6), number (48); the tray (64)
 *
 * A tray has an array of one-byte keys (the key says at which 8 bytes of the region a block begins)
 * and an array of 20-byte entries, in no order (struct blocks_entry):
 *
 *     size (48)   thread (16, low bits of its number)   site (32)
 *     count (32, number in its thread)   tick (24, saturating: 24 days)   kind (8)
 *
 * A region that has lost all its blocks stays until its stripe is full. In each stripe:
 *     at most 3/4 of the slots of each lane have a region,
 *     and no slot of a region's lane is empty between the line that the region's hash
 *     chooses and the region's slot.
 *
 * Most programs have no block here, and in most others few stripes have one: a stripe has no memory
 * until then. */
#ifndef PRELOAD_BLOCKS_TABLE_H
#define PRELOAD_BLOCKS_TABLE_H

#include "preload/blocks/block.h"
#include "preload/base/lock.h"
#include "arch.h"

/* A region: one slot of the hash table. */
struct blocks_region {
    /* Number of blocks (10 bits), size class of the tray (6 bits), number of the region (48 bits);
     * 0: the slot is empty. */
    uint64_t word;
    uint8_t *tray;
} __attribute__((aligned(16)));

/* Returns the number of a region. Regions are numbered in the order of their addresses. */
static inline uint64_t blocks_region_number(const struct blocks_region *region)
{
    return region->word >> 16;
}

/* ---- Memory of trays ------------------------------------------------------------------------- */

/* A tray of capacity n is n bytes of keys, then n entries (so that a read of 16 keys never goes
 * past the tray); its size class tells the capacity. Trays are cut from chunks of libleak's private
 * memory (arena.h). A free tray goes to the free list of its size class; chunks are never unmapped.
 * The size of a new chunk is an eighth of all chunks, at least 64 and at most 256 KiB. One system
 * call populates a whole chunk, instead of a page fault for each page. */

#define TRAY_ENTRY_SIZE sizeof(struct blocks_entry)
#define TRAY_CLASSES 20

extern const uint16_t tray_capacity[TRAY_CLASSES] HIDDEN;

/* Returns where the entries of a tray begin. */
static inline uint8_t *tray_entries(uint8_t *tray, unsigned size_class)
{
    return tray + ((tray_capacity[size_class] + 3u) & ~3u);
}

/* Allocates a tray. NULL: no memory. Threads may call it at the same time. */
uint8_t *tray_alloc(unsigned size_class);
void tray_free(uint8_t *tray, unsigned size_class);

void tray_fork_lock(void);
void tray_fork_unlock(void);
void tray_fork_child(void);

/* ---- Regions --------------------------------------------------------------------------------- */

#define STRIPE_BITS 6
#define STRIPES (1u << STRIPE_BITS)
#define REGION_BITS 11
/* Keys count in units of 8 bytes: there are 256 in a region, so a key fits one byte. */
#define GRANULE_BITS 3
#define FETCHED_MOST 384 /* largest number of bytes of a tray that are prefetched */
/* Number of slots in a cache line; the number of slots of a stripe is a multiple of it. */
#define LANES (64 / sizeof(struct blocks_region))

struct blocks_stripe {
    struct lock lock;
    uint32_t capacity; /* number of slots */
    /* For each lane (position of a slot in its cache line): how many slots have a region, including
     * regions without blocks. */
    uint32_t used[LANES];
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

/* Prefetches the cache lines of a tray before they are needed one after the other: keys, entry,
 * last entry. This saves 100 ns at the free of a block that was not used for a long time (a random
 * one of a million live blocks). ALWAYS_INLINE, because for the compiler a function that only
 * prefetches has no effect, and it would drop the calls. */
static ALWAYS_INLINE void prefetch_region_tray(const struct blocks_region *region)
{
    const uint8_t *line = region->tray;
    const uint8_t *end = (const uint8_t *)(region_entries(region) + region_used(region));
    end = end < line + FETCHED_MOST ? end : line + FETCHED_MOST;
    for (; line < end; line += 64)
        __builtin_prefetch(line, 1);
}

/* ---- Slots of a stripe ----------------------------------------------------------------------- */

/* Hashes the number of a region. Regions that share a cache line have the same hash, because
 * programs go from one region to the next. */
static inline uint64_t hash_region(uint64_t number)
{
    uint64_t hash = number / LANES * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

/* Returns the lane of a region: the position of its slot in a cache line. The hash is added,
 * because a program may use only every fourth region, which would all have the same lane. */
static inline unsigned region_lane(uint64_t hash, uint64_t number)
{
    return (number + hash) % LANES;
}

/* Returns the first slot in which a region is searched. It multiplies those bits of the hash that
 * did not choose the stripe by the number of lines, and shifts: this works for any number of lines. */
static inline uint32_t region_home(uint64_t hash, uint64_t number, uint32_t capacity)
{
    uint64_t line = (hash >> (32 - STRIPE_BITS) & UINT32_MAX) * (capacity / LANES) >> 32;
    return line * LANES + region_lane(hash, number);
}

/* ---- The table ------------------------------------------------------------------------------- */

void table_start(void);
bool table_is_started(void);
/* Inserts a block whose address is not in the table. False: no memory. */
bool table_insert(const struct block *block);
bool table_remove(uintptr_t address, struct block *out);
bool table_find(uintptr_t address, struct block *out);

/* Finds the highest block that begins at or below an address, in the region with that number. */
bool table_find_below(uint64_t number, uintptr_t address, struct block *out);
/* Finds the block that table_find_below would find, without waiting. False: there is none, or
 * another thread holds the lock of the region; *busy is set then. */
bool table_try_find_below(uint64_t number, uintptr_t address, struct block *out, bool *busy);

uint64_t table_count(void);
/* Copies all regions that have blocks, and returns their number. out NULL: it only counts them. */
uint64_t table_copy_regions(struct blocks_region *out);
/* Calls visit for every block of the given regions, or of the whole table. The regions must not
 * change meanwhile. */
void table_each_in_regions(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                           void *context);
void table_each(blocks_visit *visit, void *context);
bool table_check(void);

void table_fork_lock(void);
void table_fork_unlock(void);
void table_fork_child(void);

#endif
