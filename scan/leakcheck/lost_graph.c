/* lost_graph.c - divides lost blocks by strongly connected components, found with Tarjan's
 * algorithm. */
#include "scan/leakcheck/lost_graph.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct step {
    uint32_t block;
    uint64_t at; /* offset of the next word of the block to follow */
};

struct search {
    struct lost_graph *graph;
    const struct marking *marking;
    uint32_t *number_of; /* for each chunk the index of its lost block; NONE: the chunk is not
                          * lost */
    uint32_t *order, *low, *component;
    uint32_t *stack;   /* stack of Tarjan's algorithm */
    struct step *path; /* path of the depth-first search */
    uint8_t *entered;  /* for each component: 1 if another component leads to it */
    uint64_t *lowest;  /* for each block: the lowest offset to which another block of its component
                        * points; UINT64_MAX: none does */
    uint32_t stacked, depth, visited, components;
};

/* Returns the next lost block that a word of this block points to, from offset *at on; NONE: there
 * is none. */
static uint32_t next_edge(const struct search *search, uint32_t from, uint64_t *at)
{
    const struct heap_map *chunks = &search->marking->heap->chunks;
    uint32_t chunk = search->graph->block[from].chunk;
    const uint8_t *bytes = heap_map_block_bytes(chunks, chunk);
    uint64_t size = heap_map_block_size(chunks, chunk);

    while (*at + chunks->word <= size) {
        uint32_t to = heap_map_find(chunks, image_word(bytes + *at, chunks->word));

        *at += chunks->word;
        if (to != CHUNK_NONE && search->number_of[to] != NONE)
            return search->number_of[to];
    }
    return NONE;
}

static void visit(struct search *search, uint32_t block)
{
    search->order[block] = search->low[block] = search->visited++;
    search->stack[search->stacked++] = block;
    search->path[search->depth++] = (struct step){.block = block};
}

static void close_component(struct search *search, uint32_t block)
{
    uint32_t member;

    do {
        member = search->stack[--search->stacked];
        search->component[member] = search->components;
    } while (member != block);
    search->components++;
}

static void lower(uint32_t *low, uint32_t to)
{
    if (to < *low)
        *low = to;
}

static void search_from(struct search *search, uint32_t first)
{
    visit(search, first);
    while (search->depth) {
        struct step *step = &search->path[search->depth - 1];
        uint32_t block = step->block, to = next_edge(search, block, &step->at);

        if (to == NONE) {
            search->depth--;
            if (search->low[block] == search->order[block])
                close_component(search, block);
            if (search->depth)
                lower(&search->low[search->path[search->depth - 1].block], search->low[block]);
        } else if (search->order[to] == NONE) {
            visit(search, to);
        } else if (search->component[to] == NONE) {
            lower(&search->low[block], search->order[to]);
        }
    }
}

/* Returns the offset in block `to` to which the word before offset `at` of block `from` points. */
static uint64_t edge_offset(const struct search *search, uint32_t from, uint64_t at, uint32_t to)
{
    const struct heap_map *chunks = &search->marking->heap->chunks;
    const struct lost_chunk *blocks = search->graph->block;
    const uint8_t *bytes = heap_map_block_bytes(chunks, blocks[from].chunk);

    return image_word(bytes + at - chunks->word, chunks->word) -
           heap_map_block(chunks, blocks[to].chunk);
}

static void find_entered(struct search *search)
{
    for (uint32_t i = 0; i < search->graph->count; i++) {
        uint64_t at = 0;

        for (uint32_t to; (to = next_edge(search, i, &at)) != NONE;)
            if (search->component[to] != search->component[i])
                search->entered[search->component[to]] = 1;
            else if (to != i && edge_offset(search, i, at, to) < search->lowest[to])
                search->lowest[to] = edge_offset(search, i, at, to);
    }
}

/* Says whether a pointer to the start of a block closes a cycle, or one behind a header of the same
 * size as that of a block to which it points. Other pointers into the block are those of a
 * container's nodes, as a rule. */
