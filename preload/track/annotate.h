/* annotate.h - records what the program reports about its own allocators through the public API
 * (libleak_*): it has allocated or freed a block, in a pool or in none. A call that does not fit
 * the known blocks is handled as a wrong release (bad_free.h).
 *
 * With sample= these blocks are not tracked, and all calls return at once. */
#ifndef PRELOAD_TRACK_ANNOTATE_H
#define PRELOAD_TRACK_ANNOTATE_H

#include "preload/base/reentry_guard.h"

void annotate_block_new(struct guard *guard, const struct frame *caller, const void *block,
                        size_t size);
/* Records that a block has another size now: as realloc, that counts as one free and one
 * allocation. */
void annotate_block_resize(struct guard *guard, const struct frame *caller, const void *block,
                           size_t size);
void annotate_block_free(struct guard *guard, const struct frame *caller, const void *block);

void annotate_pool_create(struct guard *guard, const void *pool, const char *name);
bool annotate_pool_exists(struct guard *guard, const void *pool);
void annotate_pool_move(struct guard *guard, const void *from, const void *to);
void annotate_pool_alloc(struct guard *guard, const struct frame *caller, const void *pool,
                         const void *block, size_t size);
void annotate_pool_free(struct guard *guard, const struct frame *caller, const void *pool,
                        const void *block);
/* Records that a block of the pool has moved to another address, or has another size. */
void annotate_pool_resize(struct guard *guard, const struct frame *caller, const void *pool,
                          const void *block, const void *now, size_t size);
/* Records that every block of the pool that does not begin in [start, start + size) is free. */
void annotate_pool_trim(struct guard *guard, const struct frame *caller, const void *pool,
                        const void *start, size_t size);
void annotate_pool_destroy(struct guard *guard, const struct frame *caller, const void *pool);

#endif
