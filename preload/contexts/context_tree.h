/* context_tree.h - the calling-context tree: gives each call stack a number.
 *
 * A node consists of the caller's node, a return address and the generation of its module. Nodes
 * are appended to the recording file and never change. The index that finds a node is in private
 * memory: 32 stripes, each an open-addressing table of four-byte slots that doubles independently
 * (table_regions.h). Readers take no lock; they compare the node in a slot with the key.
 *
 * A stack and its sort (the kind of the block and, above it, the tag; or LEAK_PC_FREE) determine a
 * site, or for a free the node of the innermost frame. A stack that was met before is found by its
 * hash alone (stack_table.h); its nodes are looked up only when a new stack begins with the same
 * frames. */
#ifndef PRELOAD_CONTEXTS_CONTEXT_TREE_H
#define PRELOAD_CONTEXTS_CONTEXT_TREE_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

bool context_tree_start(void);
/* Computes the paths (hashes) of frames, and prefetches data that context_tree_site will read;
 * called between unwind_find and unwind_commit. */
void context_tree_prefetch(struct unwind_trace *trace, unsigned sort);
/* Finds the site of a trace and a sort, or makes it; 0: there is no memory. Frames that the trace
 * shares with the thread's previous trace already have nodes; the other frames get nodes here. */
uint32_t context_tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort);

/* Returns the node with an id, without the bits that the index stores in the node. */
struct leak_node context_tree_node(uint32_t id);
/* An iterator over the C frames of a stack: *node gets the node of *id, and *id becomes the node of
 * the caller. Nodes of Python frames are skipped. False: *id is a root of the tree, where the stack
 * ends. */
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
/* Finds the node of the innermost frame of a free's stack, or makes it; for a stack without frames,
 * the root of the tree. */
uint32_t context_tree_free_node(struct guard *guard, struct unwind_trace *trace);

/* Says whether the invariant holds: every node's parent has a smaller id, and every node and site
 * is found under its key. */
bool context_tree_check(void);

/* Copies the nodes to the recording file of a fork child. Inherited sites are not found any more:
 * new blocks get new sites. False: there is no memory. */
bool context_tree_fork_child(void);

#endif
