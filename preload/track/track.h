/* track.h - records allocations and frees: block table, call stacks, counters.
 *
 * The heart of the hot path. A hook enters the reentrancy guard, calls the real function and then
 * track_alloc. For a free it calls track_free before the real function, because another thread may
 * get the address as soon as that has returned.
 */
#ifndef PRELOAD_TRACK_TRACK_H
#define PRELOAD_TRACK_TRACK_H

#include "preload/blocks/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/options/options.h"
#include "preload/heap/free_form.h"
#include "leak_store.h"

/* Records a block that the caller of the hook now owns. */
void track_alloc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                 enum leak_kind kind);
/* The block is about to be freed in the given form (free_form.h): removes it from the table and
 * counts it. A wrong form is recorded as an error. Returns what libc is to free: the block, or
 * NULL. */
void *track_free(struct guard *guard, const struct frame *caller, void *block, uint32_t how);
/* The same for a form that states a size or an alignment. */
void *track_free_sized(struct guard *guard, const struct free_form_frame *frame, void *block,
                       uint32_t how);

/* Removes the block from the table without counting it, for realloc (which is wrong for a block of
 * operator new) or for a change … False: no block begins there. */
bool track_remove_for_realloc(struct guard *guard, const struct frame *caller, void *block,
                              struct block *out);
bool track_remove(struct guard *guard, void *block, struct block *out);
/* … and then one of these puts it back exactly as it was, or counts it as freed. */
void track_reinsert(struct guard *guard, const struct block *block);
void track_free_removed(struct guard *guard, const struct frame *caller, const struct block *block);

/* A block of the program's own allocators was allocated (kind: CUSTOM, or POOL with its number), or
 * was freed in the given form and is no longer in suballoc.h's table. Not for samples. */
void track_suballoc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                    enum leak_kind kind, uint32_t pool);
void track_suballoc_free(struct guard *guard, const struct frame *caller, const struct block *block,
                         uint32_t how);
/* The memory [start, start + size) is about to be reused, or already is: blocks of the program's
 * own allocators that begin there are freed. Does nothing while suballoc_count is 0. */
COLD void track_free_contained(struct guard *guard, const struct frame *caller, uintptr_t start,
                               size_t size, uint32_t how);

/* Captures the call stack for an event that is not a block's. Returns its innermost node, or a
 * root; 0 when there is no memory. serial gets the thread's. */
uint32_t track_capture_stack(struct guard *guard, const struct frame *caller, uint32_t *serial);

/* Starts the epoch, with the recording. */
void track_start(void);
/* Sets track_state (track_hot.h), once sampling, quarantine and event log have started. */
void track_select_path(void);
/* Advances the epoch word by the coarse clock. */
void track_tick(void);

#endif
