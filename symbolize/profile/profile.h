/* profile.h - a report as stacks with weights, and as call trees.
 *
 * Profilers know no records: for them a heap is a list of stacks, each with what it has of every
 * weight (format_api.h). Records, the parts of the peak and the sums of all allocations become such
 * stacks here, and equal ones are one.
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

/* ---- heap_profile.c -------------------------------------------------------------------------- */

struct profile_stack {
    const struct process *process;
    const char *label;                 /* instead of frames: "[no stack]"; else NULL */
    const struct frame *const *frames; /* innermost first; allocators only with --all-frames */
    size_t count;
    struct amount of[WEIGHT_MAX];
};

/* Invariant: total[w] = sum of stacks[i].of[w] */
struct heap_profile {
    const struct report *report;
    const struct view *view;
    bool lines; /* stacks that differ in a line alone are two */
    bool many;  /* several processes, whose stacks are never one */
    struct profile_stack *stacks;
    size_t count, capacity;
    struct amount total[WEIGHT_MAX];
    struct hashmap by_frames; /* hash of a stack -> index + 1 */
    struct hashmap hashes;    /* frame -> hash of what tells it from others */
};

/* The processes that a report would not list are left out. Allocations are only in the model for
 * formats with FORMAT_ALLOCATED. Both must outlive the profile. */
struct heap_profile heap_profile_begin(const struct report *report, const struct view *view,
                                       bool lines);
void heap_profile_end(struct heap_profile *profile);

/* What tells a frame from others: its name, and with `lines` its place. */
uint64_t heap_profile_hash_frame(struct heap_profile *profile, const struct frame *frame);

void heap_profile_check(const struct heap_profile *profile);

/* ---- call_tree.c ----------------------------------------------------------------------------- */

/* A function that was called from the one above. Node 0 is the root, up < its own index for all
 * others; first, next: the first call below, and the next of the one above, by descending bytes,
 * 0 = none.
 *     all = own + sum of all of the calls below */
struct call_node {
    uint32_t up, first, next;
    const struct frame *frame;     /* of frame, process and label one is set; of the root none */
    const struct process *process; /* of several */
    const char *label;
    struct amount own, all;
};

struct call_tree {
    struct call_node *nodes;
    size_t count, capacity;
    struct hashmap by_call; /* caller and name -> index, while it is built */
};

/* Makes a tree of calls. inverted: from the allocations to their callers; else from main on.
 * Functions with equal names and one caller are one node. Frames of the runtime around main are
 * left out, unless the view has all frames. */
struct call_tree call_tree_begin(struct heap_profile *profile, enum weight weight, bool inverted);
void call_tree_end(struct call_tree *tree);

void call_tree_check(const struct call_tree *tree);

/* The name of the function or process, or the label; in buffer, or part of the model. */
const char *call_node_name(const struct call_node *node, char buffer[FRAME_NAME_SIZE]);

#endif
