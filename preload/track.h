/* track.h - from "a block came, a block went" to block table and counters.
 *
 * The heart of the hot path, in the order of DESIGN: token, real function, then track_alloc; and
 * for a free: track_take, then the real free, because another thread may get the address first.
 */
#ifndef PRELOAD_TRACK_H
#define PRELOAD_TRACK_H

#include "preload/blocks.h"
#include "preload/guard.h"
#include "preload/options.h"
#include "leak_store.h"

extern struct options track_options; /* constant after start */

/* A block that the caller of the hook now owns. */
void track_alloc(struct guard *guard, const struct frame *caller, void *block, size_t size,
                 enum leak_kind kind);
/* The block is about to go: out of the table and counted. */
void track_free(struct guard *guard, const struct frame *caller, void *block);

/* realloc: out of the table but not counted yet … */
bool track_take(struct guard *guard, void *block, struct block *out);
/* … and back exactly as it was, or counted as freed. */
void track_put_back(struct guard *guard, const struct block *block);
void track_gone(struct guard *guard, const struct frame *caller, const struct block *block);

/* The stack of who is at something else than a block: its innermost node, or a root; 0 when there is
 * no memory. serial gets the thread's. */
uint32_t track_stack(struct guard *guard, const struct frame *caller, uint32_t *serial);

/* The epoch starts with the store. */
void track_begin(void);
/* The coarse clock, now: ticks the epoch word. */
void track_tick(void);

#endif
