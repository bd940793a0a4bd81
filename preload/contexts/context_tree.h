/* context_tree.h - the calling-context tree: a stack becomes one number.
 *
 * A node is (caller's node, return address, generation). Nodes live in the recording file,
 * append-only; the index from key to id is private: 32 stripes, each a dense open-addressing table
 * of four-byte slots that readers walk without a lock and that doubles independently
 * (table_regions.h); a reader never trusts a slot but always compares the node.
 *
 * A stack and its sort (the kind of the block and, above it, the tag; or LEAK_PC_FREE) name a site,
 * or for a free the innermost frame's node. A stack that was met before is found by its hash alone
 * (stack_table.h); its nodes are looked up only when a new stack begins with the same frames.
 */
#ifndef PRELOAD_CONTEXTS_CONTEXT_TREE_H
#define PRELOAD_CONTEXTS_CONTEXT_TREE_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

bool context_tree_start(void);
/* Call between unwind_find and unwind_commit: computes the paths, and prefetches what
 * context_tree_site will read. */
void context_tree_prefetch(struct unwind_trace *trace, unsigned sort);
/* The site of a trace and a sort, created if necessary; 0 when there is no memory. Frames that the
 * trace shares with the previous one have their nodes already; the others get theirs here. */
uint32_t context_tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort);

/* A node, with its key decoded: without the bits that the index has added. */
struct leak_node context_tree_node(uint32_t id);
/* Moves *id to the node of the next caller in C code; *node is the one that it was at, and Python frames
 * are left out. False: *id is a root. */
static inline bool context_tree_next(uint32_t *id, struct leak_node *node)
{
    while (*id >= LEAK_NODE_FIRST) {
        *node = context_tree_node(*id);
        *id = node->parent;
        if (!(node->number & LEAK_NODE_CODE))
            return true;
    }
    return false;
}
/* The node of the innermost frame of a free's stack (or the root, for an empty one). */
uint32_t context_tree_free_node(struct guard *guard, struct unwind_trace *trace);

/* Every node's parent has a smaller id, and every node and every site is found under its key. */
bool context_tree_check(void);

/* Copies the nodes to the child's recording file; inherited sites are no longer found: new blocks
 * get new sites. */
bool context_tree_fork_child(void);

#endif
