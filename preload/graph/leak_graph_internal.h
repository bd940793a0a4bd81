/* leak_graph_internal.h - edge lists and dominators: the two building blocks of leak_graph.c.
 *
 * An edge list is the pointer graph in two arrays. The targets of source i are to[first[i]] .. to[first[i + 1] - 1]. A pointer to
 * a block's start, its interior or the byte behind its end makes an edge; pointers of a block to
 * itself do not.
 */
#ifndef PRELOAD_GRAPH_LEAK_GRAPH_INTERNAL_H
#define PRELOAD_GRAPH_LEAK_GRAPH_INTERNAL_H

#include "preload/graph/hanging_trees.h"
#include "preload/mark/mark_nodes.h"

struct edge_list {
    uint32_t *first;
    struct scan_array to; /* uint32_t */
};

/* Edges among the lost blocks. Sources and targets are indices of node_of; links[node].from of a
 * lost node holds its index. */
bool edge_list_of_lost(struct edge_list *edges, struct reach *reach, const uint32_t *node_of,
                       uint32_t count);
/* Edges among the held blocks (reachable, possible, hidden) of the core. Sources and targets are
 * numbers in the core. One additional source stands for the roots: it leads to the targets of root
 * words and to blocks that are held without a pointer. */
bool edge_list_of_core(struct edge_list *edges, struct reach *reach, const struct graph_core *core);
void edge_list_end(struct edge_list *edges, struct reach *reach);

static ALWAYS_INLINE uint32_t *edge_list_targets(const struct edge_list *edges)
{
    return edges->to.at;
}

/* The state of a source during a depth-first search: 16 bytes, so one cache access per visit. */
struct edge_cursor {
    uint32_t next, end;  /* the targets not followed yet, as indices of "to" */
    uint32_t order, low; /* owned by the search; 0 at first */
};

/* Makes one cursor for each source and frees "first". NULL: no memory. */
struct edge_cursor *edge_list_to_cursors(struct edge_list *edges, struct reach *reach,
                                         uint32_t sources);

/* Call when a search enters a source: prefetches the cursors of its next targets together. */
static ALWAYS_INLINE void edge_cursor_prefetch(const struct edge_cursor *cursors,
                                               const uint32_t *to, const struct edge_cursor *here)
{
    uint32_t end = here->end - here->next < 8 ? here->end : here->next + 8;
    for (uint32_t i = here->next; i < end; i++)
        __builtin_prefetch(&cursors[to[i]], 1);
}

/* The next target of a source that has one. */
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
    uint32_t *blocks; /* by node: retained, the block itself included; 0: it is not held */
    uint64_t *bytes;
};

/* Finds the dominators. The memory belongs to reach->arena. Frees the rank index and the edges that
 * marking recorded. False: no memory. */
bool dominators_find(struct dominator_sums *sums, struct reach *reach);

#endif
