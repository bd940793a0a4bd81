/* blocks.h - the table of live blocks: address -> size, site, kind, thread, serial, time.
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
 * entries, in no order (blocks_table.h):
 *
 *     size (48)   thread (16, low bits of its serial)   site (32)
 *     count (32, n-th allocation of its thread)   tick (24, saturating: 24 days)   kind (8, below)
 *
 * A block at an address that is no multiple of 8 is not recorded. A region without blocks stays
 * until its stripe is full. In each stripe:
 *     used <= capacity * 3/4 in each lane,
 *     and every region is reachable from its home line without passing a gap of its lane.
 */
#ifndef PRELOAD_HEAP_BLOCKS_H
#define PRELOAD_HEAP_BLOCKS_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/lock.h"
#include "leak_store.h"

struct block {
    uintptr_t address;
    uint64_t size;
    uint32_t site;
    uint32_t tick;
    uint32_t count;
    uint16_t thread;
    uint8_t kind;
};

/* A block as the table stores it. Words are written and read whole: a wide load after a narrow
 * store to the same word stalls the CPU. */
struct blocks_entry {
    uint64_t size_thread; /* size (48), thread (16) */
    uint64_t site_count;  /* site (32), count (32) */
    uint32_t tick_kind;   /* tick (24), kind (8) */
} __attribute__((packed, aligned(4)));

/* A slot of the table. */
struct blocks_region {
    uint64_t word; /* blocks (10), size class (6), number (48); 0 = empty */
    uint8_t *tray;
};

/* Regions are numbered in the order of their addresses. */
static inline uint64_t blocks_region_number(const struct blocks_region *region)
{
    return region->word >> 16;
}

/* struct block.kind: the kind; the requested alignment of aligned operator new (log2 - 3, 0 = not
 * representable); the program said that the block is no leak. */
#define BLOCKS_KIND 0x07
#define BLOCKS_ALIGNMENT 0x78
#define BLOCKS_IGNORED 0x80
/* Blocks of the program's own allocators, pools included, are CUSTOM here: their sites tell which.
 */
_Static_assert(LEAK_KIND_CUSTOM <= BLOCKS_KIND, "every kind of a block fits");

static inline uint8_t blocks_alignment_bits(uint64_t alignment)
{
    unsigned log = alignment ? __builtin_ctzll(alignment) : 0;
    return log >= 4 && log <= 18 ? (log - 3) << 3 : 0;
}

/* 0 = not known */
static inline uint64_t blocks_alignment(uint8_t kind)
{
    return kind & BLOCKS_ALIGNMENT ? 8ull << (kind >> 3 & 15) : 0;
}

#define BLOCKS_SIZE_MAX ((1ull << 48) - 1)
#define BLOCKS_TICK_MAX ((1u << 24) - 1)

static inline struct blocks_entry blocks_pack(const struct block *block)
{
    uint64_t size = block->size < BLOCKS_SIZE_MAX ? block->size : BLOCKS_SIZE_MAX;
    uint32_t tick = block->tick < BLOCKS_TICK_MAX ? block->tick : BLOCKS_TICK_MAX;
    return (struct blocks_entry){.size_thread = size | (uint64_t)block->thread << 48,
                                 .site_count = block->site | (uint64_t)block->count << 32,
                                 .tick_kind = tick | (uint32_t)block->kind << 24};
}

static inline struct block blocks_unpack(const struct blocks_entry *entry, uintptr_t address)
{
    return (struct block){.address = address,
                          .size = entry->size_thread & BLOCKS_SIZE_MAX,
                          .site = (uint32_t)entry->site_count,
                          .count = entry->site_count >> 32,
                          .tick = entry->tick_kind & BLOCKS_TICK_MAX,
                          .thread = entry->size_thread >> 48,
                          .kind = entry->tick_kind >> 24};
}

