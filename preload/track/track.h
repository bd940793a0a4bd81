/* track.h - from "a block came, a block went" to block table and counters.
 *
 * The heart of the hot path, in the order of DESIGN: token, real function, then track_alloc; and
 * for a free: track_take, then the real free, because another thread may get the address first.
 */
#ifndef PRELOAD_TRACK_TRACK_H
#define PRELOAD_TRACK_TRACK_H

#include "preload/heap/blocks.h"
#include "preload/base/reentry_guard.h"
#include "preload/options/options.h"
#include "preload/heap/free_form.h"
#include "leak_store.h"

/* A block that the caller of the hook now owns. */
void track_alloc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                 enum leak_kind kind);
/* The block is about to go, in that way (free_form.h): out of the table and counted. Where the way
 * is wrong, that is recorded. What libc is to free now: the block, or NULL. */
void *track_free(struct guard *guard, const struct frame *caller, void *block, uint32_t how);
/* By a form that says a size or an alignment. */
void *track_free_said(struct guard *guard, const struct release_frame *frame, void *block,
                      uint32_t how);

/* Out of the table but not counted yet, for realloc (which a block of new is wrong for) or for a
 * change … */
bool track_move(struct guard *guard, const struct frame *caller, void *block, struct block *out);
bool track_take(struct guard *guard, void *block, struct block *out);
/* … and back exactly as it was, or counted as freed. */
void track_put_back(struct guard *guard, const struct block *block);
void track_gone(struct guard *guard, const struct frame *caller, const struct block *block);

/* A block of the program's own allocators came (kind: CUSTOM, or POOL and which), or went in that
 * way; it is out of suballoc.h's table then. Samples know none. */
void track_carved(struct guard *guard, const struct frame *caller, void *block, size_t size,
                  enum leak_kind kind, uint32_t pool);
void track_carved_gone(struct guard *guard, const struct frame *caller, const struct block *block,
                       uint32_t how);
/* The memory [start, start + size) is about to be somebody else's, or is by now: so go those that
 * begin there. Nothing where carved_count is 0. */
COLD void track_content_gone(struct guard *guard, const struct frame *caller, uintptr_t start,
                             size_t size, uint32_t how);

/* The stack of who is at something else than a block: its innermost node, or a root; 0 when there
 * is no memory. serial gets the thread's. */
uint32_t track_stack(struct guard *guard, const struct frame *caller, uint32_t *serial);

/* The epoch starts with the store. */
void track_begin(void);
/* What there is beside the usual way is known. */
void track_ready(void);
/* The coarse clock, now: ticks the epoch word. */
void track_tick(void);

#endif
