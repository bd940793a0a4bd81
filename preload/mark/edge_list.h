/* edge_list.h - who points to whom, in two arrays: as it was noted while the blocks were marked, or
 * read from them once more.
 *
 * The targets of source i are to[first[i]] .. to[first[i + 1] - 1]. A pointer is one to a block's
 * start, its inside, or just behind it; what points to itself is left out.
 */
#ifndef PRELOAD_MARK_EDGE_LIST_H
#define PRELOAD_MARK_EDGE_LIST_H

#include "preload/mark/mark_nodes.h"

struct edges {
    uint32_t *first;
    struct pile to; /* uint32_t */
};

/* Among the lost: sources and targets are indices of node_of, and a lost node's link says which. */
bool edges_of_lost(struct edges *edges, struct reach *reach, const uint32_t *node_of,
                   uint32_t count);
/* Among all others: sources and targets are indices of the queue, where what belongs together lies
 * together. One source more stands for the roots: it leads to what root words point to, and to what
 * is held without a pointer. */
bool edges_of_held(struct edges *edges, struct reach *reach);
void edges_end(struct edges *edges, struct reach *reach);

static ALWAYS_INLINE uint32_t *edges_to(const struct edges *edges)
{
    return edges->to.at;
}

/* A source during a search: all that is asked of it in one place of the cache. */
struct stop {
    uint32_t next, end;  /* its targets that were not followed yet, in "to" */
    uint32_t order, low; /* the search's own; 0 at first */
};

/* One for each source; "first" is given back. NULL: no memory. */
struct stop *edges_to_stops(struct edges *edges, struct reach *reach, uint32_t sources);

/* A search enters here: where it will go next is fetched all at once. */
static ALWAYS_INLINE void stop_prefetch(const struct stop *stops, const uint32_t *to,
                                        const struct stop *here)
{
    uint32_t end = here->end - here->next < 8 ? here->end : here->next + 8;
    for (uint32_t i = here->next; i < end; i++)
        __builtin_prefetch(&stops[to[i]], 1);
}

/* The next target of a source that has one. */
static ALWAYS_INLINE uint32_t stop_next(const struct stop *stops, const uint32_t *to,
                                        struct stop *here)
{
    uint32_t next = to[here->next++];
    if (here->next < here->end)
        __builtin_prefetch(&to[stops[to[here->next]].next]);
    return next;
}

#endif
