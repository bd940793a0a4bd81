/* block_trail.h - records the way of a followed block through the functions of the program: how the
 * functions that allocated it ended, and to which functions it was passed. A function that ends
 * early, or that should have released the block and did not, leaves no other trace.
 *
 * follow_blocks=T1#4213@way asks for it. The thread executes its code step by step from the
 * allocation on (slot_watch.h). A copy of its call stack is kept up to date: a call adds a level,
 * and a stack pointer above a level shows that the level has ended. Each level has the last
 * different jumps that its own code has executed.
 *
 * A block is passed to a function if an argument points to it, or to the variable on the stack that
 * contains the pointer. The counts of references are watched in the first LEAK_WAY_COUNTERS words
 * of the block, more than watchpoints can cover (block_counts.h).
 */
#ifndef PRELOAD_FOLLOW_BLOCK_TRAIL_H
#define PRELOAD_FOLLOW_BLOCK_TRAIL_H

#include "preload/follow/pointer_search.h"

/* Creates the record in the recording file. */
void block_trail_start(void);

/* Begins the trail of a block with the call stack of its allocation. caller: frame of the function
 * that allocates the block. */
void block_trail_begin(const struct frame *caller, struct pointer_target target);

/* One single step. */
struct trail_step {
    uintptr_t pc, sp;     /* registers before the step; pc 0: unknown */
    uintptr_t returns_to; /* return address, if the instruction was a call; else 0 */
    bool
        ran; /* not one instruction, but the rest of the function at pc was executed (step_over.h) */
    uintptr_t slot; /* address of the word on the stack that has the pointer; 0: there is none */
};

/* Records what a single step has done. context: the registers after it. */
void block_trail_step(const ucontext_t *context, const struct trail_step *step);

/* When the block is lost, or the program ends: records the jumps so far of the functions that have
 * not ended. */
void block_trail_lost(void);
/* Records that single-stepping ended before the block was lost. */
void block_trail_cut(void);

#endif
