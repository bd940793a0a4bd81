/* dominators.c - finds dominators by the algorithm Semi-NCA: a depth-first search, semidominators
 * by path compression, then the nearest common ancestors. The arrays are indexed by the number in
 * which the search discovered a block; number 0 is an imaginary block that points to all starts.
 */
#include "graph/analyze/dominators.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct heap_graph *graph;
    uint32_t *node;   /* number in the search, from 1 -> block */
    uint32_t *number; /* block -> number in the search; 0: not reached */
    uint32_t *parent, *semi, *idom;
    struct climb {
        uint32_t ancestor; /* the next number on the path upwards, with compressed steps */
        /* the lowest semidominator on the path upwards, without that of `ancestor` */
        uint32_t low;
    } * climb;
    /* block -> is it reached, and is it a start, to which the imaginary block 0 points? */
    bool *reached, *start;
    uint32_t *stack, *next;
    uint32_t count;
};

static void *row(const struct heap_graph *graph, size_t size)
{
    void *array = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 2, size);

    memset(array, 0, ((size_t)graph->blocks + 2) * size);
    return array;
}

static void discover(struct search *search, uint32_t node, uint32_t parent)
{
    search->reached[node] = true;
    search->number[node] = ++search->count;
    search->node[search->count] = node;
    search->parent[search->count] = parent;
}

#define OUT_AHEAD 8 /* most edges of a block whose targets are prefetched */

/* Prefetches the memory that the search will read for the targets of a block. */
static void prefetch_out(const struct search *search, uint32_t node)
{
    const struct heap_graph *graph = search->graph;
    uint32_t first = graph->first[node], count = graph->first[node + 1] - first;

    for (uint32_t i = 0; i < count && i < OUT_AHEAD; i++) {
        uint32_t to = graph->edge[first + i].to;

        __builtin_prefetch(&search->reached[to]);
        __builtin_prefetch(&graph->first[to]);
        __builtin_prefetch(&search->number[to], 1);
    }
}

/* Searches depth-first from a start. `stack` is the present path; next[i] is the edge with which
 * the search continues at stack[i]. */
static void search_from(void *context, uint32_t start)
{
    struct search *search = context;
    const struct heap_graph *graph = search->graph;
    uint32_t depth = 0;

    discover(search, start, 0);
    search->start[start] = true;
    search->stack[0] = start;
    search->next[0] = graph->first[start];
    for (;;) {
        uint32_t node = search->stack[depth], to;

        if (search->next[depth] == graph->first[node + 1]) {
            if (depth-- == 0)
                return;
            continue;
        }
        to = graph->edge[search->next[depth]++].to;
        if (search->reached[to])
            continue;
        discover(search, to, search->number[node]);
        search->stack[++depth] = to;
        search->next[depth] = graph->first[to];
        prefetch_out(search, to);
    }
}

/* Returns the lowest semidominator on the path upwards from v, among the numbers above `linked`; v
 * itself if it is not above `linked`. Compresses the path, which it keeps in `stack`. */
static uint32_t lowest_semi(struct search *search, uint32_t v, uint32_t linked)
{
    struct climb *climb = search->climb;
    uint32_t depth = 0;

    if (v <= linked)
        return v;
    for (; climb[v].ancestor > linked; v = climb[v].ancestor)
        search->stack[depth++] = v;
    while (depth) {
        struct climb *above = &climb[v], *below = &climb[v = search->stack[--depth]];

        below->low = above->low < below->low ? above->low : below->low;
        below->ancestor = above->ancestor;
    }
    return climb[v].low;
}

/* number of blocks by which each of the four steps of prefetch_in() is ahead of the next step */
#define AHEAD 4
#define IN_AHEAD 8 /* most edges to one block whose sources are prefetched */

/* Prefetches, in four steps, what find_semidominators() reads for the blocks that it visits after
 * number i: each block's list of blocks that point to it, and the entries of these in `climb`.
 * Blocks with neighbouring numbers are far apart in memory, and so are the blocks that point to
 * them. */
static void prefetch_in(const struct search *search, uint32_t i)
{
    const struct heap_graph *graph = search->graph;
    uint32_t node, first, count;

    if (i <= 4 * AHEAD)
        return;
    __builtin_prefetch(&graph->in_first[search->node[i - 4 * AHEAD]]);
    __builtin_prefetch(&graph->from[graph->in_first[search->node[i - 3 * AHEAD]]]);
    node = search->node[i - 2 * AHEAD];
    first = graph->in_first[node];
    count = graph->in_first[node + 1] - first;
    for (uint32_t k = 0; k < count && k < IN_AHEAD; k++)
        __builtin_prefetch(&search->number[graph->from[first + k]]);
    node = search->node[i - AHEAD];
    first = graph->in_first[node];
    count = graph->in_first[node + 1] - first;
    for (uint32_t k = 0; k < count && k < IN_AHEAD; k++)
        __builtin_prefetch(&search->climb[search->number[graph->from[first + k]]]);
}