enum blocks_insert {
    BLOCKS_NEW,
    BLOCKS_REPLACED, /* *old was recorded at this address, or at that of a block moved from young */
    BLOCKS_NO_MEMORY
};

bool blocks_start(void);

/* ---- Young blocks -----------------------------------------------------------------------------
 * Many blocks are freed right after their allocation. While the process has one thread the newest
 * few blocks are kept here and enter the table only when newer ones evict them. This needs no lock:
 * a signal handler that runs meanwhile finds the reentrancy guard taken and records nothing.
 * Signals are deferred while a block enters the table. In the meantime prefetches bring what the
 * insertion will need into the CPU's cache: the region's slot when a block is allocated, its tray
 * when the block is the next to be evicted. From the second thread on no block becomes young, and
 * the first operation moves the young ones to the table, under the lock. Inline, so that a block's
 * fields go from registers to memory: copying a struct just written stalls the CPU. */

#define BLOCKS_YOUNG 4

extern struct blocks_young {
    struct lock lock;                 /* for moving and reading them when there are threads */
    uint32_t next;                    /* offset in bytes of the place to be evicted next */
    uint32_t occupied;                /* 0: all places are empty */
    struct block place[BLOCKS_YOUNG]; /* address 0 = empty */
} blocks_young HIDDEN;

/* Moves all young blocks to the table, if there is memory. */
void blocks_flush_young(void);

static inline void blocks_flush_waiting(void)
{
    if (unlikely(load_acquire(&blocks_young.occupied)))
        blocks_flush_young();
}

/* Prefetches the slot of an address' region. */
void blocks_prefetch(uintptr_t address);

/* Insertion into and removal from the table when there is one thread and signals are deferred
 * (lock_count_taken). */
enum blocks_insert blocks_evict_young(struct block *place, struct block *old);
/* When no memory was left to evict a young block: inserts the new block into an empty place, or
 * into the table, where its own region may have room. */
enum blocks_insert blocks_insert_elsewhere(const struct block *block, struct block *old);
bool blocks_remove_alone(uintptr_t address, struct blocks_entry *out);
/* The same when there are other threads. */
enum blocks_insert blocks_insert_shared(const struct block *block, struct block *old);
bool blocks_remove_shared(uintptr_t address, struct blocks_entry *out);

/* Can a block at this address be recorded? 0 denotes an empty place; keys count in steps of 8. */
static inline bool blocks_has_key(uintptr_t address)
{
    return likely(address % 8 == 0 && address);
}

/* Keeps the compiler from computing the address again for every field. */
static ALWAYS_INLINE struct block *blocks_young_place(unsigned i)
{
    struct block *place = &blocks_young.place[i];
    __asm__("" : "+r"(place));
    if (!place)
        __builtin_unreachable();
    return place;
}

/* The place to be evicted next. */
static ALWAYS_INLINE struct block *blocks_young_victim(void)
{
    return (struct block *)((char *)blocks_young.place + blocks_young.next);
}

static ALWAYS_INLINE struct block *blocks_find_young(uintptr_t address)
{
#pragma GCC unroll 4
    for (unsigned i = 0; i < BLOCKS_YOUNG; i++)
        if (blocks_young.place[i].address == address)
            return blocks_young_place(i);
    return NULL;
}

/* Writes a block to a place; the address comes last, since a place without address is empty. */
static ALWAYS_INLINE void blocks_write_young(struct block *place, const struct block *block)
{
    place->size = block->size;
    place->site = block->site;
    place->tick = block->tick;
    place->count = block->count;
    place->thread = block->thread;
    place->kind = block->kind;
    __asm__ volatile("" ::: "memory");
    place->address = block->address;
    __asm__ volatile("" ::: "memory");
    blocks_young.occupied = 1;
}

/* Records a block. If that evicts a young block, *old may also be what the evicted one has
 * replaced. */
