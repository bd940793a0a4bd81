/* edges.h - who points to whom, read from the blocks into two arrays.
 *
 * The targets of source i are to[first[i]] .. to[first[i + 1] - 1]. A pointer is one to a block's
 * start, its inside, or just behind it; what points to itself is left out.
 */
#ifndef PRELOAD_EDGES_H
#define PRELOAD_EDGES_H

#include "preload/nodes.h"

struct edges {
    uint32_t *first;
    struct pile to; /* uint32_t */
};

/* Among the lost: sources and targets are indices of node_of, and a lost node's link says which. */
bool edges_of_lost(struct edges *edges, struct reach *reach, const uint32_t *node_of,
                   uint32_t count);
/* Among all others, as nodes; one source more stands for the roots: it leads to what root words
 * point to, and to what is held without a pointer. */
bool edges_of_held(struct edges *edges, struct reach *reach);
void edges_end(struct edges *edges, struct reach *reach);

static ALWAYS_INLINE uint32_t *edges_to(const struct edges *edges)
{
    return edges->to.at;
}

#endif
