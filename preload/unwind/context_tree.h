/* context_tree.h - the calling-context tree: a stack becomes one number.
 *
 * A node is (caller's node, return address, generation); a leaf is (node, sort) and names a site.
 * The sort is the kind and, above it, the tag: one word, in the field where inner nodes have their
 * pc, so programs without tags pay for no further compare. Nodes live in the recording file,
 * append-only; the index from key to id is private: 64 stripes, half of them for the leaves, each a
 * dense open-addressing table of four-byte slots that readers walk without a lock and that doubles
 * independently. An outgrown table stays mapped, since a reader may still be in it, but its memory
 * is returned and it reads as empty; a reader never trusts a slot but always compares the node.
 */
#ifndef PRELOAD_UNWIND_CONTEXT_TREE_H
#define PRELOAD_UNWIND_CONTEXT_TREE_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

bool context_tree_start(void);
/* Call between unwind_find and unwind_commit: prefetches the index slot that context_tree_site will
 * read. */
void context_tree_prefetch(struct unwind_trace *trace, unsigned sort);
/* The site of a trace and a sort, created if necessary; 0 when there is no memory. Frames that the
 * trace shares with the previous one have their nodes already; the others get theirs here. */
uint32_t context_tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort);

/* A node, with its key decoded: without the bits that the index has added. */
struct leak_node context_tree_node(uint32_t id);
/* Moves *id to the node of the caller; *node is the one that it was at. False: *id is a root. */
static inline bool context_tree_next(uint32_t *id, struct leak_node *node)
{
    if (*id < LEAK_NODE_FIRST)
        return false;
    *node = context_tree_node(*id);
    *id = node->parent;
    return true;
}
/* The node of the innermost frame of a free's stack (or the root, for an empty one). */
uint32_t context_tree_free_node(struct guard *guard, struct unwind_trace *trace);

/* Every node's parent has a smaller id, and every node is found under its key. */
bool context_tree_check(void);

/* Copies the nodes to the child's recording file; inherited leaves no longer match: new blocks get
 * new sites. */
bool context_tree_fork_child(void);

#endif