static bool is_cycle(const struct search *search, uint32_t block)
{
    uint64_t offset = search->lowest[block], at = 0;

    for (uint32_t to;
         offset && offset != UINT64_MAX && (to = next_edge(search, block, &at)) != NONE;)
        if (to != block && search->component[to] == search->component[block] &&
            search->lowest[to] == offset)
            return true;
    return !offset;
}

/* Makes a lost block the owner of all blocks that it leads to and that have no owner yet. */
static void own_from(struct search *search, uint32_t owner)
{
    struct lost_chunk *blocks = search->graph->block;

    search->path[search->depth++] = (struct step){.block = owner};
    blocks[owner].owner = owner;
    while (search->depth) {
        struct step *step = &search->path[search->depth - 1];
        uint32_t block = step->block, to = next_edge(search, block, &step->at);

        if (to != NONE && blocks[to].owner == NONE) {
            blocks[to].owner = owner;
            search->path[search->depth++] = (struct step){.block = to};
        } else if (to == NONE) {
            blocks[owner].retained_blocks++;
            blocks[owner].retained_bytes +=
                heap_map_block_size(&search->marking->heap->chunks, blocks[block].chunk);
            search->depth--;
        }
    }
}

static bool collect(struct search *search, const struct marking *marking)
{
    struct lost_graph *graph = search->graph;
    size_t chunks = marking->heap->chunks.count, count;

    search->number_of = malloc((chunks + 1) * sizeof(uint32_t));
    if (!search->number_of)
        return false;
    memset(search->number_of, 0xff, (chunks + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < chunks; i++)
        if (marking->verdict[i] == VERDICT_MAX && mark_is_block(marking, i))
            search->number_of[i] = graph->count++;
    count = graph->count + 1ul;
    graph->block = calloc(count, sizeof(*graph->block));
    search->order = malloc(count * sizeof(uint32_t));
    search->low = malloc(count * sizeof(uint32_t));
    search->component = malloc(count * sizeof(uint32_t));
    search->stack = malloc(count * sizeof(uint32_t));
    search->path = malloc(count * sizeof(*search->path));
    search->entered = calloc(count, 1);
    search->lowest = malloc(count * sizeof(*search->lowest));
    if (!graph->block || !search->order || !search->low || !search->component || !search->stack ||
        !search->path || !search->entered || !search->lowest)
        return false;
    memset(search->lowest, 0xff, count * sizeof(*search->lowest));
    memset(search->order, 0xff, count * sizeof(uint32_t));
    memset(search->component, 0xff, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < chunks; i++)
        if (search->number_of[i] != NONE)
            graph->block[search->number_of[i]] = (struct lost_chunk){.chunk = i, .owner = NONE};
    return true;
}

static void divide(struct search *search, struct marking *marking)
{
    struct lost_graph *graph = search->graph;

    for (uint32_t i = 0; i < graph->count; i++)
        if (search->order[i] == NONE)
            search_from(search, i);
    find_entered(search);
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->block[i].owner == NONE && !search->entered[search->component[i]]) {
            own_from(search, i);
            graph->block[i].cycle = is_cycle(search, i);
        }
    for (uint32_t i = 0; i < graph->count; i++)
        marking->verdict[graph->block[i].chunk] =
            graph->block[i].owner == i ? VERDICT_LOST : VERDICT_INDIRECT;
}

bool lost_graph_build(struct lost_graph *graph, struct marking *marking)
{
    struct search search = {.graph = graph, .marking = marking};
    bool good;

    *graph = (struct lost_graph){0};
    good = collect(&search, marking);
    if (good)
        divide(&search, marking);
    free(search.number_of);
    free(search.order);
    free(search.low);
    free(search.component);
    free(search.stack);
    free(search.path);
    free(search.entered);
    free(search.lowest);
    return good;
}

void lost_graph_end(struct lost_graph *graph)
{
    free(graph->block);
}
