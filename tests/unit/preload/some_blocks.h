/* some_blocks.h - what the tests of the block table share: blocks, threads' runs, ways to record. */
#ifndef TESTS_SOME_BLOCKS_H
#define TESTS_SOME_BLOCKS_H

#include "tests/unit/preload/unit.h"
#include "preload/memory/arena.h"
#include "preload/base/lock.h"
#include "preload/blocks/blocks.h"
#include "preload/blocks/table.h"

#define BASE (sizeof(uintptr_t) == 8 ? 0x7f0000000000ull : 0x40000000)
#define REGION 2048ull
#define WINDOW 32ull
#define AREA (1ull << SHADOW_AREA_BITS)

/* Blocks of glibc's allocator, in the shadow if their fields allow it; of an allocator that places
 * small blocks 16 bytes apart; without a run, which are all in the open table. */
enum way { GLIBC, FOREIGN, OPEN, WAYS };
static const char *const way_names[] __attribute__((unused)) = {"glibc", "foreign", "open table"};
static enum way way;

static inline void set_way(enum way wanted)
{
    way = wanted;
    blocks_set_spacing(way == GLIBC);
}

static inline struct block at(uintptr_t address)
{
    return (struct block){
        .address = address, .size = 40, .site = 1, .count = 1, .kind = 1, .thread = 1};
}

static inline bool same(const struct block *a, const struct block *b)
{
    return a->address == b->address && a->size == b->size && a->site == b->site &&
           a->count == b->count && a->tick == b->tick && a->thread == b->thread &&
           a->kind == b->kind;
}

#define SHOW "address %#" PRIx64 " size %" PRIu64 " site %u count %u tick %u thread %u kind %u"
#define SHOWN(b)                                                                                   \
    (uint64_t)(b).address, (uint64_t)(b).size, (unsigned)(b).site, (unsigned)(b).count,            \
        (unsigned)(b).tick, (unsigned)(b).thread, (unsigned)(b).kind

/* Does the block belong into the shadow, as far as its own fields go? */
static inline bool fits_shadow(const struct block *block)
{
    uint64_t window = block->size < SHADOW_COARSE_FROM ? WINDOW : 4 * WINDOW;
    bool large = block->size >= 64, last = (block->address + window) % AREA < window;
    return way != OPEN && block->address % 16 == 0 && block->address < 1ull << 48 &&
           block->site < 1u << 24 && (way == GLIBC || block->size > 16) &&
           (large ? !last : block->kind < 8);
}

/* Does the new block leave the old one at its address hidden? Then nothing says that its free was
 * not seen. */
static inline bool hides(const struct block *new, const struct block *old)
{
    return new->size < SHADOW_COARSE_FROM && old->size >= SHADOW_COARSE_FROM &&fits_shadow(new);
}

/* One for each thread number. */
static struct run some_runs[1 << 16];

static inline enum blocks_insert insert(const struct block *block, struct block *old)
{
    return blocks_insert(&unit_guard, way == OPEN ? NULL : &some_runs[block->thread], block, old);
}

static inline bool take_out(uintptr_t address, struct block *out)
{
    return blocks_remove(&unit_guard, address, out);
}

static inline void start_blocks(void)
{
    lock_start();
    blocks_start();
    set_way(GLIBC);
}

/* The n-th of many blocks, 32 bytes apart: n says what it must be. Threads allocate a thousand in
 * turn; two in three are small. */
static inline struct block derived(uint64_t n)
{
    uint64_t mixed = hash_u64(n + 7);
    bool small = mixed % 3;
    return (struct block){.address = BASE + n * 64 + (mixed >> 60 & 1) * 16,
                          .size = small ? mixed >> 8 & 63 : 64 + (mixed >> 8 & 0xffff),
                          .site = mixed >> 40,
                          .count = n,
                          .tick = n >> 9,
                          .thread = 1 + n / 1000 % 7,
                          .kind = mixed >> 24 & (small ? 7 : 255)};
}

#endif
