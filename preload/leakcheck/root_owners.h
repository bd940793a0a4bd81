/* root_owners.h - the words outside the heap that keep it alive: which they are and how much hangs
 * on each; and all words that point to one block.
 *
 * Every reached block has one root word, at the start of a shortest path to it. The words that hold
 * most are written, and those at which a written path begins, each with the allocation sites of
 * what it holds. A word on a stack is written with the function whose frame contains it; for that
 * the stacks of the snapshot's threads are unwound.
 */
#ifndef PRELOAD_LEAKCHECK_ROOT_OWNERS_H
#define PRELOAD_LEAKCHECK_ROOT_OWNERS_H

#include "preload/memory/collections.h"
#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* The first so many blocks of a path can be found from every block behind them. */
#define PATH_HEAD 12

struct root_owners {
    const struct reach *reach;
    const struct roots *roots_found;
    struct owner_node *node;         /* by node */
    struct owner_word *word;         /* by index of reach_root_word */
    struct root_owners_frame *frame; /* of all threads, innermost first */
    uint32_t frame_count;
    uint32_t *frames_of; /* by thread: its first frame; the next thread's first frame ends them */
    uint32_t *part_at;   /* open addressing: hash of root and site -> part + 1 */
    struct growable_array roots, parts, threads, pcs;
};

bool root_owners_begin(struct root_owners *owners, const struct reach *reach,
                       const struct roots *roots);
/* Assigns every block to its root word; call before anything is written. */
void root_owners_count(struct root_owners *owners);
/* Writes the threads and unwinds their stacks. */
void root_owners_add_threads(struct guard *guard, struct root_owners *owners);
/* A frame of a thread, 0 being the innermost: the locals of the function at pc, a return address, lie
 * between sp and cfa, 0 if the next frame is unknown. False: there is none. */
struct root_owners_frame {
    uintptr_t pc, sp, cfa;
};
bool root_owners_thread_frame(const struct root_owners *owners, uint32_t thread, uint32_t index,
                              struct root_owners_frame *out);
/* Writes the root word of a node: its index in "roots" + 1, 0 = it has none. */
uint32_t root_owners_add_node(struct root_owners *owners, uint32_t node);
/* Block number PATH_HEAD of the path to a node; REACH_NONE: the path is not longer. */
uint32_t root_owners_path_head(const struct root_owners *owners, uint32_t node);
/* Writes the remaining words that hold most; then, for each written word, what it holds by site. */
void root_owners_finish(struct root_owners *owners);
/* Frees the rows by node and by word; the tables that were written stay. */
void root_owners_end(struct root_owners *owners);

/* Appends a struct leak_pointer for each word of the roots and of all blocks that points to the
 * block: at most LEAK_POINTERS. */
void root_owners_find_referrers(struct root_owners *owners, const struct block *block,
                                struct growable_array *out);

#endif