static void find_semidominators(struct search *search)
{
    const struct heap_graph *graph = search->graph;

    for (uint32_t i = 0; i <= search->count; i++)
        search->climb[i] = (struct climb){.ancestor = search->parent[i], .low = i};
    for (uint32_t i = search->count; i > 0; i--) {
        uint32_t node = search->node[i], semi = search->start[node] ? 0 : search->parent[i];

        prefetch_in(search, i);
        for (uint32_t k = graph->in_first[node]; semi && k < graph->in_first[node + 1]; k++) {
            uint32_t low = lowest_semi(search, search->number[graph->from[k]], i);

            semi = low < semi ? low : semi;
        }
        search->semi[i] = search->climb[i].low = semi;
    }
}

static void find_nearest(struct search *search)
{
    search->idom[0] = 0;
    for (uint32_t i = 1; i <= search->count; i++) {
        uint32_t above = search->parent[i];

        while (above > search->semi[i])
            above = search->idom[above];
        search->idom[i] = above;
    }
}

/* Adds up sizes from the highest number down, because a block has a higher number than the blocks
 * that dominate it. */
static void sum_up(const struct search *search, struct dominators *out)
{
    const struct heap_graph *graph = search->graph;

    for (uint32_t i = search->count; i > 0; i--) {
        uint32_t node = search->node[i], above = search->idom[i];

        out->bytes[node] += graph->block[node].size;
        out->blocks[node]++;
        out->idom[node] = above ? search->node[above] : GRAPH_NONE;
        if (above) {
            out->bytes[search->node[above]] += out->bytes[node];
            out->blocks[search->node[above]] += out->blocks[node];
        }
    }
}

static void list_children(const struct heap_graph *graph, struct dominators *out)
{
    uint32_t *first = array_grow(NULL, &(size_t){0}, (size_t)graph->blocks + 3, sizeof(*first));
    uint32_t sum = 0;

    memset(first, 0, ((size_t)graph->blocks + 3) * sizeof(*first));
    for (uint32_t i = 0; i < graph->blocks; i++)
        first[out->idom[i] == GRAPH_NONE ? 1 : out->idom[i] + 2]++;
    for (uint32_t i = 1; i < graph->blocks + 2; i++) {
        uint32_t count = first[i];

        first[i] = sum; /* from now on first[i] is the index at which the next child is stored */
        sum += count;
    }
    for (uint32_t i = 0; i < graph->blocks; i++)
        out->child[first[out->idom[i] == GRAPH_NONE ? 1 : out->idom[i] + 2]++] = i;
    out->child_first = first;
}

struct dominators dominators_find(struct heap_graph *graph)
{
    struct search search = {.graph = graph,
                            .node = row(graph, sizeof(uint32_t)),
                            .number = row(graph, sizeof(uint32_t)),
                            .parent = row(graph, sizeof(uint32_t)),
                            .stack = row(graph, sizeof(uint32_t)),
                            .next = row(graph, sizeof(uint32_t)),
                            .reached = row(graph, sizeof(bool)),
                            .start = row(graph, sizeof(bool))};
    struct dominators out;

    heap_graph_link(graph);
    heap_graph_each_start(graph, search.reached, search_from, &search);
    for (uint32_t i = 0; i < graph->roots; i++)
        search.start[graph->root[i].to] = true;
    free(search.next);
    free(search.reached);
    search.semi = row(graph, sizeof(uint32_t));
    search.climb = row(graph, sizeof(*search.climb));
    find_semidominators(&search);
    free(search.climb);
    free(search.stack);
    free(search.number);
    search.idom = row(graph, sizeof(uint32_t));
    find_nearest(&search);
    free(search.semi);
    free(search.parent);
    out = (struct dominators){.idom = row(graph, sizeof(uint32_t)),
                              .bytes = row(graph, sizeof(uint64_t)),
                              .blocks = row(graph, sizeof(uint32_t)),
                              .child = row(graph, sizeof(uint32_t))};
    sum_up(&search, &out);
    free(search.node);
    free(search.idom);
    free(search.start);
    list_children(graph, &out);
    return out;
}

void dominators_end(struct dominators *dominators)
{
    free(dominators->idom);
    free(dominators->bytes);
    free(dominators->blocks);
    free(dominators->child);
    free(dominators->child_first);
    *dominators = (struct dominators){0};
}

bool dominators_check(const struct heap_graph *graph, const struct dominators *dominators,
                      const char **broken)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < graph->blocks; i++) {
        uint64_t bytes = graph->block[i].size, blocks = 1;
        uint32_t count;
        const uint32_t *child = dominators_children(dominators, i, &count);

        for (uint32_t k = 0; k < count; k++) {
            bytes += dominators->bytes[child[k]];
            blocks += dominators->blocks[child[k]];
            *broken = "a child of another block";
            if (dominators->idom[child[k]] != i)
                return false;
        }
        *broken = "the sum of a block";
        if (bytes != dominators->bytes[i] || blocks != dominators->blocks[i])
            return false;
        if (dominators->idom[i] == GRAPH_NONE)
            all += bytes;
    }
    *broken = "the sum of the heap";
    return all == graph->bytes;
}
