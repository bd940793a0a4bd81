/* blocks.h - the table of live blocks: address -> size, site, kind, thread, serial, time.
 *
 * What a program allocates together lies together, so the table keeps together what lies together:
 * the blocks of one region (2 KiB of addresses) stand side by side in one tray. The table proper
 * maps regions to trays: lock-striped, open addressing, each stripe grown alone by a quarter. Four
 * neighbours share a cache line, one in each of its lanes, and keep to their lanes when the line is
 * taken: the next line is tried then. 16 bytes a slot:
 *
 *     region: blocks in the tray (10), size class of the tray (6), number (48); the tray (64)
 *
 * A tray is a row of one-byte keys (which 8 bytes of the region) and a row of 20-byte entries, in
 * no order (tray_alloc.h):
 *
 *     size (48)   thread (16, low bits of its serial)   site (32)
 *     count (32, n-th allocation of its thread)   tick (24, saturating: 24 days)   kind (8, below)
 *
 * A block at an address that is no multiple of 8 is not kept. A region without blocks stays until
 * its stripe is full. In each stripe:
 *     used <= capacity * 3/4 in each lane,
 *     and every region is reachable from its home line without passing a gap of its lane.
 */
#ifndef PRELOAD_HEAP_BLOCKS_H
#define PRELOAD_HEAP_BLOCKS_H

#include "preload/base/base.h"
#include "preload/heap/blocks_entry.h"
#include "preload/base/reentry_guard.h"
#include "preload/base/lock.h"

enum blocks_insert {
    BLOCKS_NEW,
    BLOCKS_REPLACED, /* *old stood where this block goes, or where an earlier one has gone by now */
    BLOCKS_NO_MEMORY
};

bool blocks_start(void);

/* ---- The young --------------------------------------------------------------------------------
 * Many blocks go as soon as they came. While the process has one thread the newest few wait here
 * before they enter the table, and nobody has to hold anything: a handler that arrives meanwhile
 * finds the token taken, and goes by. Signals are put off while one enters the table. Meanwhile
 * what they will need there comes into the processor's cache: the region's slot when a block comes,
 * its tray when the block is the next to go. From the second thread on nobody waits any more, and
 * whoever comes first moves the rest, under the lock. In the header, so that a block's fields go
 * from registers to their places: a copy of a struct just written makes the processor wait. */

#define BLOCKS_YOUNG 4

extern struct blocks_young {
    struct lock lock;   /* of who settles them, or looks at them, when there are threads */
    uint32_t next;      /* bytes to the place whose turn it is to go */
    uint32_t some_wait; /* 0: all places are empty */
    struct block place[BLOCKS_YOUNG]; /* address 0 = empty */
} blocks_young HIDDEN;

/* All of them into the table, if there is memory. */
void blocks_settle_young(void);

static inline void blocks_all_settled(void)
{
    if (unlikely(load_acquire(&blocks_young.some_wait)))
        blocks_settle_young();
}

/* Gets the cache line of an address' region on its way while the caller does something else. */
void blocks_prefetch(uintptr_t address);

/* Signals are put off (lock_count_taken), and there is one thread: into the table, out of it. */
enum blocks_insert blocks_age(struct block *place, struct block *old);
/* Nobody could be moved into the table to make place: to an empty one then, or to the table after
 * all, where its own region may have room. */
enum blocks_insert blocks_insert_elsewhere(const struct block *block, struct block *old);
bool blocks_remove_old(uintptr_t address, struct blocks_entry *out);
/* There are other threads. */
enum blocks_insert blocks_insert_shared(const struct block *block, struct block *old);
bool blocks_remove_shared(uintptr_t address, struct blocks_entry *out);

/* Address 0 stands for an empty place; a tray's keys count in steps of 8. */
static inline bool blocks_has_key(uintptr_t address)
{
    return likely(address % 8 == 0 && address);
}

/* A pointer is made of the number of a place once, and not for every field again. */
static ALWAYS_INLINE struct block *blocks_young_place(unsigned i)
{
    struct block *place = &blocks_young.place[i];
    __asm__("" : "+r"(place));
    if (!place)
        __builtin_unreachable();
    return place;
}

/* The place whose turn it is to go. */
static ALWAYS_INLINE struct block *blocks_young_turn(void)
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

/* The block waits here from the moment its address does: before, the place is empty to everybody.
 * Each way to it ends by itself, so that its result is known where it is asked. */
static ALWAYS_INLINE void blocks_stay(struct block *place, const struct block *block)
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
    blocks_young.some_wait = 1;
}

/* Whoever stood in the place of a new block has to go; what he or it replaced is in *old. */
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
        place = blocks_young_turn();
        blocks_young.next = (blocks_young.next + sizeof *place) % sizeof blocks_young.place;
    }
    if (likely(!place->address)) {
        blocks_stay(place, block);
        return BLOCKS_NEW;
    }
    enum blocks_insert result = BLOCKS_REPLACED;
    lock_count_taken();
    if (unlikely(found)) {
        *old = *place;
    } else {
        blocks_prefetch(block->address);
        result = blocks_age(place, old);
    }
    if (likely(result != BLOCKS_NO_MEMORY)) {
        blocks_stay(place, block);
        lock_count_given();
        return result;
    }
    copy = *block;
    result = blocks_insert_elsewhere(&copy, old);
    blocks_young.some_wait = 1;
    lock_count_given();
    return result;
}

/* Takes the block at an address out; NULL when there is none. What is answered is *room, or the
 * place where a young one was, where no address stands any more: it is there until the next block
 * comes, so as long as the token is held. */
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
    bool known = address % 8 == 0 && blocks_remove_old(address, &found);
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

/* The block that an address is in, at its start or inside; not for often: it is looked for
 * downwards, for at most 32 MiB. */
bool blocks_find_around(struct guard *guard, uintptr_t address, struct block *out);

/* For a handler of a signal that kills, which waits for nobody: the block that an address is in,
 * else the next one that ends below it, looked for in so many regions. *busy: some place could not
 * be looked at. */
bool blocks_find_near(uintptr_t address, unsigned regions, struct block *out, bool *busy);

/* Nobody waits among the young: blocks_each will take no lock. False: there was no memory for some.
 */
bool blocks_settle(void);
uint64_t blocks_count(void);
/* Calls visit for every block; the table must not change meanwhile. */
typedef void blocks_visit(const struct block *block, void *context);
void blocks_each(blocks_visit *visit, void *context);

/* The same in two steps, for who wants them in an order (sorted_blocks.h): copies of all regions
 * that have blocks, out NULL: only how many there are; and then every block of these, and of the
 * young.
 */
uint64_t blocks_regions(struct blocks_region *out);
void blocks_each_of(const struct blocks_region *regions, uint64_t count, blocks_visit *visit,
                    void *context);
/* The invariants above. */
bool blocks_check(void);

void blocks_fork_lock(void);
void blocks_fork_unlock(void);
void blocks_fork_child(void);

#endif
