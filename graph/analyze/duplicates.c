/* duplicates.c - finds blocks with equal contents by sorting them; described in duplicates.h. */
#include "graph/analyze/duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

struct keyed {
    uint64_t content;
    uint32_t block;
};

/* ---- Sorting blocks by content --------------------------------------------------------------- */

#define DIGIT_BITS 8
#define DIGITS (1u << DIGIT_BITS)

/* Makes one pass of a radix sort, by the digit that begins at bit `shift`. Elements with equal
 * digits keep their order. */
static void sort_by_digit(const struct keyed *from, struct keyed *to, uint32_t count,
                          unsigned shift)
{
    uint32_t next[DIGITS] = {0}, sum = 0;

    for (uint32_t i = 0; i < count; i++)
        next[from[i].content >> shift & (DIGITS - 1)]++;
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        uint32_t these = next[digit];

        next[digit] = sum;
        sum += these;
    }
    for (uint32_t i = 0; i < count; i++)
        to[next[from[i].content >> shift & (DIGITS - 1)]++] = from[i];
}

/* Returns all blocks with a known content, sorted by content, then by number; *count is set to
 * their number. */
static struct keyed *blocks_by_content(const struct heap_graph *graph, uint32_t *count)
{
    struct keyed *sorted =
        array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 1, sizeof(*sorted));
    struct keyed *other = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 1, sizeof(*other));

    *count = 0;
    for (uint32_t i = 0; i < graph->blocks; i++)
        if (graph->content[i])
            sorted[(*count)++] = (struct keyed){graph->content[i], i};
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        struct keyed *source = sorted;

        sort_by_digit(source, other, *count, shift);
        sorted = other;
        other = source;
    }
    free(other);
    return sorted;
}

/* ---- Making sets of blocks with equal contents ----------------------------------------------- */

static struct duplicate_set make_set(const struct heap_graph *graph, const struct keyed *of,
                                     uint32_t blocks, uint32_t *member)
{
    struct duplicate_set set = {.content = of->content, .blocks = blocks, .original = of->block};

    for (uint32_t i = 0; i < blocks; i++) {
        member[i] = of[i].block;
        set.wasted += graph->block[member[i]].size;
        if (graph->block[member[i]].size > graph->block[set.original].size)
            set.original = member[i];
    }
    set.wasted -= graph->block[set.original].size;
    return set;
}

static int by_falling_waste(const void *one, const void *other)
{
    const struct duplicate_set *a = one, *b = other;

    return a->wasted != b->wasted ? COMPARE(b->wasted, a->wasted) : COMPARE(a->content, b->content);
}

struct duplicates duplicates_find(const struct heap_graph *graph)
{
    struct duplicates found = {0};
    uint32_t count, members = 0;
    struct keyed *sorted = blocks_by_content(graph, &count);
    size_t room = 0;

    found.member = array_grow(NULL, &(size_t){0}, (size_t)count + 1, sizeof(*found.member));
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].content == sorted[i].content;)
            end++;
        if (end == i + 1)
            continue;
        found.set = array_grow(found.set, &room, (size_t)found.count + 1, sizeof(*found.set));
        found.set[found.count] = make_set(graph, sorted + i, end - i, found.member + members);
        found.set[found.count++].first = members;
        members += end - i;
    }
    free(sorted);
    if (found.count)
        qsort(found.set, found.count, sizeof(*found.set), by_falling_waste);
    return found;
}

void duplicates_end(struct duplicates *duplicates)
{
    free(duplicates->set);
    free(duplicates->member);
    *duplicates = (struct duplicates){0};
}

const struct graph_content *duplicates_sample(const struct heap_graph *graph, uint64_t content)
{
    for (uint32_t i = 0; i < graph->samples; i++)
        if (graph->sample[i].number == content)
            return &graph->sample[i];
    return NULL;
}
