/* root_paths.h - the shortest ways from the starts (heap_graph_each_start) to all blocks, found in one
 * breadth-first search. Of equally short ones that whose root word, then whose words come first. */
#ifndef GRAPH_ROOT_PATHS_H
#define GRAPH_ROOT_PATHS_H

#include "graph/heap/heap_graph.h"

struct root_tree {
    uint32_t *parent;   /* by block: the one before it on the way; GRAPH_NONE: it is a start */
    uint32_t *distance; /* edges from the start */
};

struct root_tree root_tree_find(const struct heap_graph *graph);
void root_tree_end(struct root_tree *tree);

/* The edge from one block to another with the lowest number; GRAPH_NONE: there is none. */
uint32_t root_tree_edge(const struct heap_graph *graph, uint32_t from, uint32_t to);

#endif
