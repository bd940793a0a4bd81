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
    /* One cell more: a lookup behind the last block of a leaf reads "below" of the next cell. */
    index->top = scan_arena_map(arena, RANK_INDEX_CELLS + 1, sizeof *index->top);
    index->first = RANK_INDEX_CELLS;
    return index->top;
}

/* Marks the cell with an index in a table whose cells in use are first .. last. */
static void mark_cell(struct rank_index_cell *cells, uint32_t at, uint32_t *first, uint32_t *last)
{
    cells[at].inside = MARK;
    *first = at < *first ? at : *first;
    *last = at > *last ? at : *last;
}

void rank_index_add(struct rank_index *index, enum rank_index_round round, uintptr_t address)
{
    struct rank_index_cell *top = &index->top[(uint64_t)address >> 34];
    uint32_t at = (address >> 20) % RANK_INDEX_CELLS;
    if (round == RANK_INDEX_LEAVES) {
        mark_cell(index->top, top - index->top, &index->first, &index->last);
    } else if (round == RANK_INDEX_PAGES) {
        mark_cell(top->inside, at, &top->below, &top->last);
    } else {
        const struct rank_index_cell *cell = (const struct rank_index_cell *)top->inside + at;
        struct rank_index_word *word =
            (struct rank_index_word *)cell->inside + (address >> 9) % RANK_INDEX_WORDS;
        word->bits |= 1ull << (address >> 3) % 64;
    }
}

/* Gives each marked cell of a table of the rank index, among its cells first .. last, a piece of
 * `bytes` bytes of the level below, one piece behind the other from `at` on; returns the end of the
 * last piece. */
static char *assign_inside(struct rank_index_cell *cells, uint32_t first, uint32_t last, char *at,
                           size_t bytes)
{
    for (uint32_t i = first; i <= last; i++)
        if (cells[i].inside) {
            cells[i].inside = at;
            at += bytes;
        }
    return at;
}

static uint64_t count_marked(const struct rank_index_cell *cells, uint32_t first, uint32_t last)
{
    uint64_t count = 0;
    for (uint32_t i = first; i <= last; i++)
        count += cells[i].inside != NULL;
    return count;
}

static bool map_leaves(struct rank_index *index, struct scan_arena *arena)
{
    const size_t leaf = RANK_INDEX_CELLS * sizeof(struct rank_index_cell);
    index->leaves =
        scan_arena_map(arena, count_marked(index->top, index->first, index->last), leaf);
    if (!index->leaves)
        return false;
    assign_inside(index->top, index->first, index->last, (char *)index->leaves, leaf);
    for (uint32_t i = index->first; i <= index->last; i++)
        index->top[i].below = RANK_INDEX_CELLS; /* no cell of the leaf is in use yet */
    return true;
}

static bool map_pages(struct rank_index *index, struct scan_arena *arena)
{
    const size_t page = RANK_INDEX_WORDS * sizeof(struct rank_index_word);
    uint64_t pages = 0;
    for (uint32_t i = index->first; i <= index->last; i++)
        if (index->top[i].inside)
            pages += count_marked(index->top[i].inside, index->top[i].below, index->top[i].last);
    index->words = scan_arena_map(arena, pages, page);
    char *at = (char *)index->words;
    for (uint32_t i = index->first; at && i <= index->last; i++)
        if (index->top[i].inside)
            at = assign_inside(index->top[i].inside, index->top[i].below, index->top[i].last, at,
                               page);
    return index->words;
}

bool rank_index_map(struct rank_index *index, struct scan_arena *arena, enum rank_index_round round)
{
    return round == RANK_INDEX_LEAVES ? map_leaves(index, arena) : map_pages(index, arena);
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

/* Fills the cells of a leaf below "top"; below: number of blocks that begin below the leaf. */
static uint32_t sum_leaf(const struct rank_index_cell *top, uint32_t below)
{
    struct rank_index_cell *cells = top->inside;
    uint32_t sum = below;
    for (uint32_t i = top->below; i <= top->last; i++) {
        cells[i].below = sum - below;
        if (cells[i].inside)
            sum = sum_page(cells[i].inside, sum);
    }
    return sum;
}

uint32_t rank_index_sum(struct rank_index *index)
{
    uint32_t below = 0;
    for (uint32_t i = index->first; i <= index->last; i++) {
        struct rank_index_cell *top = &index->top[i];
        uint32_t sum = top->inside ? sum_leaf(top, below) : below;
        top->below = below;
        below = sum;
    }
    index->top[index->last + 1].below = below;
    index->count = below;
    return below;
}
