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

/* What a thread remembers of its last stack: most stacks share their outer frames with the one before,
 * and equal (address, generation) from the root on means equal nodes. */
struct tree_memo {
    enum leak_root end;
    unsigned depth;
    uintptr_t pc[UNWIND_DEPTH_MAX]; /* outermost first */
    uint32_t retired[UNWIND_DEPTH_MAX];
    uint32_t node[UNWIND_DEPTH_MAX];
};

bool tree_start(void);
/* The site of a trace and a kind; 0 when there is no memory. *made: the site is new. */
uint32_t tree_site(struct guard *guard, const struct unwind_trace *trace, enum leak_kind kind,
                   struct tree_memo *memo);

/* Every node's parent has a smaller id, and every node is found under its key. */
bool tree_check(void);

void tree_fork_lock(void);
void tree_fork_unlock(void);
/* Nodes move to the child's store; inherited leaves no longer match: new blocks get new sites. */
bool tree_fork_child(uint32_t *last_node);

#endif
