/* arena.h - the runtime's private memory: whole pages from the kernel, counted against max_memory.
 *
 * Nothing here reaches malloc. The users are the block table, the indices and the per-thread state;
 * the recording file counts its own pages with arena_charge. The equation:
 *
 *     arena_used() = sum of live arena_map sizes + sum of charges
 *
 * The kernel merges neighbouring mappings, so the runtime's own memory can become part of one
 * mapping with the program's. The arena therefore records every range of its own: a leak check must
 * not take the runtime's pointers for the program's.
 */
#ifndef PRELOAD_MEMORY_ARENA_H
#define PRELOAD_MEMORY_ARENA_H

#include "preload/base/base.h"

/* 0 = no limit. */
void arena_set_limit(uint64_t bytes);
/* Zeroed memory of at least size bytes (a multiple of the page size). NULL: the limit is reached or
 * the kernel refuses. */
void *arena_map(size_t size);
void arena_unmap(void *memory, size_t size);
/* Counts memory that was obtained elsewhere. False, and nothing is counted, above the limit. */
bool arena_charge(uint64_t bytes);
void arena_discharge(uint64_t bytes);
uint64_t arena_used(void);
struct leak_own;
/* The three sums of the equation above, which are kept independently: a difference between the two
 * sides is a leak of the runtime's own. Exact while no other thread maps. False: there were too
 * many ranges to record, so the sums are incomplete. */
bool arena_balance(struct leak_own *sums);

/* Records a range that was mapped by other means; unregister it before unmapping it. */
void arena_register(const void *memory, size_t size);
void arena_unregister(const void *memory);
/* Visits every range of the runtime's own memory; nothing may be mapped meanwhile. False: there
 * were too many ranges to record. */
bool arena_each_range(void (*visit)(uintptr_t start, size_t size, void *context), void *context);
/* The first of these ranges that ends above an address; its size is 0 when there is none. */
struct arena_range {
    uintptr_t start;
    size_t size;
};
struct arena_range arena_next_range(uintptr_t above);
/* Releases the lock in a fork child. */
void arena_fork_child(void);

#endif
