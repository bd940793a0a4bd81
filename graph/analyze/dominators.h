/* dominators.h - which block holds which alone: d dominates b when every way from the starts
 * (heap_graph_each_start) to b leads through d. What a block dominates is released with it.
 *
 *     bytes[b]  = size of b + sum of bytes[c] over all c with idom[c] == b
 *     blocks[b] = 1         + sum of blocks[c]
 *     sum of bytes[b] over all b with idom[b] == GRAPH_NONE = bytes of the heap
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "graph/heap/heap_graph.h"

struct dominators {
    uint32_t *idom; /* by block: the nearest one that dominates it; GRAPH_NONE: none does */
    uint64_t *bytes;
    uint32_t *blocks;
    uint32_t *child_first, *child; /* the blocks that b dominates directly:
                                      child[child_first[b + 1] .. child_first[b + 2]); b = -1: none does */
};

/* Links the graph. */
struct dominators dominators_find(struct heap_graph *graph);
void dominators_end(struct dominators *dominators);

/* The blocks that `block` dominates directly. GRAPH_NONE: those that no block dominates. */
static inline const uint32_t *dominators_children(const struct dominators *dominators,
                                                  uint32_t block, uint32_t *count)
{
    const uint32_t *first = &dominators->child_first[block == GRAPH_NONE ? 0 : block + 1];

    *count = first[1] - first[0];
    return dominators->child + first[0];
}

/* The equations above; false: *broken names one. For tests. */
bool dominators_check(const struct heap_graph *graph, const struct dominators *dominators,
                      const char **broken);

#endif
