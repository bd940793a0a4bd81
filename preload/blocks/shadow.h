/* shadow.h - the direct-mapped part of the table of live blocks: one word for each window of
 * addresses.
 *
 * A block is recorded in the word of the window in which it begins. There is no hash, no probing
 * and no lock: two blocks in the shadow never begin in one window, so only the code that allocates
 * or frees a window's block writes its word, and the program itself orders these calls. A word is
 * written whole, so the shadow is valid at every instant, also in the child of a fork and after a
 * longjmp.
 *
 *     empty:  0
 *     block:  1 (1)   odd (1)   large (1)   kind (3)   size (6)    run and place (28)   site (24)
 *     large:                                           place (6)
 *     rest:   0 (1)   1 (1)     unused (9)  alignment and flag of the kind (5)          size (48)
 *
 * There are two shadows, so that large blocks do not cost a quarter of the heap:
 *
 *     fine    windows of 32 bytes, for blocks of less than 256 bytes
 *     coarse  windows of 128 bytes, for all others; place: where in its window the block begins
 *
 * odd: the block begins at an odd multiple of 16. place: it begins that many times 16 bytes behind
 * the start of its window. Blocks of 64 bytes and more are large: they also fill the next window,
 * whose word holds the rest of their description. The rest is written before the word of the block
 * and removed after it. So, when a longjmp interrupts, a rest may be there without its block, but
 * no large block is there without its rest:
 *
 *     a large block's next word is a rest        (unless a free before it was not seen)
 *     a rest without a large block in front of it counts as empty
 *     of a coarse and a fine block at one address the fine one is newer, and counts: with glibc,
 *     whose frees are all seen, an insertion does not look for a coarse one
 *
 * The following blocks are in the open table (table.h) instead: those that do not begin at a
 * multiple of 16, are so small that another one may begin in their window (shadow_state.least), or
 * have a site or flags for which the word has no room; and, with sample=, all blocks, because each
 * would touch a page of its own.
 *
 * Windows are grouped into areas, 1 MiB of addresses, whose words are mapped when a block is
 * allocated there; areas are grouped into parts, 4 GiB of addresses, each with a table of its
 * areas. What is not mapped is NULL.
 */
#ifndef PRELOAD_BLOCKS_SHADOW_H
#define PRELOAD_BLOCKS_SHADOW_H

#include "preload/base/base.h"
#include "preload/blocks/block.h"
#include "preload/blocks/runs.h"

enum shadow_grain { SHADOW_FINE, SHADOW_COARSE, SHADOW_GRAINS };

/* A fine window has 32 bytes, the size of glibc's smallest block; with 32-bit pointers 16 bytes. */
#define SHADOW_FINE_BITS (sizeof(uintptr_t) == 8 ? 5 : 4)
#define SHADOW_AREA_BITS 20
#define SHADOW_PART_BITS 32
#define SHADOW_ADDRESS_BITS 48
#define SHADOW_AREAS (1u << (SHADOW_PART_BITS - SHADOW_AREA_BITS))
#define SHADOW_PARTS (1u << (SHADOW_ADDRESS_BITS - SHADOW_PART_BITS))

static ALWAYS_INLINE unsigned shadow_window_bits(enum shadow_grain grain)
{
    return grain == SHADOW_FINE ? SHADOW_FINE_BITS : 7;
}

static ALWAYS_INLINE unsigned shadow_windows(enum shadow_grain grain)
{
    return 1u << (SHADOW_AREA_BITS - shadow_window_bits(grain));
}

#define SHADOW_BLOCK (1ull << 63)
#define SHADOW_REST (1ull << 62)
#define SHADOW_ODD_SHIFT 62
#define SHADOW_LARGE (1ull << 61)
#define SHADOW_KIND_SHIFT 58
#define SHADOW_SIZE_SHIFT 52
#define SHADOW_RUN_SHIFT 24
#define SHADOW_SITES (1u << SHADOW_RUN_SHIFT)
#define SHADOW_LARGE_FROM 64 /* size in bytes from which a fine block fills two windows */
/* Size in bytes from which a block is coarse: it fills two coarse windows. */
#define SHADOW_COARSE_FROM 256
#define SHADOW_REST_KIND_SHIFT 48
_Static_assert(SHADOW_RUN_SHIFT + RUN_IDENTITY_BITS == SHADOW_SIZE_SHIFT, "the fields of a block");

