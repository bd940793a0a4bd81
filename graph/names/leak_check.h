/* leak_check.h - the graph as leakreport's functions want it: as the leak check of a recording, with
 * modules, threads, and for each allocation site some blocks and some of the ways to them.
 *
 *     result s - 1           of site s: the way to its nearest block, sizes, first words
 *     the others             further ways to blocks of the sites, through blocks of other sites
 *     leak_check_asked       the last one: empty until leak_check_set_path
 */
#ifndef GRAPH_LEAK_CHECK_H
#define GRAPH_LEAK_CHECK_H

#include "graph/heap/heap_graph.h"

/* Completes graph->store; once. types: with results, which only types need; else there are none. */
void leak_check_add(struct heap_graph *graph, bool types);

/* The root word as a leak check has it; of a known range. */
struct leak_held leak_check_root(const struct heap_graph *graph, uint32_t root);

/* The result without a site. Its path becomes the one along these blocks, from a root word on, as
 * far as it is kept. Returns how many steps that is. */
uint32_t leak_check_asked(const struct heap_graph *graph);
size_t leak_check_set_path(struct heap_graph *graph, uint32_t root, const uint32_t *block,
                           uint32_t count);

#endif
