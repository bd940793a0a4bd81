/* hanging_trees.h - finds reachable blocks whose dominator is known without a search: blocks in
 * trees that hang on one pointer. A block dominates another if every path from the roots to the
 * other leads through it.
 *
 * A block hangs if one block outside of its tree points to it, or the roots do, and if its own
 * pointers lead only to blocks that hang on it, or back to that block:
 *
 *     core -> a <-> b -> d         a, b, c, d hang: if a is freed, nothing holds b, c and d
 *             a  -> c
 *
 * Most blocks of most heaps hang: strings, elements of lists (of doubly linked lists, too), trees
 * with pointers to the parent. All other blocks are the core, for which dominators.c searches. The
 * dominator of a block that hangs is the block through which marking reached it.
 */
#ifndef PRELOAD_GRAPH_HANGING_TREES_H
#define PRELOAD_GRAPH_HANGING_TREES_H

#include "preload/mark/mark_nodes.h"

/* The nodes (blocks in the marking engine) that belong to the core. They are numbered from 0 in the
 * order of the nodes. */
struct graph_core {
    uint64_t *bits; /* bit i: node i belongs to the core */
    /* Element i: how many of the nodes 0 to 64 * i - 1 belong to the core. */
    uint32_t *below;
    uint32_t *node; /* element i: the node of the core with number i */
    uint32_t count;
};

/* Finds the nodes of the core; all other held nodes are in trees that hang on one pointer. False:
 * no memory. */
bool hanging_trees_find(struct reach *reach, struct graph_core *core);

static ALWAYS_INLINE bool graph_core_has(const struct graph_core *core, uint32_t node)
{
    return core->bits[node / 64] >> node % 64 & 1;
}

/* Returns the number of a node that belongs to the core. */
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

/* Returns the node through which marking reached a held node; NODE_NONE: marking reached it from a
 * root, or holds it without a pointer. */
static inline uint32_t node_parent(const struct reach *reach, uint32_t node)
{
    return node_state(&reach->nodes[node]) & NODE_BY_ROOT ? NODE_NONE : reach->links[node].from;
}

#endif
