/* fill.h - the option fill=: overwrites a block before the program gets it, and after the program
 * has freed it.
 *
 * malloc hands out memory with the words of earlier blocks in it. A leak check cannot know that the
 * program never wrote these words, and takes an old pointer among them for one that the program
 * still uses. So with fill=auto a new block is cleared. That happens at malloc, not at free: a
 * program that reads freed memory by mistake sees what it would see without libleak, and one that
 * reads uninitialised memory sees zeros, as in memory fresh from the kernel.
 *
 *     block                           what is cleared
 *     up to FILL_SMALL bytes          the whole block: its pages are in use anyway
 *     longer, glibc                   the part below the highest address that a block ever had in
 *                                     the same 64 MiB: the rest is fresh from the kernel
 *     longer than FILL_MEDIUM, or     of the pages that belong to the block alone those that are in
 *     of another allocator            memory (mincore takes a microsecond): the others stay
 *                                     untouched
 *     mapped by glibc for one block   nothing
 *     calloc                          nothing
 *     realloc                         the part behind the old block's usable size
 *
 * A block of glibc is cleared to the end that malloc_usable_size has for every block of this size,
 * because realloc keeps all of that and may make it part of the block. In blocks of other
 * allocators nothing behind the requested size is written.
 *
 * The time for blocks over FILL_SMALL is limited: to FILL_FIRST bytes, and FILL_PER_TICK more for
 * each tick; a call of mincore counts as FILL_MEDIUM bytes. Blocks that are not cleared for that
 * reason, or because a sandbox forbids mincore, are remembered, in a table of fixed size in which a
 * later one may displace another:
 *     the slot for a block's address holds this block or another one
 *
 * With sample=, min_size= and max_size= there is no leak check, and auto clears nothing. */
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
    /* Size in bytes up to which fill_new fills blocks itself: FILL_SMALL; 0: fill_large fills all
     * blocks. */
    size_t small;
    bool of_libc; /* all blocks come from glibc, so their sizes are those of its chunks */
    /* Freed blocks are overwritten; constant after the start, as are the members above. */
    bool frees;

    /* For each 64 MiB of addresses (the size of a thread's heap in glibc), the end of the highest
     * block so far. Areas that share an entry count as used up to the higher end. */
    uintptr_t high[FILL_AREAS];
} fill_state HIDDEN;

/* Reads the option fill, and the environment variables of glibc that fill blocks. */
void fill_start(char **envp);
/* Records that the program has a malloc linked into it, of which malloc_usable_size and the chunk
 * sizes of glibc say nothing. */
void fill_note_linked_malloc(void);
/* Resets the limit of bytes that are cleared, when a new recording begins. */
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

/* Returns the number of bytes of a block that are cleared; with glibc, the smallest usable size
 * that a block of this size has. */
static ALWAYS_INLINE size_t fill_size(size_t size)
{
    if (unlikely(!fill_state.of_libc))
        return size;
    return (((size < 3 * WORD ? 3 * WORD : size) + 15 + WORD) & ~(size_t)15) - WORD;
}

/* Clears 16 to 128 bytes with stores that overlap: sizes vary, and a branch on the size costs more
 * than all of these stores. In a block of glibc none of them crosses a page, which would cost 10
 * ns. */
static ALWAYS_INLINE void fill_short(char *block, size_t size)
{
    size_t last = (size & ~(size_t)15) - 16;
#pragma GCC unroll 4
    for (size_t i = 0; i < 64; i += 16) { /* stores from both ends of the block */
        size_t at = i < last ? i : last;
        memset(block + at, 0, 16);
        memset(block + last - at, 0, 16);
    }
    memset(block + size - 16, 0, 8);
    memset(block + size - 8, 0, 8);
}

/* Fills a new block before the program gets it. */
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

/* Records a new block of calloc, which is cleared already. */
static ALWAYS_INLINE void fill_zeroed(void *block, size_t size)
{
    if (likely(fill_state.small))
        fill_note_end(arch_address(block) + fill_size(size));
}

/* Returns how many bytes of a block realloc will keep; called before realloc makes the block
 * larger. Returns size when the usable size is not known, or blocks are not filled. */
size_t fill_kept(void *old, size_t size);
/* Fills the bytes of a block that realloc has added behind the first kept bytes. */
void fill_grown(void *block, size_t kept, size_t size);

/* Visits, for a leak check, the blocks that were not cleared. The table has a fixed size, so blocks
 * may be missing; and a visited block may have been freed. */
typedef void fill_visit(uintptr_t address, uint64_t size, void *context);
void fill_each_uncleared(fill_visit *visit, void *context);

/* Overwrites a block that the program has freed, before the allocator gets it; only called if
 * fill_state.frees. */
void fill_freed(void *block, size_t size);

#endif
