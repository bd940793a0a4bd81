/* mark_passes.h - two passes of a leak check besides mark.c: the pointer scan in address order
 * before marking, and the search for encoded pointers after it.
 *
 * Pointer scan. Breadth-first order is not memory order: a marker that reads each block when it
 * leaves the queue misses the cache on nearly every line. Sequential reads are prefetched by the
 * processor. So before marking, blocks of up to a page are read in address order, and the blocks to
 * which they point (their targets) are stored as node numbers, which take little memory:
 *
 *     words -> targets_of[node] -> targets[first .. first + count)
 *
 * in the order of the words; a single target is stored in targets_of itself. Some blocks stay
 * SCAN_UNREAD: blocks with a word that points to the interior of a block (mark.c must judge that),
 * large blocks (the processor prefetches them anyway), all blocks if memory is short or blocks are
 * nested, and blocks of more than a few cache lines if many earlier scans were wasted.
 *
 * When marking reads a block it records the targets, too (node_record_edge): after marking,
 * targets_of has all edges of the graph of held blocks, each once or, rarely, more often. */
#ifndef PRELOAD_MARK_MARK_PASSES_H
#define PRELOAD_MARK_MARK_PASSES_H

#include "preload/mark/pointer_filter.h"
#include "preload/mark/mark_nodes.h"

/* Runs the pointer scan; called after the rank index is built and before marking. Sets
 * NODE_NO_POINTER and NODE_NO_ENCODED on the blocks that it has read. */
void pointer_scan_run(struct reach *reach, const struct pointer_filter *filter);
/* Frees the memory that says to which blocks each block points (targets), when no edges are needed
 * any more. */
void pointer_scan_end(struct reach *reach);

/* Finds the first word of the scanned block `from` that points to the start of the block `to`, and
 * returns its index in `from`, from 0. */
uint64_t pointer_scan_find_word(const struct reach *reach, uint32_t from, uint32_t to);

/* Gets the number of a node's targets, the blocks to which its block points. False: the pointer
 * scan did not read this block, so the caller must read its words. */
static ALWAYS_INLINE bool pointer_scan_targets(const struct reach *reach, uint32_t node,
                                               uint32_t *count)
{
    *count = reach->targets_of[node].count;
    return !(*count & TARGETS_READ);
}

/* Returns target number i, from 0, of a node: one of the nodes to which its block points. Marking
 * appends to the array of targets, which may move then; so no pointer to an element stays valid. */
static ALWAYS_INLINE uint32_t pointer_scan_target(const struct reach *reach, uint32_t node,
                                                  uint32_t i)
{
    const struct pointer_targets *row = &reach->targets_of[node];
    return row->count == 1 ? row->first : ((const uint32_t *)reach->targets.at)[row->first + i];
}

/* The blocks to which a block points, except itself; valid after marking unless targets_lost is
 * set. */
struct node_edges {
    const uint32_t *to;
    uint32_t count;
};

static ALWAYS_INLINE struct node_edges pointer_scan_edges(const struct reach *reach, uint32_t node)
{
    const struct pointer_targets *row = &reach->targets_of[node];
    const uint32_t *targets = reach->targets.at;
    if (row->count == 1)
        return (struct node_edges){&row->first, 1};
    if (row->count == SCAN_UNREAD) /* the block points to no other one, or was never read */
        return (struct node_edges){targets, 0};
    return (struct node_edges){targets + row->first, row->count & ~TARGETS_READ};
}

#define POINTER_SCAN_AHEAD 12

/* Prefetches data of nodes that follow in the queue: for those further behind the element of
 * targets_of, for the nearer ones their targets. */
static ALWAYS_INLINE void pointer_scan_prefetch(const struct reach *reach, uint32_t at)
{
    const uint32_t *next = &reach->queue[at];
    if (reach->tail - at <= 2 * POINTER_SCAN_AHEAD)
        return;
    __builtin_prefetch(&reach->targets_of[next[2 * POINTER_SCAN_AHEAD]]);
    const struct pointer_targets *row = &reach->targets_of[next[POINTER_SCAN_AHEAD]];
    if (unlikely(row->count & TARGETS_READ))
        node_prefetch_content(&reach->nodes[next[POINTER_SCAN_AHEAD]]);
    else if (row->count > 1)
        __builtin_prefetch((const uint32_t *)reach->targets.at + row->first);
}

/* ---- Encoded pointers ------------------------------------------------------------------------
 * This pass runs after plain marking, and only if unmarked blocks remain. Every word of the roots
 * and of the marked blocks is decoded as
 *
 *     a tagged pointer        tag in the low 4 bits, the high 16 bits, or both
 *     a shifted pointer       right by 1 to 4 bits
 *     a complemented pointer
 *     a mangled pointer       xored with glibc's pointer guard, rotated left by 17 (guard 0:
 *                             skipped)
 *     an xored pointer        with the value of the option (0: skipped)
 *
 * and counts only if the result is exactly the start of an unmarked block, which becomes HIDDEN.
 * From hidden blocks, plain pointers (interior ones included) and encoded pointers are followed. */

/* Finds hidden blocks. Those that an earlier leak check found hidden are already in the queue.
 * False: there is no memory. */
bool encoded_pointers_find(struct reach *reach, uint64_t guard, uint64_t xor_key);

#endif
