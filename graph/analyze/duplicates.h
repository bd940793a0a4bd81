/* duplicates.h - blocks with equal contents, by the numbers that the graph file has of them.
 *
 *     a set        two blocks or more with one number, ascending; the largest of them, the first of
 *                  equally large ones, counts as the original, the others as copies
 *     wasted       bytes of the copies
 */
#ifndef GRAPH_DUPLICATES_H
#define GRAPH_DUPLICATES_H

#include "graph/heap/heap_graph.h"

struct duplicate_set {
    uint64_t content, wasted;
    uint32_t first, blocks; /* a range of duplicates.member */
    uint32_t original;
};

struct duplicates {
    struct duplicate_set *set; /* by falling wasted bytes, then by content */
    uint32_t *member;
    uint32_t count;
};

/* The graph has contents. */
struct duplicates duplicates_find(const struct heap_graph *graph);
void duplicates_end(struct duplicates *duplicates);

/* The first bytes of a content; NULL: not in the file. */
const struct graph_content *duplicates_sample(const struct heap_graph *graph, uint64_t content);

#endif
