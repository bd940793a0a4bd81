/* fill.h - what a block holds when the program gets it, and after it is freed: fill=.
 *
 * malloc hands out memory with the words of earlier blocks in it. A leak check cannot know that the
 * program never wrote these words, and takes an old pointer among them for one that holds a block.
 * So with fill=auto a new block is cleared. Clearing at malloc, not at free: a program that reads
 * freed memory by mistake sees what it would see without libleak, and one that reads uninitialised
 * memory sees zeros, as in memory fresh from the kernel.
 *
 *     up to FILL_SMALL bytes          cleared, always: their pages are in use
 *     longer, glibc                   what lies below the highest address that a block ever had in
 *                                     the same 64 MiB: the rest is fresh from the kernel
 *     longer than FILL_MEDIUM, or     of the pages that they have for themselves those that are in
 *     of another allocator            memory (mincore takes a microsecond): the others stay untouched
 *     mapped by glibc for one block   nothing
 *     calloc                          nothing
 *     realloc                         what lies behind the old block's usable size
 *
 * A block of glibc is cleared to the end that malloc_usable_size has for every block of this size,
 * because realloc keeps all of that and may make it part of the block. Of other allocators nothing
 * behind the requested size is written.
 *
 * The time for blocks over FILL_SMALL is limited: to FILL_FIRST bytes, and FILL_PER_TICK more for
 * each tick; a call of mincore counts as FILL_MEDIUM. Blocks that are not cleared for that reason,
 * or because a sandbox forbids mincore, are remembered, in a table of fixed size in which a later
 * one may displace another:
 *     each of them is in its slot, or another one is
 *
 * With sample=, min_size= and max_size= there is no leak check, and auto clears nothing.
 */
#ifndef PRELOAD_TRACK_FILL_H
#define PRELOAD_TRACK_FILL_H

#include "preload/base/base.h"
#include "arch.h"

#define FILL_SMALL 1024
#define FILL_MEDIUM (64u << 10)
#define FILL_FIRST (256ull << 20)
#define FILL_PER_TICK (32ull << 20)

#define FILL_AREAS 1024
#define FILL_AREA_BITS 26

extern struct fill_state {
    size_t small; /* FILL_SMALL; 0: fill_large decides about all blocks */
    bool of_libc; /* all blocks have the sizes of glibc's chunks */
    bool frees;   /* freed blocks are overwritten; it and those above are constant after start */

    /* The end of the highest block so far, for each 64 MiB of addresses, which is what a heap of a
     * thread has. Areas that share an entry seem to be in use. */
    uintptr_t high[FILL_AREAS];
} fill_state HIDDEN;

/* Reads the option and the environment. */
void fill_start(char **envp);
/* The allocator behind the hooks, or one of them, is not the one that the names malloc and
 * malloc_usable_size lead to. */
void fill_note_linked_malloc(void);
/* A new recording begins. */
void fill_restart(void);

NOINLINE void fill_large(void *block, size_t size);

static ALWAYS_INLINE uintptr_t *fill_high_of(uintptr_t address)
{
    return &fill_state.high[(address >> FILL_AREA_BITS) % FILL_AREAS];
}

static ALWAYS_INLINE void fill_note_end(uintptr_t end)
{
    uintptr_t *high = fill_high_of(end);
    if (unlikely(load_relaxed(high) < end))
        store_relaxed(high, end);
}

/* How much of a block is cleared; glibc: the least usable size of such a block. */
static ALWAYS_INLINE size_t fill_size(size_t size)
{
    if (unlikely(!fill_state.of_libc))
        return size;
    return (((size < 3 * WORD ? 3 * WORD : size) + 15 + WORD) & ~(size_t)15) - WORD;
}

/* 16 to 128 bytes, by stores that overlap: sizes vary, and a branch that depends on them costs more
 * than all the stores. None of them is across two pages in a block of glibc: there one that is
 * costs 10 ns. */
static ALWAYS_INLINE void fill_short(char *block, size_t size)
{
    size_t last = (size & ~(size_t)15) - 16;
#pragma GCC unroll 4
    for (size_t i = 0; i < 64; i += 16) { /* from both ends */
        size_t at = i < last ? i : last;
        memset(block + at, 0, 16);
        memset(block + last - at, 0, 16);
    }
    memset(block + size - 16, 0, 8);
    memset(block + size - 8, 0, 8);
}

/* A new block, before the program gets it. */
static ALWAYS_INLINE void fill_new(void *block, size_t size)
{
    if (unlikely(size > fill_state.small)) {
        fill_large(block, size);
        return;
    }
    size = fill_size(size);
    fill_note_end(arch_address(block) + size);
    if (likely(size >= 16 && size <= 128))
        fill_short(block, size);
    else if (size > 128)
        memset(block, 0, size);
    else if (size >= 12 && WORD == 4)
        memset(block, 0, 12);
    else if (size >= 8)
        memset(block, 0, 8);
}

/* A new block of calloc. */
static ALWAYS_INLINE void fill_zeroed(void *block, size_t size)
{
    if (likely(fill_state.small))
        fill_note_end(arch_address(block) + fill_size(size));
}

/* How much of a block realloc keeps, asked before it grows the block to size; size: all that
 * matters, or not known. */
size_t fill_kept(void *old, size_t size);
/* What realloc has added behind that. */
void fill_grown(void *block, size_t kept, size_t size);

/* Visits, for a leak check, each block that was not cleared, if the block is still there and no
 * other has its address. */
typedef void fill_visit(uintptr_t address, uint64_t size, void *context);
void fill_each_uncleared(fill_visit *visit, void *context);

/* A block that the program has freed, before the allocator gets it; only if fill_state.frees. */
void fill_freed(void *block, size_t size);

#endif
