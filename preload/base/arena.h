/* arena.h - the runtime's private memory: whole pages from the kernel, counted against max_memory.
 *
 * Nothing here ever reaches malloc. Users are the block table, the indices and the per-thread
 * state; the store accounts for itself through arena_charge. The equation:
 *     arena_used() = sum of live arena_map sizes + sum of charges
 *
 * The kernel merges neighbouring mappings, ours with the program's, so what is ours is written
 * down: a look must not take pointers of ours for the program's.
 */
#ifndef PRELOAD_BASE_ARENA_H
#define PRELOAD_BASE_ARENA_H

#include "preload/base/base.h"

/* 0 = no limit. */
void arena_limit(uint64_t bytes);
/* Zeroed memory of at least size bytes (a multiple of the page size), or NULL: limit or kernel. */
void *arena_map(size_t size);
void arena_unmap(void *memory, size_t size);
/* Counts memory that lives elsewhere; false (and nothing counted) above the limit. */
bool arena_charge(uint64_t bytes);
void arena_discharge(uint64_t bytes);
uint64_t arena_used(void);
struct leak_own;
/* The equation above, as three sums that are kept apart: what has one number of the two sides only
 * is a leak of ours. Exact while no other thread maps. False: too much to write down, nobody knows.
 */
bool arena_balance(struct leak_own *account);

/* Memory that was mapped by other means; before it goes, it is disowned. */
void arena_own(const void *memory, size_t size);
void arena_disown(const void *memory);
/* Every range of ours; nothing may be mapped meanwhile. False: there were too many to write down.
 */
bool arena_each(void (*visit)(uintptr_t start, size_t size, void *context), void *context);
void arena_fork_lock(void);
void arena_fork_unlock(void);
/* The lock is free again in a child. */
void arena_fork_child(void);

#endif
