/* profile.h - a report as stacks with weights, and as call trees.
 *
 * Profilers know no records: for them a heap is a list of stacks, each with an amount of every
 * weight (format_api.h). This module makes such stacks of the records, of the blocks at the peak
 * and of the sums of all allocations, and merges equal stacks.
 */
#ifndef SYMBOLIZE_PROFILE_PROFILE_H
#define SYMBOLIZE_PROFILE_PROFILE_H

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/view/format_api.h"

extern const char *const weight_word[WEIGHT_MAX], *const weight_words[WEIGHT_MAX];

struct amount {
    uint64_t bytes, blocks;
};

void amount_add(struct amount *sum, struct amount more);

/* ---- heap_profile.c: the report as a list of stacks with weights ----------------------------- */

struct profile_stack {
    const struct process *process;
    const char *label; /* a name instead of frames: "[no stack]"; NULL if there are frames */
    /* innermost first; the frames of allocation functions only with --all-frames */
    const struct frame *const *frames;
    size_t count;
    struct amount of[WEIGHT_MAX];
};

/* A profile: all stacks with their weights. Invariant: total[w] = sum of stacks[i].of[w] */
struct heap_profile {
    const struct report *report;
    const struct view *view;
    bool lines; /* true: two stacks that differ only in a line number stay two */
    bool many;  /* there are several processes; stacks of different processes are never merged */
    struct profile_stack *stacks;
    size_t count, capacity;
    struct amount total[WEIGHT_MAX];
    struct hashmap by_frames; /* hash of a stack -> its index in `stacks` + 1 */
    /* frame -> the hash that heap_profile_hash_frame() returned for that frame */
    struct hashmap hashes;
};

/* Makes a profile of the processes that a report lists. All allocations are only in the model if
 * the format has the flag FORMAT_ALLOCATED. The report and the view must outlive the profile. */
struct heap_profile heap_profile_begin(const struct report *report, const struct view *view,
                                       bool lines);
void heap_profile_end(struct heap_profile *profile);

/* Hashes what distinguishes a frame from others: its name, and with `lines` its file and line. */
uint64_t heap_profile_hash_frame(struct heap_profile *profile, const struct frame *frame);

void heap_profile_check(const struct heap_profile *profile);

/* ---- call_tree.c: the stacks of a profile as a tree of calls --------------------------------- */

/* A function in a call tree, called by the function of node `up`. Node 0 is the root; for all
 * others `up` is less than the node's own index. first: index of the first function that this one
 * calls; next: of the next function with the caller of this one. Both lists are sorted by bytes,
 * the largest first; 0 = end.
 *     all = own + the sum of `all` of the functions that this one calls */
struct call_node {
    uint32_t up, first, next;
    /* exactly one of frame, process and label is set; in the root, none */
    const struct frame *frame;
    /* set in the node of a process; a report of several processes has one such node for each, below
     * the root */
    const struct process *process;
    const char *label;
    struct amount own, all;
};

struct call_tree {
    struct call_node *nodes;
    size_t count, capacity;
    /* hash of caller and name -> index of the node, while the tree is built */
    struct hashmap by_call;
};

/* Makes a tree of the stacks of a profile. inverted: from the allocating functions to their
 * callers; else from main to the allocating functions. Calls of one name by one caller are one
 * node. Frames of the C library that call main are left out, unless the view has all frames. */
struct call_tree call_tree_begin(struct heap_profile *profile, enum weight weight, bool inverted);
void call_tree_end(struct call_tree *tree);

void call_tree_check(const struct call_tree *tree);

/* Returns the name of the function or process of a node, or its label. The text is in `buffer`, or
 * part of the model. */
const char *call_node_name(const struct call_node *node, char buffer[FRAME_NAME_SIZE]);

#endif
