/* pointer_scan.h - where each block leads to, read once, in the order of addresses.
 *
 * Breadth first is no order of memory: whoever reads a block when it is its turn waits for nearly
 * every line of it. One after the other they come in by themselves. So before marking small blocks
 * are read, and those up to a page, and what they lead to is kept in numbers, which take little
 * memory:
 *
 *     words -> lead[node] -> leads[first .. first + count)
 *
 * in the order of the words; of what is there once only, the number stands in the row. A word that
 * points to no start of a block needs judging (mark.c), and a large block comes in by itself: such
 * blocks are UNREAD. So are all where memory is short, or some lie in others; and of more than a
 * few lines those that come after many such ones.
 */
#ifndef PRELOAD_MARK_POINTER_SCAN_H
#define PRELOAD_MARK_POINTER_SCAN_H

#include "preload/mark/pointer_filter.h"
#include "preload/mark/mark_nodes.h"

/* Behind the index, before marking. Says NODE_PLAIN and NODE_BARE of what it has read. */
void leads_find(struct reach *reach, const struct disguise *is);
void leads_end(struct reach *reach);

/* In which word of it a block that was read points to the start of another. */
uint64_t leads_at(const struct reach *reach, uint32_t from, uint32_t to);

/* Where a node leads to, and to how many; false: who wants to know must read it. */
static ALWAYS_INLINE bool leads_of(const struct reach *reach, uint32_t node, const uint32_t **to,
                                   uint32_t *count)
{
    const struct lead *lead = &reach->lead[node];
    *to = lead->count == 1 ? &lead->first : (const uint32_t *)reach->leads.at + lead->first;
    *count = lead->count;
    return lead->count != UNREAD;
}

#define LEADS_AHEAD 12

/* The nodes that come up soon in the queue: first their rows, then what these tell of. */
static ALWAYS_INLINE void leads_look_ahead(const struct reach *reach, uint32_t at)
{
    const uint32_t *next = &reach->queue[at];
    if (reach->tail - at <= 2 * LEADS_AHEAD)
        return;
    __builtin_prefetch(&reach->lead[next[2 * LEADS_AHEAD]]);
    const struct lead *lead = &reach->lead[next[LEADS_AHEAD]];
    if (unlikely(lead->count == UNREAD))
        node_fetch_content(&reach->nodes[next[LEADS_AHEAD]]);
    else if (lead->count > 1)
        __builtin_prefetch((const uint32_t *)reach->leads.at + lead->first);
}

#endif
