/* track.h - records allocations and frees: block table, call stacks, counters.
 *
 * A hook enters the reentrancy guard, calls the real function and then track_alloc. For a free it
 * calls track_free before the real function, because another thread may get the address as soon as
 * that has returned. */
#ifndef PRELOAD_TRACK_TRACK_H
#define PRELOAD_TRACK_TRACK_H

#include "preload/blocks/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/options/options.h"
#include "preload/heap/free_form.h"
#include "leak_store.h"

/* Records a block that the program has allocated. */
void track_alloc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                 enum leak_kind kind);
/* Records the free of a block before it happens: removes the block from the table and counts it. A
 * form (how, free_form.h) that does not fit the block is recorded as an error. Returns the pointer
 * that libc must free: the block; NULL: none. */
void *track_free(struct guard *guard, const struct frame *caller, void *block, uint32_t how);
/* Does the work of track_free for a form that states a size or an alignment. */
void *track_free_sized(struct guard *guard, const struct free_form_frame *frame, void *block,
                       uint32_t how);

/* Remove a block from the table without counting a free. track_remove_for_realloc also checks the
 * call: realloc of a block of operator new is an error. False: no block begins there. Afterwards
 * track_reinsert or track_free_removed must be called. */
bool track_remove_for_realloc(struct guard *guard, const struct frame *caller, void *block,
                              struct block *out);
bool track_remove(struct guard *guard, void *block, struct block *out);
/* After track_remove: puts the block back as it was, or counts it as freed. */
void track_reinsert(struct guard *guard, const struct block *block);
void track_free_removed(struct guard *guard, const struct frame *caller, const struct block *block);

/* Record an allocation or a free by the program's own allocators. kind: CUSTOM, or POOL with the
 * number of the pool. The freed block must have been removed from the table of suballoc.h. Not
 * called when sampling. */
void track_suballoc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                    enum leak_kind kind, uint32_t pool);
void track_suballoc_free(struct guard *guard, const struct frame *caller, const struct block *block,
                         uint32_t how);
/* Records as freed all blocks of the program's own allocators that begin in [start, start + size),
 * because this memory is reused. Does nothing while suballoc_count is 0. */
COLD void track_free_contained(struct guard *guard, const struct frame *caller, uintptr_t start,
                               size_t size, uint32_t how);

/* Captures the call stack of an event that is no allocation. Returns the node of its innermost
 * frame, or an enum leak_root; 0: no memory. *serial gets the number of the thread. */
uint32_t track_capture_stack(struct guard *guard, const struct frame *caller, uint32_t *serial);

/* Starts the epoch; called when the recording begins. */
void track_start(void);
/* Sets track_state (track_hot.h) after sampling, quarantine and event log have started. */
void track_select_path(void);
/* Advances the epoch to the present tick of the coarse clock. */
void track_tick(void);
/* Counts all blocks as freed when recording stops in all threads, because their frees may not be
 * seen. */
void track_forget_blocks(struct guard *guard);

#endif
