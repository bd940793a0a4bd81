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

/* Sets the limit of arena_used(), in bytes; 0: no limit. */
void arena_set_limit(uint64_t bytes);
/* Maps zeroed memory of at least size bytes (a multiple of the page size). Returns NULL when the
 * limit is reached or the kernel refuses. */
void *arena_map(size_t size);
void arena_unmap(void *memory, size_t size);
/* Counts memory that the caller obtained elsewhere. Returns false, and counts nothing, when the
 * limit would be exceeded. */
bool arena_charge(uint64_t bytes);
void arena_discharge(uint64_t bytes);
uint64_t arena_used(void);
struct leak_own;
/* Reads the three sums of the equation at the top of this file. They are kept independently: a
 * difference between its two sides is a leak of the runtime itself. Exact while no other thread
 * maps. Returns false when there were too many ranges to record, so that the sums are
 * incomplete. */
bool arena_balance(struct leak_own *sums);

/* Records a range that was mapped by other means; unregister it before unmapping it. */
void arena_register(const void *memory, size_t size);
void arena_unregister(const void *memory);
/* Visits every range of the runtime's own memory; visit must not map memory. Returns false when
 * there were too many ranges to record. */
bool arena_each_range(void (*visit)(uintptr_t start, size_t size, void *context), void *context);
/* Finds the first range of the runtime's own memory that ends above an address; size 0: there is
 * none. */
struct arena_range {
    uintptr_t start;
    size_t size;
};
struct arena_range arena_next_range(uintptr_t above);
void arena_fork_child(void);

#endif
