/* rank_index.h - finds the number of the block that begins at an address, or nearest below it.
 *
 * A bit vector has one bit for each 8 bytes of address space, where a block may begin. Each 64 bits
 * are stored with the number of blocks that begin below them. 2048 such words are a page of the
 * index and cover 1 MiB of addresses. A leaf points to 16384 pages (16 GiB), and one top table
 * points to 16384 leaves (48 bits of address):
 *
 *     address   47..34 | 33..20 | 19..9 | 8..3 | 2..0
 *               leaf     page     word    bit
 *
 * Where no block begins there is no page and no leaf; the cell above still tells the number of
 * blocks that begin below, so the interior of a block of any size is found in the same few steps.
 * Cells before the first and behind the last block of their table are never touched: in a small
 * process the kernel would have to provide more pages for them than for everything else. Blocks are
 * numbered by address, from 0:
 *
 *     number of the block at or below = blocks that begin at or below - 1 */
#ifndef PRELOAD_MARK_RANK_INDEX_H
#define PRELOAD_MARK_RANK_INDEX_H

#include "preload/mark/scan_arena.h"

#define RANK_INDEX_CELLS 16384
#define RANK_INDEX_WORDS 2048
#define RANK_INDEX_END (1ull << 48) /* end of the addresses at which blocks may begin */
#define RANK_INDEX_STEP 8 /* blocks begin at multiples of 8, whatever the size of a word is */

struct rank_index_word {
    uint64_t bits;
    uint32_t below; /* number of blocks that begin below the addresses that this word covers */
    uint32_t unused;
};

struct rank_index_cell {
    void *inside; /* cells of a leaf or words of a page; NULL: no block begins in this range */
    /* Number of blocks that begin below; in a leaf: of those in the range of the leaf. While the
     * index is built, in a cell with a leaf: index of the leaf's first cell in use. */
    uint32_t below;
    uint32_t last; /* in a cell with a leaf: index of the leaf's last cell in use */
};

struct rank_index {
    struct rank_index_cell *top, *leaves;
    struct rank_index_word *words;
    uint32_t first, last; /* indices of the first and the last cell of "top" in use */
    uint32_t count;       /* number of blocks */
};

/* A rank index is built in three rounds. In each round the address of every block is inserted, in
 * any order; rank_index_map ends each of the first two rounds, rank_index_sum the last one. False:
 * there is no memory. */
enum rank_index_round { RANK_INDEX_LEAVES, RANK_INDEX_PAGES, RANK_INDEX_BITS };
bool rank_index_start(struct rank_index *index, struct scan_arena *arena);
void rank_index_add(struct rank_index *index, enum rank_index_round round, uintptr_t address);
bool rank_index_map(struct rank_index *index, struct scan_arena *arena,
                    enum rank_index_round round);
/* Computes "below" in all words and cells; returns the number of different addresses. */
uint32_t rank_index_sum(struct rank_index *index);
/* Frees the words of the index; lookups are not allowed afterwards. */
void rank_index_free(struct rank_index *index, struct scan_arena *arena);

/* Says whether two addresses are on one page of the index: in the first two rounds only one of them
 * needs to be inserted then. */
static inline bool rank_index_same_page(uintptr_t one, uintptr_t other)
{
    return (one ^ other) >> 20 == 0;
}

/* Finds the index word of an address. NULL: the address has no word, and *rank is the number of
 * blocks that begin at or below it; otherwise *rank is not written. */
static ALWAYS_INLINE const struct rank_index_word *
rank_index_word(const struct rank_index *index, uintptr_t address, uint32_t *rank)
{
    uint64_t at = (uint64_t)address >> 34;
    const struct rank_index_cell *top = &index->top[at];
    if (unlikely(!top->inside)) {
        *rank = at > index->last ? index->count : top->below;
        return NULL;
    }
    at = (address >> 20) % RANK_INDEX_CELLS;
    const struct rank_index_cell *cell = (const struct rank_index_cell *)top->inside + at;
    if (likely(cell->inside))
        return (const struct rank_index_word *)cell->inside + (address >> 9) % RANK_INDEX_WORDS;
    *rank = at > top->last ? top[1].below : top->below + cell->below;
    return NULL;
}

/* Counts the bits without the popcount instruction, which not every x86_64 has, and without a call
 * into libgcc. */
static ALWAYS_INLINE uint32_t rank_index_popcount(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555ull;
    bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return bits * 0x0101010101010101ull >> 56;
}

/* Returns the number of blocks that begin at or below an address. word: the index word of that
 * address. */
static ALWAYS_INLINE uint32_t rank_index_rank_in(const struct rank_index_word *word,
                                                 uintptr_t address)
{
    return word->below + rank_index_popcount(word->bits & ~0ull >> (63 - (address >> 3) % 64));
}

/* Says whether a block begins at exactly this address. */
static ALWAYS_INLINE bool rank_index_is_start(const struct rank_index_word *word, uintptr_t address)
{
    return address % RANK_INDEX_STEP == 0 && (word->bits >> (address >> 3) % 64 & 1);
}

static inline uint32_t rank_index_rank(const struct rank_index *index, uintptr_t address)
{
    uint32_t rank;
    const struct rank_index_word *word = rank_index_word(index, address, &rank);
    return word ? rank_index_rank_in(word, address) : rank;
}

#endif
