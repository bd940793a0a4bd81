/* lost_graph.h - which lost blocks are leaks themselves, and which are indirect: they would be
 * released with another one.
 *
 * Lost blocks that lead to each other are one component. A component that no other lost block leads
 * to is lost by one of its blocks, the one with the lowest address. Everything below is indirect,
 * and belongs to the component found first.
 *
 *     lost + indirect = the blocks that marking left
 *     the retained bytes of all lost blocks = bytes of all lost and indirect blocks
 */
#ifndef SCAN_LOST_GRAPH_H
#define SCAN_LOST_GRAPH_H

#include "scan/leakcheck/mark.h"

struct lost_chunk {
    uint32_t chunk;
    uint32_t owner; /* index of the lost block that owns it; itself if lost */
    uint64_t retained_bytes, retained_blocks; /* of a lost one, itself included; else 0 */
    bool cycle;                               /* it leads to itself by way of another block */
};

struct lost_graph {
    struct lost_chunk *block; /* sorted by address */
    uint32_t count;
};

/* Sets the verdicts of the marking to LOST and INDIRECT. False: no memory. */
bool lost_graph_build(struct lost_graph *graph, struct marking *marking);
void lost_graph_end(struct lost_graph *graph);

#endif
