/* rank_index.h - from an address to the number of the block that begins there, or nearest below.
 *
 * One bit for each 8 bytes at which a block begins; beside each 64 of them how many blocks begin
 * below. 2048 such words are a page of the index: 1 MiB of addresses. Pages hang in leaves of 16384
 * (16 GiB), leaves in one top table of 16384 (48 bits of address):
 *
 *     address   47..34 | 33..20 | 19..9 | 8..3 | 2..0
 *               leaf     page     word    bit
 *
 * Where no block begins there is no page, no leaf; the cell above still says how many begin below,
 * so the middle of a block of any size is found in the same few steps. Blocks are numbered by
 * address, from 0:
 *
 *     number of the block at or below = blocks that begin at or below - 1
 */
#ifndef PRELOAD_HEAP_RANK_INDEX_H
#define PRELOAD_HEAP_RANK_INDEX_H

#include "preload/heap/scan_arena.h"

#define PLACES_CELLS 16384
#define PLACES_WORDS 2048
#define PLACES_END (1ull << 48) /* no block begins at or above */

struct places_word {
    uint64_t bits;
    uint32_t below; /* blocks that begin at lower addresses than this word's */
    uint32_t unused;
};

struct places_cell {
    void *inside; /* a leaf's cells, a page's words; NULL: no block begins here */
    uint32_t below;
    uint32_t unused;
};

struct places {
    struct places_cell *top, *leaves;
    struct places_word *words;
};

/* An index is made in three rounds. In each it is shown every address, in any order; the first two
 * end with places_map, the last with places_sum. False when there is no memory. */
enum places_round { PLACES_LEAVES, PLACES_PAGES, PLACES_BITS };
bool places_begin(struct places *places, struct room *room);
void places_show(struct places *places, enum places_round round, uintptr_t address);
bool places_map(struct places *places, struct room *room, enum places_round round);
/* Writes into all cells and words what is below; how many different addresses there are. */
uint32_t places_sum(struct places *places);
/* Gives back what is large; nothing is found any more. */
void places_end(struct places *places, struct room *room);

/* Do they have one page? Then the first two rounds need be shown only one of them. */
static inline bool places_are_near(uintptr_t one, uintptr_t other)
{
    return (one ^ other) >> 20 == 0;
}

/* The index word of an address; NULL: there is none, and *rank blocks begin at or below it. */
static ALWAYS_INLINE const struct places_word *places_word(const struct places *places,
                                                           uintptr_t address, uint32_t *rank)
{
    const struct places_cell *cell = &places->top[address >> 34];
    if (likely(cell->inside)) {
        cell = (const struct places_cell *)cell->inside + (address >> 20) % PLACES_CELLS;
        if (likely(cell->inside))
            return (const struct places_word *)cell->inside + (address >> 9) % PLACES_WORDS;
    }
    *rank = cell->below;
    return NULL;
}

/* Without the instruction, which not every x86_64 has, and without a call into libgcc. */
static ALWAYS_INLINE uint32_t places_ones(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555ull;
    bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return bits * 0x0101010101010101ull >> 56;
}

/* How many blocks begin at or below an address of this word. */
static ALWAYS_INLINE uint32_t places_rank(const struct places_word *word, uintptr_t address)
{
    return word->below + places_ones(word->bits & ~0ull >> (63 - (address >> 3) % 64));
}

/* Does a block begin at this very address? */
static ALWAYS_INLINE bool places_begins(const struct places_word *word, uintptr_t address)
{
    return address % 8 == 0 && (word->bits >> (address >> 3) % 64 & 1);
}

static inline uint32_t places_rank_of(const struct places *places, uintptr_t address)
{
    uint32_t rank;
    const struct places_word *word = places_word(places, address, &rank);
    return word ? places_rank(word, address) : rank;
}

#endif