/* One area. words: the addresses of its fine and of its coarse words, 0 if it has none. The lowest
 * bit of the fine address is the flag SHADOW_SHARED: the open table may have blocks of this area,
 * which an insertion may have to replace. shared: one bit for each 16 KiB of the area; 1: the open
 * table may have blocks there. The flag is set if any of these bits is 1, which is rare. */
#define SHADOW_SHARED 1u
#define SHADOW_PIECE_BITS (SHADOW_AREA_BITS - 6)
struct shadow_area {
    uintptr_t words[SHADOW_GRAINS];
    uint64_t shared;
    uint64_t unused;
};
extern struct shadow_state {
    struct shadow_area *part[SHADOW_PARTS];
    /* Size in bytes below which a block may share a window with another one, so that it goes into
     * the open table: 17; 0 with glibc, whose blocks are at least 32 bytes apart. */
    size_t least;
} shadow_state HIDDEN;

/* Returns the address of the words of one grain (fine or coarse) of the area that contains an
 * address, with the flag SHADOW_SHARED. 0 or the flag alone: the area has no such words. */
static ALWAYS_INLINE uintptr_t shadow_area(uintptr_t address, enum shadow_grain grain)
{
    if (unlikely((uint64_t)address >> SHADOW_ADDRESS_BITS))
        return 0;
    const struct shadow_area *part =
        load_relaxed(&shadow_state.part[(uint64_t)address >> SHADOW_PART_BITS]);
    if (unlikely(!part))
        return 0;
    return load_relaxed(&part[address >> SHADOW_AREA_BITS & (SHADOW_AREAS - 1)].words[grain]);
}

static ALWAYS_INLINE uint64_t shadow_piece(uintptr_t address)
{
    return 1ull << ((address & ((1u << SHADOW_AREA_BITS) - 1)) >> SHADOW_PIECE_BITS);
}

/* Says whether the open table may have a block in the 16 KiB that contain an address. area: the
 * address of the fine words of its area. In most areas the open table has no blocks, so false saves
 * taking a lock. */
static ALWAYS_INLINE bool shadow_is_shared(uintptr_t area, uintptr_t address)
{
    /* Blocks at addresses of more than 48 bits are always in the open table. */
    if (likely(!(area & SHADOW_SHARED)))
        return !area && (uint64_t)address >> SHADOW_ADDRESS_BITS;
    const struct shadow_area *part =
        load_relaxed(&shadow_state.part[(uint64_t)address >> SHADOW_PART_BITS]);
    return load_relaxed(&part[address >> SHADOW_AREA_BITS & (SHADOW_AREAS - 1)].shared) &
           shadow_piece(address);
}

/* Returns the number of the window in its area. This function and the following ones mask an
 * address before they shift it: if the compiler left the shifted address on the stack, a leak check
 * could take it for an encoded pointer to the block. */
static ALWAYS_INLINE unsigned shadow_window(uintptr_t address, enum shadow_grain grain)
{
    return (address & ((1u << SHADOW_AREA_BITS) - 1)) >> shadow_window_bits(grain);
}

/* Returns where the word for an address is. area: the words of the address's area, from
 * shadow_area. */
static ALWAYS_INLINE uint64_t *shadow_word(uintptr_t area, uintptr_t address,
                                           enum shadow_grain grain)
{
    return (uint64_t *)(area & ~(uintptr_t)SHADOW_SHARED) + shadow_window(address, grain);
}

/* Returns where in its window a coarse block begins, as bits of its word; 0 for a fine block. */
static ALWAYS_INLINE uint64_t shadow_place(uintptr_t address, enum shadow_grain grain)
{
    return grain == SHADOW_FINE ? 0 : (uint64_t)(address & 7 << 4) << (SHADOW_SIZE_SHIFT - 4);
}

