/* block.h - a live block, and its compact form in the open table and during a leak check. */
#ifndef PRELOAD_BLOCKS_BLOCK_H
#define PRELOAD_BLOCKS_BLOCK_H

#include "preload/base/base.h"
#include "leak_store.h"

/* No member is narrower than 32 bits: compilers spill a narrow variable to the stack narrow and may
 * read it back wide, which stalls the CPU. */
struct block {
    uintptr_t address;
    uint64_t size;
    uint32_t site;
    uint32_t tick;
    uint32_t count;
    uint32_t thread; /* the low 16 bits of the thread's number */
    uint32_t kind;   /* 8 bits, see below */
};

/* A block in 20 bytes, without its address. The three words are written and read whole: reading a
 * wide word after writing a part of it stalls the CPU. */
struct blocks_entry {
    uint64_t size_thread; /* size (48 bits), thread (16 bits) */
    uint64_t site_count;  /* site (32 bits), number of the allocation in its thread (32 bits) */
    uint32_t tick_kind;   /* tick (24 bits), kind (8 bits) */
} __attribute__((packed, aligned(4)));

/* The parts of struct block.kind: the kind; log2 - 3 of the alignment that aligned operator new was
 * called with (0: no alignment, or not between 16 and 2^18); a flag: the program has declared that
 * the block is no leak. */
#define BLOCKS_KIND 0x07
#define BLOCKS_ALIGNMENT 0x78
#define BLOCKS_IGNORED 0x80
#define BLOCKS_FLAGS (BLOCKS_ALIGNMENT | BLOCKS_IGNORED)
/* Blocks of the program's own allocators, also those in pools, have the kind CUSTOM here; their
 * sites tell which allocator. */
_Static_assert(LEAK_KIND_CUSTOM <= BLOCKS_KIND, "every kind of a block fits");

static inline uint8_t blocks_alignment_bits(uint64_t alignment)
{
    unsigned log = alignment ? __builtin_ctzll(alignment) : 0;
    return log >= 4 && log <= 18 ? (log - 3) << 3 : 0;
}

/* Returns the alignment that aligned operator new was called with; 0: not known. */
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

typedef void blocks_visit(const struct block *block, void *context);

#endif