static ALWAYS_INLINE enum blocks_insert blocks_insert(struct guard *guard UNUSED,
                                                      const struct block *block, struct block *old)
{
    struct block copy;
    if (!blocks_has_key(block->address))
        return BLOCKS_NO_MEMORY;
    if (unlikely(!*lock_single_threaded)) {
        copy = *block;
        return blocks_insert_shared(&copy, old);
    }
    struct block *place = blocks_find_young(block->address), *found = place;
    if (likely(!found)) {
        place = blocks_young_victim();
        blocks_young.next = (blocks_young.next + sizeof *place) % sizeof blocks_young.place;
    }
    if (likely(!place->address)) {
        blocks_write_young(place, block);
        return BLOCKS_NEW;
    }
    enum blocks_insert result = BLOCKS_REPLACED;
    lock_count_taken();
    if (unlikely(found)) {
        *old = *place;
    } else {
        blocks_prefetch(block->address);
        result = blocks_evict_young(place, old);
    }
    if (likely(result != BLOCKS_NO_MEMORY)) {
        blocks_write_young(place, block);
        lock_count_given();
        return result;
    }
    copy = *block;
    result = blocks_insert_elsewhere(&copy, old);
    blocks_young.occupied = 1;
    lock_count_given();
    return result;
}

/* Removes the block at an address; NULL when there is none. The result is *room, or the place of a
 * young block, whose address is already 0: valid until the next insertion, that is as long as the
 * reentrancy guard is held. */
static ALWAYS_INLINE const struct block *blocks_take(struct guard *guard UNUSED, uintptr_t address,
                                                     struct block *room)
{
    struct blocks_entry found;
    if (!address)
        return NULL;
    if (unlikely(!*lock_single_threaded)) {
        if (address % 8 || !blocks_remove_shared(address, &found))
            return NULL;
        *room = blocks_unpack(&found, address);
        return room;
    }
    struct block *place = blocks_find_young(address);
    if (likely(place)) {
        place->address = 0;
        return place;
    }
    lock_count_taken();
    bool known = address % 8 == 0 && blocks_remove_alone(address, &found);
    lock_count_given();
    if (!known)
        return NULL;
    *room = blocks_unpack(&found, address);
    return room;
}

/* Removes the block at an address; false when there is none. */
static ALWAYS_INLINE bool blocks_remove(struct guard *guard, uintptr_t address, struct block *out)
{
    const struct block *block = blocks_take(guard, address, out);
    if (!block)
        return false;
    *out = *block;
    out->address = address;
    return true;
}

/* The block that begins at an address. */
bool blocks_find(struct guard *guard, uintptr_t address, struct block *out);

/* The block that contains an address. Slow: searches downwards, for at most 32 MiB. */
bool blocks_find_containing(struct guard *guard, uintptr_t address, struct block *out);

/* For a handler of a fatal signal, which must not wait: the block that contains an address, else
 * the nearest one below it, searched in so many regions. *busy: a lock was taken, so the result may
 * be incomplete. */
bool blocks_find_nearest(uintptr_t address, unsigned regions, struct block *out, bool *busy);

/* Moves all young blocks to the table, so that blocks_each takes no lock. False: no memory. */
bool blocks_flush(void);
uint64_t blocks_count(void);
/* Calls visit for every block; the table must not change meanwhile. */
typedef void blocks_visit(const struct block *block, void *context);
void blocks_each(blocks_visit *visit, void *context);

/* The same in two steps, for callers that sort the regions (reachability.h). First copies all
 * regions that have blocks and returns their number; out NULL: only the number. */
uint64_t blocks_regions(struct blocks_region *out);
/* Then calls visit for every block of these regions and for the young ones. */
void blocks_each_in_regions(const struct blocks_region *regions, uint64_t count,
                            blocks_visit *visit, void *context);
/* The invariants above. */
bool blocks_check(void);

void blocks_fork_lock(void);
void blocks_fork_unlock(void);
void blocks_fork_child(void);

#endif
