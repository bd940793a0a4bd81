/* heap_graph.c - finds blocks and pointers in a graph; described in heap_graph.h. */
#include "graph/heap/heap_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/model/model.h"

void heap_graph_end(struct heap_graph *graph)
{
    free(graph->block);
    free(graph->edge);
    free(graph->first);
    free(graph->inside);
    free(graph->in_first);
    free(graph->from);
    free(graph->root);
    free(graph->range);
    free(graph->thread);
    free(graph->frame);
    free(graph->content);
    free(graph->sample);
    free(graph->store.modules);
    free(graph->store.nodes);
    free(graph->store.sites);
    interval_map_end(&graph->store.module_spans);
    arena_end(graph->store.mem);
    *graph = (struct heap_graph){0};
}

void heap_graph_anonymize(struct heap_graph *graph)
{
    graph->store.exe = base_name(graph->store.exe);
    graph->recording = base_name(graph->recording);
    graph->samples = 0;
    for (uint32_t i = 0; i < graph->blocks; i++)
        graph->block[i].has_word = 0;
}

/* Lists the edges by target, with a counting sort. */
void heap_graph_link(struct heap_graph *graph)
{
    uint32_t *first, sum = 0;

    if (graph->in_first)
        return;
    first = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 2, sizeof(*first));
    memset(first, 0, ((size_t)graph->blocks + 2) * sizeof(*first));
    graph->from = array_grow(NULL, &(size_t){0}, (size_t)graph->edges + 1, sizeof(*graph->from));
    for (uint32_t i = 0; i < graph->edges; i++)
        first[graph->edge[i].to + 1]++;
    for (uint32_t node = 0; node <= graph->blocks; node++) {
        uint32_t count = first[node + 1];

        first[node + 1] = sum; /* from now on the index at which the next edge to `node` is
                                * stored */
        sum += count;
    }
    for (uint32_t node = 0; node < graph->blocks; node++)
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
            graph->from[first[graph->edge[i].to + 1]++] = node;
    graph->in_first = first;
}

static bool is_block_not_above(const void *item, const void *key)
{
    return ((const struct graph_block *)item)->address <= *(const uint64_t *)key;
}

uint32_t heap_graph_find(const struct heap_graph *graph, uint64_t address)
{
    size_t above = array_lower_bound(graph->block, graph->blocks, sizeof(*graph->block),
                                     is_block_not_above, &address);

    /* A nested block may be the nearest below the address although the block around it contains the
     * address, so lower blocks are tried, too. */
    for (size_t i = above, tries = 0; i > 0 && tries < 4096; i--, tries++)
        if (address - graph->block[i - 1].address <= graph->block[i - 1].size)
            return (uint32_t)(i - 1);
    return GRAPH_NONE;
}

static bool is_inside_below(const void *item, const void *key)
{
    return ((const struct graph_inside *)item)->edge < *(const uint32_t *)key;
}

uint64_t heap_graph_edge_offset(const struct heap_graph *graph, uint32_t edge)
{
    size_t at = array_lower_bound(graph->inside, graph->insides, sizeof(*graph->inside),
                                  is_inside_below, &edge);

    return at < graph->insides && graph->inside[at].edge == edge ? graph->inside[at].offset : 0;
}

uint32_t heap_graph_root_of(const struct heap_graph *graph, uint32_t block)
{
    for (uint32_t i = 0; i < graph->roots; i++)
        if (graph->root[i].to == block)
            return i;
    return GRAPH_NONE;
}

static bool is_held_without_word(const struct graph_block *block)
{
    return !graph_block_is_lost(block);
}

static bool is_own_loss(const struct graph_block *block)
{
    return block->verdict == LEAK_VERDICT_LOST;
}

static bool is_any(const struct graph_block *block)
{
    (void)block;
    return true;
}

void heap_graph_each_start(const struct heap_graph *graph, const bool *reached,
                           void (*visit)(void *context, uint32_t block), void *context)
{
    static bool (*const passes[])(const struct graph_block *) = {is_held_without_word, is_own_loss,
                                                                 is_any};

    for (uint32_t i = 0; i < graph->roots; i++)
        if (!reached[graph->root[i].to])
            visit(context, graph->root[i].to);
    for (size_t pass = 0; pass < sizeof(passes) / sizeof(*passes); pass++)
        for (uint32_t node = 0; node < graph->blocks; node++)
            if (!reached[node] && passes[pass](&graph->block[node]))
                visit(context, node);
}