static ALWAYS_INLINE uint64_t shadow_pack(const struct block *block, uint32_t identity)
{
    return SHADOW_BLOCK | (uint64_t)(block->address & 16) << (SHADOW_ODD_SHIFT - 4) |
           (uint64_t)(block->kind & BLOCKS_KIND) << SHADOW_KIND_SHIFT |
           (uint64_t)identity << SHADOW_RUN_SHIFT | block->site;
}

static ALWAYS_INLINE uint64_t shadow_pack_rest(const struct block *block)
{
    uint64_t size = likely(block->size < BLOCKS_SIZE_MAX) ? block->size : BLOCKS_SIZE_MAX;
    return SHADOW_REST | (uint64_t)(block->kind >> 3) << SHADOW_REST_KIND_SHIFT | size;
}

/* Says whether the words of a grain (fine or coarse) can describe the block. */
static ALWAYS_INLINE bool shadow_fits(const struct block *block, enum shadow_grain grain)
{
    if (unlikely(block->address & 15 || block->site >= SHADOW_SITES))
        return false;
    if (grain == SHADOW_FINE && block->size < SHADOW_LARGE_FROM)
        return likely(block->kind <= BLOCKS_KIND && block->size >= shadow_state.least);
    return likely(shadow_window(block->address, grain) < shadow_windows(grain) - 1);
}

/* Inserts a block into the fine or coarse words, as its size requires (grain). False: the words
 * cannot describe it, or an older block is in the way. */
static ALWAYS_INLINE bool shadow_put(uintptr_t area, const struct block *block,
                                     const struct run *run, enum shadow_grain grain)
{
    uint64_t *word = shadow_word(area, block->address, grain);
    uint64_t packed = shadow_pack(block, run_identity(run, block->count));
    if (unlikely(load_relaxed(word) || !shadow_fits(block, grain)))
        return false;
    if (grain == SHADOW_FINE && block->size < SHADOW_LARGE_FROM) {
        /* a release store: a child forked by another thread that sees the word also sees the run's
         * record */
        store_release(word, packed | block->size << SHADOW_SIZE_SHIFT);
        return true;
    }
    if (unlikely(load_relaxed(&word[1])))
        return false;
    store_relaxed(&word[1], shadow_pack_rest(block));
    packed |= SHADOW_LARGE | shadow_place(block->address, grain);
    /* a release store: a forked child that sees this word of the block also sees the second one */
    store_release(word, packed);
    return true;
}

/* Says whether a block that begins at the address is recorded in the word. */
static ALWAYS_INLINE bool shadow_has(uint64_t word, uintptr_t address, enum shadow_grain grain)
{
    const uint64_t place = grain == SHADOW_FINE ? 0 : 7ull << SHADOW_SIZE_SHIFT;
    const uint64_t begins = SHADOW_BLOCK | (uint64_t)(address & 16) << (SHADOW_ODD_SHIFT - 4);
    return likely((word & 3ull << SHADOW_ODD_SHIFT) == begins && address % 16 == 0) &&
           (word & place) == shadow_place(address, grain);
}

static ALWAYS_INLINE uint32_t shadow_identity(uint64_t word)
{
    return word >> SHADOW_RUN_SHIFT & ((1u << RUN_IDENTITY_BITS) - 1);
}

/* Fills in the thread, tick and number of a block's allocation from its run. The block must still
 * be in the shadow, so that no other thread gets its run meanwhile. */
static ALWAYS_INLINE void shadow_unpack_run(uint32_t identity, struct block *out)
{
    const struct run_record *run = run_record_of(identity);
    out->count = run->first | (identity & (RUN_PLACES - 1));
    out->tick = run->tick;
    out->thread = run->thread;
}

