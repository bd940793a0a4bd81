/* hanging_trees.h - held blocks whose dominator needs no search: those of trees that hang on one pointer.
 *
 * A block hangs if one block outside of its tree points to it, or the roots do, and if its own
 * pointers lead only to blocks that hang on it, or back to that block:
 *
 *     core -> a <-> b -> d         a, b, c, d hang: without a all of them go
 *             a  -> c
 *
 * Most blocks of most heaps hang: contents, lists, doubly linked ones as well, trees with pointers to
 * the parent. The rest is the core, for which dominators.c searches. A block that hangs is dominated
 * by the one that marking found it by.
 */
#ifndef PRELOAD_GRAPH_HANGING_TREES_H
#define PRELOAD_GRAPH_HANGING_TREES_H

#include "preload/mark/mark_nodes.h"

/* The core, numbered from 0 in the order of the nodes. */
struct graph_core {
    uint64_t *bits;  /* by node: it belongs to the core */
    uint32_t *below; /* for 64 nodes: the core's nodes below them */
    uint32_t *node;  /* by number */
    uint32_t count;
};

/* Finds the trees that hang from the core of the graph. False: no memory. */
bool hanging_trees_find(struct reach *reach, struct graph_core *core);

static ALWAYS_INLINE bool graph_core_has(const struct graph_core *core, uint32_t node)
{
    return core->bits[node / 64] >> node % 64 & 1;
}

/* The number of a node of the core. */
static ALWAYS_INLINE uint32_t graph_core_number(const struct graph_core *core, uint32_t node)
{
    uint64_t lower = core->bits[node / 64] & ((1ull << node % 64) - 1);
    return core->below[node / 64] + rank_index_popcount(lower);
}

/* True for a held node that a root word points to, or that is held without a pointer. */
static inline bool node_is_root_target(const struct reach *reach, uint32_t node)
{
    return node_state(&reach->nodes[node]) & NODE_ROOT_TARGET ||
           reach->links[node].from == NODE_NONE;
}

/* The node by which a held node was found; NODE_NONE: a root, or none. */
static inline uint32_t node_parent(const struct reach *reach, uint32_t node)
{
    return node_state(&reach->nodes[node]) & NODE_BY_ROOT ? NODE_NONE : reach->links[node].from;
}

#endif
