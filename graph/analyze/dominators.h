/* dominators.h - finds which block holds which other blocks alone: block d dominates block b when
 * every path of pointers from the starts (targets of roots, then lost blocks that no block owns:
 * heap_graph_each_start) to b leads through d. When a block is freed, all blocks that it dominates
 * can be freed, too.
 *
 *     bytes[b]  = size of b + sum of bytes[c] over all c with idom[c] == b
 *     blocks[b] = 1         + sum of blocks[c]
 *     sum of bytes[b] over all b with idom[b] == GRAPH_NONE = bytes of the heap
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "graph/heap/heap_graph.h"

struct dominators {
    /* number of a block -> the nearest block that dominates it; GRAPH_NONE: no block does */
    uint32_t *idom;
    uint64_t *bytes;
    uint32_t *blocks;
    /* lists the blocks that b dominates directly: child[child_first[b + 1] .. child_first[b + 2]);
     * for b = -1, the blocks that no block dominates */
    uint32_t *child_first, *child;
};

/* Finds the dominators. Calls heap_graph_link(). */
struct dominators dominators_find(struct heap_graph *graph);
void dominators_end(struct dominators *dominators);

/* Returns the blocks that `block` dominates directly; for GRAPH_NONE, those that no block
 * dominates. */
static inline const uint32_t *dominators_children(const struct dominators *dominators,
                                                  uint32_t block, uint32_t *count)
{
    const uint32_t *first = &dominators->child_first[block == GRAPH_NONE ? 0 : block + 1];

    *count = first[1] - first[0];
    return dominators->child + first[0];
}

/* Checks for tests the equations at the top of this header. False: *broken has the name of one that
 * does not hold. */
bool dominators_check(const struct heap_graph *graph, const struct dominators *dominators,
                      const char **broken);

#endif
