/* root_paths.c - finds the shortest paths from the roots; described in root_paths.h. */
#include "graph/analyze/root_paths.h"

#include <stdlib.h>
#include <string.h>

struct wave {
    const struct heap_graph *graph;
    struct root_tree tree;
    bool *reached;
    uint32_t *queue, head, tail;
};

static void reach(struct wave *wave, uint32_t block, uint32_t parent)
{
    wave->reached[block] = true;
    wave->tree.parent[block] = parent;
    wave->tree.distance[block] = parent == GRAPH_NONE ? 0 : wave->tree.distance[parent] + 1;
    wave->queue[wave->tail++] = block;
}

static void spread(struct wave *wave)
{
    const struct heap_graph *graph = wave->graph;

    while (wave->head < wave->tail) {
        uint32_t from = wave->queue[wave->head++];

        for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++)
            if (!wave->reached[graph->edge[i].to])
                reach(wave, graph->edge[i].to, from);
    }
}

/* Continues the search from one start. All blocks that earlier starts lead to have been reached
 * already. */
static void start_wave(void *context, uint32_t block)
{
    reach(context, block, GRAPH_NONE);
    spread(context);
}

struct root_tree root_tree_find(const struct heap_graph *graph)
{
    size_t room = (size_t)graph->blocks + 1;
    struct wave wave = {.graph = graph,
                        .tree.parent = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                        .tree.distance = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                        .reached = array_grow(NULL, &(size_t){0}, room, sizeof(bool)),
                        .queue = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t))};

    memset(wave.reached, 0, room);
    for (uint32_t i = 0; i < graph->roots; i++)
        if (!wave.reached[graph->root[i].to])
            reach(&wave, graph->root[i].to, GRAPH_NONE);
    spread(&wave);
    heap_graph_each_start(graph, wave.reached, start_wave, &wave);
    free(wave.reached);
    free(wave.queue);
    return wave.tree;
}

void root_tree_end(struct root_tree *tree)
{
    free(tree->parent);
    free(tree->distance);
    *tree = (struct root_tree){0};
}

uint32_t root_tree_edge(const struct heap_graph *graph, uint32_t from, uint32_t to)
{
    for (uint32_t i = graph->first[from]; i < graph->first[from + 1]; i++)
        if (graph->edge[i].to == to)
            return i;
    return GRAPH_NONE;
}
