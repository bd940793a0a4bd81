/* components.h - reference cycles: the sets of blocks that all lead to each other, and one shortest
 * cycle of each. */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include "graph/heap/heap_graph.h"

struct components {
    uint32_t *member; /* the blocks of all sets */
    uint32_t *first;  /* by set, and one more: its first member */
    uint32_t *set_of; /* by block: its set; GRAPH_NONE: it is on no cycle */
    uint32_t count;   /* of sets; each has two members or more */
};

/* Finds the sets. left_out: for each edge, whether it counts as none; NULL: all edges count. */
struct components components_find(const struct heap_graph *graph, const bool *left_out);
void components_end(struct components *components);

/* The edges of a shortest cycle through the set's first block, in order; their number, at most
 * `most`: a longer one is cut. */
uint32_t components_cycle(const struct heap_graph *graph, const bool *left_out,
                          const struct components *components, uint32_t set, uint32_t *edges,
                          uint32_t most);

#endif
