/* components.h - finds reference cycles: sets of blocks that all lead to each other by pointers,
 * and one shortest cycle of each set.
 */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include "graph/heap/heap_graph.h"

struct components {
    uint32_t *member; /* the blocks of all sets, one set after the other */
    /* index of a set -> index in `member` of its first block; has an additional entry for the
     * end */
    uint32_t *first;
    uint32_t *set_of; /* number of a block -> its set; GRAPH_NONE: the block is on no cycle */
    uint32_t count;   /* number of sets; each has at least two blocks */
};

/* Finds the sets of blocks that all lead to each other. left_out: says for each edge whether it is
 * ignored; NULL: no edge is ignored. */
struct components components_find(const struct heap_graph *graph, const bool *left_out);
void components_end(struct components *components);

/* Finds the edges of a shortest cycle through the first block of the set, in order. Returns their
 * number; if there are more than `most`, the rest is left out. */
uint32_t components_cycle(const struct heap_graph *graph, const bool *left_out,
                          const struct components *components, uint32_t set, uint32_t *edges,
                          uint32_t most);

#endif
