/* shadow.h - the direct-mapped part of the table of live blocks: a word for each 32 bytes of
 * addresses, a window.
 *
 * The word of the window in which a block begins has the block. No hash, no probing, no lock: two
 * blocks that both belong here never begin in one window, so a word has one owner, the code that
 * allocates or frees that block, and the program itself orders these calls. A word is written whole,
 * so the shadow is valid at every instant, also in the child of a fork and after a longjmp.
 *
 *     empty:  0
 *     block:  1 (1)   half (1)   large (1)   kind (3)   size (6)   run and place (28)   site (24)
 *     rest:   0 (1)   1 (1)      unused (9)  alignment and flag of the kind (5)         size (48)
 *
 * half: it begins 16 bytes behind the window's start. Blocks of 64 bytes and more are large: they
 * have the next window to themselves as well, and its word has the rest. The rest is written before
 * the block and removed after it, so a rest may be left alone, but no large block lacks its own:
 *
 *     a large block's next word is a rest        (unless a free before it was not seen)
 *     a rest without a large block in front of it counts as empty
 *
 * In the open table (table.h) are: blocks that do not begin at a multiple of 16, or are so small
 * that another one may begin in their window (shadow_least), or have a site or flags for which the
 * word has no room; and samples, which would touch a page each.
 *
 * Windows are grouped into areas, 1 MiB of addresses, whose words are mapped when a block is
 * allocated there; areas into parts, 4 GiB, a table of its areas each. All unmapped: NULL.
 */
#ifndef PRELOAD_BLOCKS_SHADOW_H
#define PRELOAD_BLOCKS_SHADOW_H

#include "preload/base/base.h"
#include "preload/blocks/block.h"
#include "preload/blocks/runs.h"

#define SHADOW_WINDOW_BITS 5
#define SHADOW_AREA_BITS 20
#define SHADOW_PART_BITS 32
#define SHADOW_ADDRESS_BITS 48
#define SHADOW_WINDOWS (1u << (SHADOW_AREA_BITS - SHADOW_WINDOW_BITS))
#define SHADOW_AREAS (1u << (SHADOW_PART_BITS - SHADOW_AREA_BITS))
#define SHADOW_PARTS (1u << (SHADOW_ADDRESS_BITS - SHADOW_PART_BITS))

#define SHADOW_BLOCK (1ull << 63)
#define SHADOW_REST (1ull << 62)
#define SHADOW_HALF_SHIFT 62
#define SHADOW_LARGE (1ull << 61)
#define SHADOW_KIND_SHIFT 58
#define SHADOW_SIZE_SHIFT 52
#define SHADOW_RUN_SHIFT 24
#define SHADOW_SITES (1u << SHADOW_RUN_SHIFT)
#define SHADOW_LARGE_FROM 64 /* bytes */
#define SHADOW_REST_KIND_SHIFT 48
_Static_assert(SHADOW_RUN_SHIFT + RUN_IDENTITY_BITS == SHADOW_SIZE_SHIFT, "the fields of a block");

/* Of each part, the table of its areas; of each area, the address of its words, and this flag: the
 * open table may have blocks of the area, which an insertion may have to replace. */
#define SHADOW_SHARED 1u
extern uintptr_t *shadow_parts[SHADOW_PARTS] HIDDEN;

/* Blocks of fewer bytes may share a window with another block: 0 with glibc, whose blocks are 32
 * bytes apart, else 17. */
extern size_t shadow_least HIDDEN;

/* The area of an address, with its flag; without words, and 0, where no block was allocated. */
static ALWAYS_INLINE uintptr_t shadow_area(uintptr_t address)
{
    if (unlikely(address >> SHADOW_ADDRESS_BITS))
        return 0;
    const uintptr_t *part = load_relaxed(&shadow_parts[address >> SHADOW_PART_BITS]);
    return likely(part) ? load_relaxed(&part[address >> SHADOW_AREA_BITS & (SHADOW_AREAS - 1)]) : 0;
}

static ALWAYS_INLINE unsigned shadow_window(uintptr_t address)
{
    return address >> SHADOW_WINDOW_BITS & (SHADOW_WINDOWS - 1);
}

/* The word of an address in an area that has words. */
static ALWAYS_INLINE uint64_t *shadow_word(uintptr_t area, uintptr_t address)
{
    return (uint64_t *)(area & ~(uintptr_t)SHADOW_SHARED) + shadow_window(address);
}

static ALWAYS_INLINE uint64_t shadow_pack(const struct block *block, uint32_t identity)
{
    return SHADOW_BLOCK | (block->address >> 4 & 1) << SHADOW_HALF_SHIFT |
           (uint64_t)(block->kind & BLOCKS_KIND) << SHADOW_KIND_SHIFT |
           (uint64_t)identity << SHADOW_RUN_SHIFT | block->site;
}

