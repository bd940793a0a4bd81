/* root_owners.h - finds the root words that keep the heap alive, and how many bytes each of them
 * holds; also all words that point to one block.
 *
 * Every held block belongs to one root word: the one at which a shortest path to the block begins.
 * The root words that hold the most bytes go into the recording file, and so do those at which a
 * written path begins, each with the allocation sites of the blocks that it holds. A word on a
 * stack is written with the function whose frame contains it; for that the stacks of all threads
 * are unwound. */
#ifndef PRELOAD_LEAKCHECK_ROOT_OWNERS_H
#define PRELOAD_LEAKCHECK_ROOT_OWNERS_H

#include "preload/memory/collections.h"
#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* Number of blocks at the beginning of a path that are written if the path is too long: every later
 * block of the path knows block number PATH_HEAD, from which they are found. */
#define PATH_HEAD 12

struct root_owners {
    const struct reach *reach;
    const struct roots *roots_found;
    /* Array by node: its root word, and the beginning of its path. */
    struct owner_node *node;
    struct owner_word *word; /* what each root word holds; indexed by struct reach_word.index */
    struct root_owners_frame *frame; /* frames of all threads, innermost first */
    uint32_t frame_count;
    /* For each thread: index of its first frame; its frames end where those of the next thread
     * begin. */
    uint32_t *frames_of;
    /* Hash table: hash of root word and site -> index + 1 in "parts"; 0: empty. */
    uint32_t *part_at;
    struct growable_array roots, parts, threads, pcs;
};

bool root_owners_begin(struct root_owners *owners, const struct reach *reach,
                       const struct roots *roots);
/* Assigns every block to its root word, and sums up what each root word holds; called before the
 * other functions. */
void root_owners_count(struct root_owners *owners);
/* Adds a row for each thread to the table of threads, and unwinds the threads' stacks. */
void root_owners_add_threads(struct guard *guard, struct root_owners *owners);
/* A frame of a thread. pc is a return address in its function, whose local variables lie between sp
 * and cfa; cfa 0: the next frame is unknown. root_owners_thread_frame gets frame number index, 0 is
 * the innermost. False: there is no such frame. */
struct root_owners_frame {
    uintptr_t pc, sp, cfa;
};
bool root_owners_thread_frame(const struct root_owners *owners, uint32_t thread, uint32_t index,
                              struct root_owners_frame *out);
/* Writes the root word of a node; returns its index + 1 in the table "roots", or 0 if the node has
 * no root word. */
uint32_t root_owners_add_node(struct root_owners *owners, uint32_t node);
/* Finds block number PATH_HEAD (from 1) of the path from a root to a node. REACH_NONE: the path has
 * at most PATH_HEAD blocks. */
uint32_t root_owners_path_head(const struct root_owners *owners, uint32_t node);
/* Writes the root words that hold the most bytes and are not written yet, then for each written
 * word how much it holds of each site. */
void root_owners_finish(struct root_owners *owners);
/* Frees the arrays "node" and "word"; the tables stay, because they are copied into the recording
 * file later. */
void root_owners_end(struct root_owners *owners);

/* Appends a struct leak_pointer for each word of the roots and of all blocks that points to the
 * block; of more than LEAK_POINTERS only the first ones. */
void root_owners_find_referrers(struct root_owners *owners, const struct block *block,
                                struct growable_array *out);

#endif
