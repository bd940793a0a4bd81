/* lost_graph.h - divides lost blocks into those that are leaks themselves, and indirect ones,
 * which would be released together with another block.
 *
 * Lost blocks that lead to each other are one component. In a component that no other lost block
 * leads to, the block with the lowest address is the leak. All blocks that it leads to are
 * indirect; a block that several leaks lead to belongs to the leak found first.
 *
 *     lost + indirect = the blocks that marking left
 *     the retained bytes of all lost blocks = bytes of all lost and indirect blocks */
#ifndef SCAN_LOST_GRAPH_H
#define SCAN_LOST_GRAPH_H

#include "scan/leakcheck/mark.h"

struct lost_chunk {
    uint32_t chunk;
    uint32_t owner; /* index of the lost block that owns this one; its own index if it is a leak
                     * itself */
    uint64_t retained_bytes, retained_blocks; /* of a leak: the block and all that it owns; else
                                               * 0 */
    bool cycle; /* of a leak: another block that it leads to points to its start, or both have
                 * headers */
};

struct lost_graph {
    struct lost_chunk *block; /* sorted by address */
    uint32_t count;
};

/* Sets the verdicts of the unmarked blocks to LOST or INDIRECT. False: no memory. */
bool lost_graph_build(struct lost_graph *graph, struct marking *marking);
void lost_graph_end(struct lost_graph *graph);

#endif
