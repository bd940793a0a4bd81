/* blocks_entry.h - one block, and what the table of live blocks keeps of it: blocks.h says how.
 */
#ifndef PRELOAD_HEAP_BLOCKS_ENTRY_H
#define PRELOAD_HEAP_BLOCKS_ENTRY_H

#include "preload/base/base.h"
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

/* A block as the table keeps it. Words are written and read whole: a narrow store under a wide load
 * makes the processor wait. */
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

/* The addresses in it are no lower than those of a region of a lower number. */
static inline uint64_t blocks_region_number(const struct blocks_region *region)
{
    return region->word >> 16;
}

/* Beside the kind: how an aligned new's block was to be aligned (log2 - 3, 0 = beyond these bits),
 * and that the program said that this one is no leak. */
#define BLOCKS_KIND 0x07
#define BLOCKS_ALIGNMENT 0x78
#define BLOCKS_IGNORED 0x80
/* What the program's own allocators have is CUSTOM here, that of pools as well: sites tell them
 * apart. */
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

#define BLOCKS_SIZE_MOST ((1ull << 48) - 1)
#define BLOCKS_TICK_MOST ((1u << 24) - 1)

static inline struct blocks_entry blocks_pack(const struct block *block)
{
    uint64_t size = block->size < BLOCKS_SIZE_MOST ? block->size : BLOCKS_SIZE_MOST;
    uint32_t tick = block->tick < BLOCKS_TICK_MOST ? block->tick : BLOCKS_TICK_MOST;
    return (struct blocks_entry){.size_thread = size | (uint64_t)block->thread << 48,
                                 .site_count = block->site | (uint64_t)block->count << 32,
                                 .tick_kind = tick | (uint32_t)block->kind << 24};
}

static inline struct block blocks_unpack(const struct blocks_entry *entry, uintptr_t address)
{
    return (struct block){.address = address,
                          .size = entry->size_thread & BLOCKS_SIZE_MOST,
                          .site = (uint32_t)entry->site_count,
                          .count = entry->site_count >> 32,
                          .tick = entry->tick_kind & BLOCKS_TICK_MOST,
                          .thread = entry->size_thread >> 48,
                          .kind = entry->tick_kind >> 24};
}

#endif