/* Fills in what the word of a block says. rest: the next word; used for a large block. */
static ALWAYS_INLINE void shadow_unpack_word(uint64_t word, uint64_t rest, uintptr_t address,
                                             struct block *out)
{
    out->address = address;
    out->site = word & (SHADOW_SITES - 1);
    out->kind = word >> SHADOW_KIND_SHIFT & BLOCKS_KIND;
    out->size = word >> SHADOW_SIZE_SHIFT & (SHADOW_LARGE_FROM - 1);
    if (!(word & SHADOW_LARGE))
        return;
    /* The least size of a large block. It is used if the next word is not the rest of this block,
     * but holds another block. */
    out->size = SHADOW_LARGE_FROM;
    if (likely(rest >> SHADOW_ODD_SHIFT == 1)) {
        out->size = rest & BLOCKS_SIZE_MAX;
        out->kind |= (rest >> SHADOW_REST_KIND_SHIFT << 3) & BLOCKS_FLAGS;
    }
}

static ALWAYS_INLINE void shadow_unpack(uint64_t word, uint64_t rest, uintptr_t address,
                                        struct block *out)
{
    shadow_unpack_run(shadow_identity(word), out);
    shadow_unpack_word(word, rest, address, out);
}

/* Removes the block that begins at the address. False: no block of this grain (fine or coarse)
 * begins there. origin: gets what is needed to find the thread, tick and number of its allocation,
 * which *out does not get; NULL: *out gets them. */
static ALWAYS_INLINE bool shadow_take(uintptr_t address, struct block *out, enum shadow_grain grain,
                                      struct origin *origin)
{
    uintptr_t area = shadow_area(address, grain);
    if (unlikely(area <= SHADOW_SHARED))
        return false;
    uint64_t *at = shadow_word(area, address, grain), word = load_relaxed(at);
    if (unlikely(!shadow_has(word, address, grain)))
        return false;
    bool large = word & SHADOW_LARGE;
    uint64_t rest = large ? load_relaxed(&at[1]) : 0;
    shadow_unpack_word(word, rest, address, out);
    if (origin)
        *origin = (struct origin){shadow_identity(word), load_acquire(&runs_state.sweeps)};
    else
        shadow_unpack_run(shadow_identity(word), out);
    /* A release store: the reads above are done before a sweep can give the run to another
     * thread */
    store_release(at, 0);
    if (large && likely(rest >> SHADOW_ODD_SHIFT == 1))
        store_relaxed(&at[1], 0);
    return true;
}

static ALWAYS_INLINE enum shadow_grain shadow_grain_of(uint64_t size)
{
    return size < SHADOW_COARSE_FROM ? SHADOW_FINE : SHADOW_COARSE;
}

/* Returns the area of an address, and maps its words if they are not mapped. 0: no memory, or the
 * address is too high. */
uintptr_t shadow_make_area(uintptr_t address, enum shadow_grain grain);
/* Records that the open table has a block in the 16 KiB that contain the address. False: no memory
 * for this. */
bool shadow_share_area(uintptr_t address);

/* Finds the older block that is in the way of a block that shadow_put has refused. libleak has not
 * seen its free; the caller removes it. The second word of a large block that no longer exists is
 * cleared. False: nothing is in the way any more. */
bool shadow_find_obstacle(uintptr_t area, const struct block *block, enum shadow_grain grain,
                          struct block *out);

bool shadow_find(uintptr_t address, struct block *out);
/* Finds the highest block that begins in [least, address]. */
bool shadow_find_below(uintptr_t address, uintptr_t least, struct block *out);

uint64_t shadow_areas(void); /* number of areas that have words */
void shadow_each_identity(void (*visit)(uint32_t identity));
/* Visits all blocks in the order of their addresses, 2 KiB at a time. before: called before the
 * blocks of each 2 KiB are visited, with the end of these 2 KiB; may be NULL. */
void shadow_each(blocks_visit *visit, void (*before)(uintptr_t end, void *context), void *context);
bool shadow_check(void);

void shadow_fork_lock(void);
void shadow_fork_unlock(void);
void shadow_fork_child(void);

#endif
