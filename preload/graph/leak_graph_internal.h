/* leak_graph_internal.h - edge lists and dominators, which leak_graph.c uses.
 *
 * An edge list is the pointer graph in two arrays. The targets of source i (a block or the roots)
 * are to[first[i]] .. to[first[i + 1] - 1]. A pointer to a block's start, its interior or the byte
 * behind its end makes an edge; pointers of a block to itself do not.
 */
#ifndef PRELOAD_GRAPH_LEAK_GRAPH_INTERNAL_H
#define PRELOAD_GRAPH_LEAK_GRAPH_INTERNAL_H

#include "preload/graph/hanging_trees.h"
#include "preload/mark/mark_nodes.h"

struct edge_list {
    uint32_t *first;
    struct scan_array to; /* the targets, each an uint32_t */
};

/* Builds the edge list of the lost blocks. Sources and targets are numbers of lost blocks, which
 * are indices of node_of; reach->links[node].from of a lost node holds its number.
 * Lowers reach->links[node].at to the lowest offset in the node to which another lost block
 * points. */
bool edge_list_of_lost(struct edge_list *edges, struct reach *reach, const uint32_t *node_of,
                       uint32_t count);
/* Builds the edge list of the held (reachable, possibly lost or hidden) blocks of the core. Sources
 * and targets are numbers in the core. One additional source stands for the roots: its targets are
 * the blocks that a root word points to, and the blocks that are held without a pointer. */
bool edge_list_of_core(struct edge_list *edges, struct reach *reach, const struct graph_core *core);
void edge_list_end(struct edge_list *edges, struct reach *reach);

static ALWAYS_INLINE uint32_t *edge_list_targets(const struct edge_list *edges)
{
    return edges->to.at;
}

/* The state of one source during a depth-first search: 16 bytes, so that a visit costs one cache
 * access. */
struct edge_cursor {
    /* The targets that the search has not followed yet, as indices into "to" of the edge list. */
    uint32_t next, end;
    uint32_t order, low; /* the search defines their meaning; they are 0 at first */
};

/* Makes one cursor for each source of the edge list, and frees its array "first". The cursors need
 * only 16 bytes per source. NULL: no memory. */
struct edge_cursor *edge_list_to_cursors(struct edge_list *edges, struct reach *reach,
                                         uint32_t sources);

/* Prefetches the cursors of up to 8 targets of a source. A search calls it when it enters the
 * source. */
static ALWAYS_INLINE void edge_cursor_prefetch(const struct edge_cursor *cursors,
                                               const uint32_t *to, const struct edge_cursor *here)
{
    uint32_t end = here->end - here->next < 8 ? here->end : here->next + 8;
    for (uint32_t i = here->next; i < end; i++)
        __builtin_prefetch(&cursors[to[i]], 1);
}

/* Returns the next target of a source and advances its cursor. The source must have a target
 * left. */
static ALWAYS_INLINE uint32_t edge_cursor_next(const struct edge_cursor *cursors,
                                               const uint32_t *to, struct edge_cursor *here)
{
    uint32_t next = to[here->next++];
    if (here->next < here->end)
        __builtin_prefetch(&to[cursors[to[here->next]].next]);
    return next;
}

/* ---- Dominators ------------------------------------------------------------------------------
 * A block dominates every block that all paths from the roots reach through it. Every pointer
 * makes a path, interior pointers included: a doubtful pointer keeps its target alive. Dominators
 * form a tree; the retained size of a block is the sum over its subtree. */

struct dominator_sums {
    /* Element i: how many blocks node i retains, itself included; 0: the node is not held. */
    uint32_t *blocks;
    uint64_t *bytes;
};

/* Finds the dominators and sums up what each block retains. The arrays of *sums belong to
 * reach->arena. Frees the index that finds blocks by address, and the edges that marking recorded.
 * False: no memory. */
bool dominators_find(struct dominator_sums *sums, struct reach *reach);

#endif
