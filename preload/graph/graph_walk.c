#include "preload/graph/graph_walk.h"
#include "preload/mark/pointer_filter.h"
#include "preload/mark/prefetch_ring.h"

#define BLOCKS_AHEAD 16

struct graph_walk {
    const struct reach *reach;
    const struct graph_visitor *visitor;
    void *context;
    struct prefetch_ring ring;
};

static void visit_root(void *context, uintptr_t pointer, uint32_t number, uint32_t from,
                       uint32_t at)
{
    struct graph_walk *walk = context;
    const struct root_range *range = (const struct root_range *)walk->reach->ranges.at + from;
    uint64_t offset = pointer - node_address(&walk->reach->nodes[number]);
    if (!offset || !range->starts_only)
        walk->visitor->root(walk->context, range->range, range->start + 8ull * at, number, offset);
}

static void visit_word(void *context, uintptr_t pointer, uint32_t number, uint32_t from,
                       uint32_t at)
{
    struct graph_walk *walk = context;
    if (number != from)
        walk->visitor->edge(walk->context, from, at, number,
                            pointer - node_address(&walk->reach->nodes[number]));
}

static void walk_roots(struct graph_walk *walk)
{
    const struct reach *reach = walk->reach;
    const struct root_range *ranges = reach->ranges.at;
    for (uint32_t i = 0; i < reach->ranges.count; i++)
        ring_scan_words(&walk->ring, reach, (const uintptr_t *)ranges[i].start, ranges[i].words, 0,
                        i, visit_root, walk);
    ring_drain(&walk->ring, reach, visit_root, walk);
}

static void walk_blocks(struct graph_walk *walk)
{
    const struct reach *reach = walk->reach;
    const struct pointer_filter filter = pointer_filter_make(reach->low, reach->span, 0, 0);
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct mark_node *node = &reach->nodes[i];
        if (likely(reach->count - i > BLOCKS_AHEAD))
            __builtin_prefetch((const void *)node_address(&node[BLOCKS_AHEAD]));
        if (node_state(node) & NODE_NO_POINTER)
            continue;
        struct node_words words = node_words_first(reach, i);
        do
            ring_scan_filtered(&walk->ring, reach, &filter, &words, i, visit_word, walk);
        while (node_words_next(reach, i, &words));
    }
    ring_drain(&walk->ring, reach, visit_word, walk);
}

static void walk_bonds(const struct graph_walk *walk)
{
    const struct reach *reach = walk->reach;
    const struct encoded_edge *encoded = reach->encoded_edges.at;
    for (uint64_t i = 0; i < reach->encoded_edges.count; i++)
        walk->visitor->bond(walk->context, encoded[i].from, encoded[i].to, GRAPH_WALK_ENCODED);
    for (uint32_t i = 0; reach->outer && i < reach->count; i++)
        if (reach->outer[i] != NODE_NONE)
            walk->visitor->bond(walk->context, i, reach->outer[i], GRAPH_WALK_INSIDE);
}

void graph_walk(const struct reach *reach, const struct graph_visitor *visitor, void *context)
{
    struct graph_walk walk = {.reach = reach, .visitor = visitor, .context = context};
    walk.ring.row = (const char *)reach->nodes;
    walk.ring.row_size = sizeof *reach->nodes;
    walk_roots(&walk);
    walk_blocks(&walk);
    walk_bonds(&walk);
}
