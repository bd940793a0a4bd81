/* annotate.h - what the program says of its own allocators, with what follows from it: a block
 * comes or goes, in a pool or in none, and what does not fit is told as a wrong release.
 *
 * With sample= nothing is known of such blocks, and nothing said.
 */
#ifndef PRELOAD_TRACK_ANNOTATE_H
#define PRELOAD_TRACK_ANNOTATE_H

#include "preload/base/reentry_guard.h"

void annotate_new(struct guard *guard, const struct frame *caller, const void *block, size_t size);
void annotate_resize(struct guard *guard, const struct frame *caller, const void *block,
                     size_t size);
void annotate_gone(struct guard *guard, const struct frame *caller, const void *block);

void annotate_create(struct guard *guard, const void *pool, const char *name);
bool annotate_exists(struct guard *guard, const void *pool);
void annotate_move(struct guard *guard, const void *from, const void *to);
void annotate_alloc(struct guard *guard, const struct frame *caller, const void *pool,
                    const void *block, size_t size);
void annotate_free(struct guard *guard, const struct frame *caller, const void *pool,
                   const void *block);
/* It is at another address, or has another size. */
void annotate_change(struct guard *guard, const struct frame *caller, const void *pool,
                     const void *block, const void *now, size_t size);
/* What does not begin in [start, start + size) is free. */
void annotate_trim(struct guard *guard, const struct frame *caller, const void *pool,
                   const void *start, size_t size);
void annotate_destroy(struct guard *guard, const struct frame *caller, const void *pool);

#endif
