/* root_paths.h - finds the shortest paths of pointers from the starts (targets of roots, then lost
 * blocks that no block owns: heap_graph_each_start) to all blocks, in one breadth-first search. Of
 * several shortest paths it takes the one with the root word at the lowest address, then the one
 * whose pointers are at the lowest offsets in their blocks.
 */
#ifndef GRAPH_ROOT_PATHS_H
#define GRAPH_ROOT_PATHS_H

#include "graph/heap/heap_graph.h"

struct root_tree {
    /* number of a block -> the block before it on its path; GRAPH_NONE: the path starts here */
    uint32_t *parent;
    uint32_t *distance; /* number of a block -> number of edges on its path */
};

struct root_tree root_tree_find(const struct heap_graph *graph);
void root_tree_end(struct root_tree *tree);

/* Returns the edge with the lowest number that leads from one block to another; GRAPH_NONE: there
 * is none. */
uint32_t root_tree_edge(const struct heap_graph *graph, uint32_t from, uint32_t to);

#endif
