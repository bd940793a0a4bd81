/* rank_index.c - how the index is made: counted first, so that each level is one map.
 *
 * While a level is being counted, a cell that will have something inside holds a mark. Then the
 * level is mapped, and the marks become addresses in the order of the cells: the index lies in
 * memory as the blocks do.
 */
#include "preload/heap/rank_index.h"

#define MARK ((void *)1)

bool places_begin(struct places *places, struct room *room)
{
    places->top = room_map(room, PLACES_CELLS, sizeof *places->top);
    return places->top;
}

void places_show(struct places *places, enum places_round round, uintptr_t address)
{
    struct places_cell *cell = &places->top[address >> 34];
    if (round != PLACES_LEAVES)
        cell = (struct places_cell *)cell->inside + (address >> 20) % PLACES_CELLS;
    if (round != PLACES_BITS) {
        cell->inside = MARK;
        return;
    }
    struct places_word *word = (struct places_word *)cell->inside + (address >> 9) % PLACES_WORDS;
    word->bits |= 1ull << (address >> 3) % 64;
}

/* Marked cells get so many bytes each, one after the other. */
static char *hand_out(struct places_cell *cells, char *at, size_t bytes)
{
    for (unsigned i = 0; i < PLACES_CELLS; i++)
        if (cells[i].inside) {
            cells[i].inside = at;
            at += bytes;
        }
    return at;
}

static uint64_t marked(const struct places_cell *cells)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < PLACES_CELLS; i++)
        count += cells[i].inside != NULL;
    return count;
}

bool places_map(struct places *places, struct room *room, enum places_round round)
{
    const size_t leaf = PLACES_CELLS * sizeof(struct places_cell);
    const size_t page = PLACES_WORDS * sizeof(struct places_word);
    uint64_t leaves = marked(places->top), pages = 0;
    if (round == PLACES_LEAVES) {
        places->leaves = room_map(room, leaves, leaf);
        if (places->leaves)
            hand_out(places->top, (char *)places->leaves, leaf);
        return places->leaves;
    }
    for (uint64_t i = 0; i < leaves; i++)
        pages += marked(places->leaves + i * PLACES_CELLS);
    places->words = room_map(room, pages, page);
    char *at = (char *)places->words;
    for (uint64_t i = 0; at && i < leaves; i++)
        at = hand_out(places->leaves + i * PLACES_CELLS, at, page);
    return places->words;
}

void places_end(struct places *places, struct room *room)
{
    room_unmap(room, places->words);
    *places = (struct places){0}; /* who asks it now finds out */
}

static uint32_t sum_page(struct places_word *words, uint32_t below)
{
    for (unsigned i = 0; i < PLACES_WORDS; i++) {
        words[i].below = below;
        below += places_ones(words[i].bits);
    }
    return below;
}

static uint32_t sum_leaf(struct places_cell *cells, uint32_t below)
{
    for (unsigned i = 0; i < PLACES_CELLS; i++) {
        cells[i].below = below;
        if (cells[i].inside)
            below = sum_page(cells[i].inside, below);
    }
    return below;
}

uint32_t places_sum(struct places *places)
{
    uint32_t below = 0;
    for (unsigned i = 0; i < PLACES_CELLS; i++) {
        places->top[i].below = below;
        if (places->top[i].inside)
            below = sum_leaf(places->top[i].inside, below);
    }
    return below;
}
