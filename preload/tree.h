/* tree.h - the calling-context tree: a stack becomes one number.
 *
 * A node is (caller's node, return address, generation); a leaf is (node, kind) and names a site.
 * Nodes live in the store, append-only; the index from key to id is private: 64 stripes, each a
 * dense open-addressing table that readers walk without a lock and that doubles alone. An outgrown
 * table is kept, since a reader may still be in it: at most as much again as the live ones.
 */
#ifndef PRELOAD_TREE_H
#define PRELOAD_TREE_H

#include "preload/guard.h"
#include "preload/unwind.h"

bool tree_start(void);
/* The site of a trace and a kind; 0 when there is no memory. Frames that the trace shares with the
 * one before have their nodes already; the others get theirs here. */
uint32_t tree_site(struct guard *guard, struct unwind_trace *trace, enum leak_kind kind);

/* The record of a node that tree_site made. */
const struct leak_node *tree_node(uint32_t id);

/* Every node's parent has a smaller id, and every node is found under its key. */
bool tree_check(void);

void tree_fork_lock(void);
void tree_fork_unlock(void);
/* Nodes move to the child's store; inherited leaves no longer match: new blocks get new sites. */
bool tree_fork_child(uint32_t *last_node);

#endif