static ALWAYS_INLINE uint64_t shadow_pack_rest(const struct block *block)
{
    uint64_t size = likely(block->size < BLOCKS_SIZE_MAX) ? block->size : BLOCKS_SIZE_MAX;
    return SHADOW_REST | (uint64_t)(block->kind >> 3) << SHADOW_REST_KIND_SHIFT | size;
}

/* Adds a block for which the shadow has room, and nothing that stands in the way. */
static ALWAYS_INLINE bool shadow_put(uintptr_t area, const struct block *block,
                                     const struct run *run)
{
    uint64_t *word = shadow_word(area, block->address);
    uint64_t packed = shadow_pack(block, run_identity(run, block->count));
    bool odd = load_relaxed(word) || block->address & 15 || block->site >= SHADOW_SITES;
    if (block->size < SHADOW_LARGE_FROM) {
        if (unlikely(odd || block->kind > BLOCKS_KIND || block->size < shadow_least))
            return false;
        store_release(word, packed | block->size << SHADOW_SIZE_SHIFT); /* pairs with a fork */
        return true;
    }
    if (unlikely(odd || shadow_window(block->address) == SHADOW_WINDOWS - 1 ||
                 load_relaxed(&word[1])))
        return false;
    store_relaxed(&word[1], shadow_pack_rest(block));
    store_release(word, packed | SHADOW_LARGE); /* pairs with a fork */
    return true;
}

/* Is there a block that begins at the address? */
static ALWAYS_INLINE bool shadow_has(uint64_t word, uintptr_t address)
{
    return likely(word >> SHADOW_HALF_SHIFT == (2 | (address >> 4 & 1)) && address % 16 == 0);
}

static ALWAYS_INLINE uint32_t shadow_identity(uint64_t word)
{
    return word >> SHADOW_RUN_SHIFT & ((1u << RUN_IDENTITY_BITS) - 1);
}

/* rest: the next word, of a large block. While the word is in its place no other block gets the
 * run. */
static ALWAYS_INLINE void shadow_unpack(uint64_t word, uint64_t rest, uintptr_t address,
                                        struct block *out)
{
    uint32_t identity = shadow_identity(word);
    const struct run_record *run = run_record_of(identity);
    out->count = run->first | (identity & (RUN_PLACES - 1));
    out->tick = run->tick;
    out->thread = run->thread;
    out->address = address;
    out->site = word & (SHADOW_SITES - 1);
    out->kind = word >> SHADOW_KIND_SHIFT & BLOCKS_KIND;
    out->size = word >> SHADOW_SIZE_SHIFT & (SHADOW_LARGE_FROM - 1);
    if (!(word & SHADOW_LARGE))
        return;
    out->size = SHADOW_LARGE_FROM; /* at least, when another block has the rest's place */
    if (likely(rest >> SHADOW_HALF_SHIFT == 1)) {
        out->size = rest & BLOCKS_SIZE_MAX;
        out->kind |= rest >> SHADOW_REST_KIND_SHIFT << 3;
    }
}

/* Removes the block that begins at the address. */
static ALWAYS_INLINE bool shadow_take(uintptr_t address, struct block *out)
{
    uintptr_t area = shadow_area(address);
    if (unlikely(area <= SHADOW_SHARED))
        return false;
    uint64_t *at = shadow_word(area, address), word = load_relaxed(at);
    if (unlikely(!shadow_has(word, address)))
        return false;
    bool large = word & SHADOW_LARGE;
    uint64_t rest = large ? load_relaxed(&at[1]) : 0;
    shadow_unpack(word, rest, address, out);
    store_release(at, 0); /* pairs with a sweep, which may give the run to others */
    if (large && likely(rest >> SHADOW_HALF_SHIFT == 1))
        store_relaxed(&at[1], 0);
    return true;
}

/* Makes the words of the address' area if necessary. Returns the area, or 0: no memory, or the
 * address is too high. */
uintptr_t shadow_make_area(uintptr_t address);
/* Notes that the open table has a block there. False: no memory for the note. */
bool shadow_share_area(uintptr_t address);

/* What stands in the way of a block that shadow_put has refused: a block whose free was not seen,
 * and that the caller takes out; or a rest without a block, which is cleared. False: nothing is in
 * the way any more. */
bool shadow_find_obstacle(uintptr_t area, const struct block *block, struct block *out);

bool shadow_find(uintptr_t address, struct block *out);
/* The highest block that begins in [least, address]. */
bool shadow_find_below(uintptr_t address, uintptr_t least, struct block *out);

uint64_t shadow_areas(void); /* that have words */
uint64_t shadow_count(void); /* of blocks */
void shadow_each_identity(void (*visit)(uint32_t identity));
/* Visits all blocks in the order of their addresses. before: called ahead of the blocks of each 2
 * KiB of addresses, with their end; may be NULL. */
void shadow_each(blocks_visit *visit, void (*before)(uintptr_t end, void *context), void *context);
bool shadow_check(void);

void shadow_fork_lock(void);
void shadow_fork_unlock(void);
void shadow_fork_child(void);

#endif
