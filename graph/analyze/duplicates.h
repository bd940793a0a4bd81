/* duplicates.h - finds blocks with equal contents. The graph file has a number for the content of
 * each block; equal contents have equal numbers.
 *
 *     a set        two or more blocks with one number, in ascending order; the largest block (of
 *     several, the first) counts as the original, the others as copies
 *     wasted       bytes of the copies
 */
#ifndef GRAPH_DUPLICATES_H
#define GRAPH_DUPLICATES_H

#include "graph/heap/heap_graph.h"

struct duplicate_set {
    uint64_t content, wasted;
    /* index of the set's first block in duplicates.member, and number of its blocks */
    uint32_t first, blocks;
    uint32_t original;
};

struct duplicates {
    struct duplicate_set *set; /* sorted by wasted bytes, the largest first, then by content */
    uint32_t *member;
    uint32_t count;
};

/* Finds the sets of blocks with equal contents. The graph must have contents. */
struct duplicates duplicates_find(const struct heap_graph *graph);
void duplicates_end(struct duplicates *duplicates);

/* Returns the first bytes of a content; NULL: the file does not have them. */
const struct graph_content *duplicates_sample(const struct heap_graph *graph, uint64_t content);

#endif
