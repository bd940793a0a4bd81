/* context_tree.h - the calling-context tree: a stack becomes one number.
 *
 * A node is (caller's node, return address, generation); a leaf is (node, sort) and names a site.
 * The sort is the kind and, above it, the tag: one word, which stands where other nodes have their
 * pc, so whoever has no tags compares nothing more.
 * Nodes live in the store, append-only; the index from key to id is private: 64 stripes, half of
 * them for the leaves, each a dense open-addressing table of four-byte slots that readers walk
 * without a lock and that doubles alone. An outgrown table stays mapped, since a reader may still
 * be in it, but its memory goes back and it reads as empty; a reader takes no slot's word for
 * anything, but asks the node.
 */
#ifndef PRELOAD_UNWIND_CONTEXT_TREE_H
#define PRELOAD_UNWIND_CONTEXT_TREE_H

#include "preload/base/reentry_guard.h"
#include "preload/unwind/unwind.h"

bool tree_start(void);
/* The frames of a trace are found: gets on its way what tree_site will ask for while they take
 * their places. */
void tree_expect(struct unwind_trace *trace, unsigned sort);
/* The site of a trace and a sort; 0 when there is no memory. Frames that the trace shares with the
 * one before have their nodes already; the others get theirs here. */
uint32_t tree_site(struct guard *guard, struct unwind_trace *trace, unsigned sort);

/* A node that tree_site made, without what is the tree's own in it. */
struct leak_node tree_node(uint32_t id);
/* The node of the innermost frame of a free's stack (or the root, for an empty one). */
uint32_t tree_free_node(struct guard *guard, struct unwind_trace *trace);

/* Every node's parent has a smaller id, and every node is found under its key. */
bool tree_check(void);

void tree_fork_lock(void);
void tree_fork_unlock(void);
/* Nodes move to the child's store; inherited leaves no longer match: new blocks get new sites. */
bool tree_fork_child(void);

#endif
