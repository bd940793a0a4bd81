/* rank_index.c - builds the rank index level by level: each level is counted before it is
 * allocated, so that it is one mapping.
 *
 * While a level is counted, each cell of the level above with a block in its address range is
 * marked. Then the level is mapped, and marks are replaced by addresses in the order of the cells:
 * so the index lies in memory in the order of addresses. */
#include "preload/mark/rank_index.h"

#define MARK ((void *)1)

bool rank_index_start(struct rank_index *index, struct scan_arena *arena)
{
    index->top = scan_arena_map(arena, RANK_INDEX_CELLS, sizeof *index->top);
    return index->top;
}

void rank_index_add(struct rank_index *index, enum rank_index_round round, uintptr_t address)
{
    struct rank_index_cell *cell = &index->top[(uint64_t)address >> 34];
    if (round != RANK_INDEX_LEAVES)
        cell = (struct rank_index_cell *)cell->inside + (address >> 20) % RANK_INDEX_CELLS;
    if (round != RANK_INDEX_BITS) {
        cell->inside = MARK;
        return;
    }
    struct rank_index_word *word =
        (struct rank_index_word *)cell->inside + (address >> 9) % RANK_INDEX_WORDS;
    word->bits |= 1ull << (address >> 3) % 64;
}

/* Gives each marked cell of a table of the rank index a piece of `bytes` bytes of the level below,
 * one piece behind the other from `at` on; returns the end of the last piece. */
static char *assign_inside(struct rank_index_cell *cells, char *at, size_t bytes)
{
    for (unsigned i = 0; i < RANK_INDEX_CELLS; i++)
        if (cells[i].inside) {
            cells[i].inside = at;
            at += bytes;
        }
    return at;
}

static uint64_t count_marked(const struct rank_index_cell *cells)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < RANK_INDEX_CELLS; i++)
        count += cells[i].inside != NULL;
    return count;
}

bool rank_index_map(struct rank_index *index, struct scan_arena *arena, enum rank_index_round round)
{
    const size_t leaf = RANK_INDEX_CELLS * sizeof(struct rank_index_cell);
    const size_t page = RANK_INDEX_WORDS * sizeof(struct rank_index_word);
    uint64_t leaves = count_marked(index->top), pages = 0;
    if (round == RANK_INDEX_LEAVES) {
        index->leaves = scan_arena_map(arena, leaves, leaf);
        if (index->leaves)
            assign_inside(index->top, (char *)index->leaves, leaf);
        return index->leaves;
    }
    for (uint64_t i = 0; i < leaves; i++)
        pages += count_marked(index->leaves + i * RANK_INDEX_CELLS);
    index->words = scan_arena_map(arena, pages, page);
    char *at = (char *)index->words;
    for (uint64_t i = 0; at && i < leaves; i++)
        at = assign_inside(index->leaves + i * RANK_INDEX_CELLS, at, page);
    return index->words;
}

void rank_index_free(struct rank_index *index, struct scan_arena *arena)
{
    scan_arena_unmap(arena, index->words);
    *index = (struct rank_index){0}; /* so that a later lookup, which would be a mistake, faults */
}

static uint32_t sum_page(struct rank_index_word *words, uint32_t below)
{
    for (unsigned i = 0; i < RANK_INDEX_WORDS; i++) {
        words[i].below = below;
        below += rank_index_popcount(words[i].bits);
    }
    return below;
}

static uint32_t sum_leaf(struct rank_index_cell *cells, uint32_t below)
{
    for (unsigned i = 0; i < RANK_INDEX_CELLS; i++) {
        cells[i].below = below;
        if (cells[i].inside)
            below = sum_page(cells[i].inside, below);
    }
    return below;
}

uint32_t rank_index_sum(struct rank_index *index)
{
    uint32_t below = 0;
    for (unsigned i = 0; i < RANK_INDEX_CELLS; i++) {
        index->top[i].below = below;
        if (index->top[i].inside)
            below = sum_leaf(index->top[i].inside, below);
    }
    return below;
}
