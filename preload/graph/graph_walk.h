/* graph_walk.h - visits the whole graph after marking: every root word, block and pointer, in
 * address order, in one pass of the prefetch ring and with no memory of its own.
 *
 * It follows what marking follows: words of nested blocks belong to these, root ranges of the C
 * library count only where they point to the start of a block. A block's pointers to itself are left
 * out.
 */
#ifndef PRELOAD_GRAPH_GRAPH_WALK_H
#define PRELOAD_GRAPH_GRAPH_WALK_H

#include "preload/mark/reachability.h"

/* How one block holds another without a plain pointer. */
enum graph_walk_bond { GRAPH_WALK_ENCODED, GRAPH_WALK_INSIDE };

struct graph_visitor {
    /* The word at the address, in that range of the caller, points so far behind the node's start. */
    void (*root)(void *context, uint32_t range, uintptr_t word, uint32_t node, uint64_t offset);
    /* The word number "at" of a node; nodes ascend, and so do the words of each. */
    void (*edge)(void *context, uint32_t from, uint64_t at, uint32_t node, uint64_t offset);
    /* from: a node, or reach_count for a root; ascending only for INSIDE, which comes last. */
    void (*bond)(void *context, uint32_t from, uint32_t node, enum graph_walk_bond bond);
};

/* Visits all nodes and edges, the roots first. Callable between reach_mark and leak_graph_build,
 * which frees the index. */
void graph_walk(const struct reach *reach, const struct graph_visitor *visitor, void *context);

#endif
