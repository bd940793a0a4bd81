/* root_owners.h - the words outside of the heap that hold it: who they are, and how much hangs on
 * each.
 *
 * Every block that was reached has one root word, at the beginning of the shortest way to it. The
 * words that hold most are told, and those that a path begins at, each with the sites of what it
 * holds. A word on a stack is told with the function whose frame it lies in: for that the stacks of
 * the threads are unwound, in the picture.
 */
#ifndef PRELOAD_LEAKCHECK_ROOT_OWNERS_H
#define PRELOAD_LEAKCHECK_ROOT_OWNERS_H

#include "preload/base/containers.h"
#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* So many blocks at the beginning of a way can be found from any that lies behind them. */
#define HELD_HEAD 12

struct held {
    const struct reach *reach;
    const struct roots *roots_found;
    struct held_node *node;   /* of each */
    struct held_word *word;   /* by index */
    struct held_frame *frame; /* of all threads, innermost first */
    uint32_t frame_count;
    uint32_t *frames_of; /* of each thread seen: its first frame; the next one's ends them */
    uint32_t *part_at;   /* open addressing: hash of root and site -> part + 1 */
    struct growable_array roots, parts, threads, pcs;
};

bool held_begin(struct held *held, const struct reach *reach, const struct roots *roots);
/* Every block to its word; before anything is told. */
void held_count(struct held *held);
/* The threads there are, with their stacks. */
void held_threads(struct guard *guard, struct held *held);
/* Tells the word behind a node: its place in "roots" + 1, 0 = there is none. */
uint32_t held_tell(struct held *held, uint32_t node);
/* The same for any word of a root: in that piece, holding nothing that is counted. */
uint32_t held_tell_word(struct held *held, uintptr_t address, uint32_t piece);
/* The HELD_HEAD-th block of the way to a node; REACH_NOBODY: the way is not longer. */
uint32_t held_head(const struct held *held, uint32_t node);
/* Those that hold most besides; and then what each one that was told holds, by site. */
void held_finish(struct held *held);

#endif
