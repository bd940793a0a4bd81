/* leak_check.h - presents the graph in the form that leakreport's functions take: as the leak check
 * of a recording, with modules, threads, and for each allocation site some blocks and some of the
 * paths to them.
 *
 *     result s - 1         site s (from 1): path to its block nearest to a root, sizes, first words
 *     further results      more paths to blocks of the sites, through blocks of other sites
 *     the last result      leak_check_asked(): has no path until leak_check_set_path() is called
 */
#ifndef GRAPH_LEAK_CHECK_H
#define GRAPH_LEAK_CHECK_H

#include "graph/heap/heap_graph.h"

/* Completes graph->store; call it only once. types: add the results, which only the search for
 * types needs. */
void leak_check_add(struct heap_graph *graph, bool types);

/* Returns a root word in the form of a leak check. Its memory range must be known. */
struct leak_held leak_check_root(const struct heap_graph *graph, uint32_t root);

/* leak_check_asked() returns the index of the last result, which belongs to no site and has a path
 * that the caller chooses. leak_check_set_path() sets this path, from a root word along the given
 * blocks, up to the limit of steps, and returns its number of steps. */
uint32_t leak_check_asked(const struct heap_graph *graph);
size_t leak_check_set_path(struct heap_graph *graph, uint32_t root, const uint32_t *block,
                           uint32_t count);

#endif
