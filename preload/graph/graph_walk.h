/* graph_walk.h - visits the whole graph after marking: every root word, block and pointer, in
 * address order, in one pass over the heap, without allocating memory.
 *
 * It follows the same pointers as marking: a word in a suballocated block belongs to that block,
 * not to the block around it; a word in a root range of the C library counts only if it points to
 * the start of a block. A block's pointers to itself are left out.
 */
#ifndef PRELOAD_GRAPH_GRAPH_WALK_H
#define PRELOAD_GRAPH_GRAPH_WALK_H

#include "preload/mark/reachability.h"

/* How one block holds another without a plain pointer: by an encoded pointer, or because the held
 * one lies inside the other. */
enum graph_walk_bond { GRAPH_WALK_ENCODED, GRAPH_WALK_INSIDE };

struct graph_visitor {
    /* Called for a root word, at address "word" in the caller's range number "range", that points
     * "offset" bytes behind the start of block "node". */
    void (*root)(void *context, uint32_t range, uintptr_t word, uint32_t node, uint64_t offset);
    /* Called for word number "at" (from 0) of the block "from". The word points "offset" bytes
     * behind the start of block "node". Blocks come in ascending order, and so do the words of each
     * block. */
    void (*edge)(void *context, uint32_t from, uint64_t at, uint32_t node, uint64_t offset);
    /* Called for a block that another block holds without a plain pointer (bond). from: the block
     * that holds "node", or reach_count if a root does. All INSIDE bonds come last, with ascending
     * "from"; ENCODED bonds have no order. */
    void (*bond)(void *context, uint32_t from, uint32_t node, enum graph_walk_bond bond);
};

/* Visits all nodes and edges, the roots first. Call it between reach_mark and leak_graph_build,
 * which frees the index that finds blocks by address. */
void graph_walk(const struct reach *reach, const struct graph_visitor *visitor, void *context);

#endif
