/* suballoc.h - blocks that the program's own allocators carve from larger ones (suballocated
 * blocks), and their pools.
 *
 * blocks.h has the blocks of malloc. A suballocated block may begin at the same address as the
 * malloc'd block that contains it, and be freed together with it, so suballocated blocks have a
 * table of their own: a treap with the key (address, pool), whose links are indices of an array.
 * The blocks of a pool are also in a list. One lock guards the table. In a program without
 * suballocated blocks each free only reads suballoc_count, which is 0.
 *
 *     an entry is in the treap, or on the list of free entries
 *     address, then pool, ascend from left to right; priorities fall from top to bottom
 *     an entry with a pool is on the list of that pool, the newest entry first, and on no other
 * list
 */
#ifndef PRELOAD_HEAP_SUBALLOC_H
#define PRELOAD_HEAP_SUBALLOC_H

#include "preload/blocks/blocks.h"

/* A suballocated block. pool: number of its pool, 0: none. */
struct suballoc_block {
    struct block block;
    uint32_t pool;
};

#define SUBALLOC_ANY_POOL UINT32_MAX /* means: in any pool, or in none */

/* The number of suballocated blocks. Callers test it first, because most programs have none. */
extern uint64_t suballoc_count HIDDEN;

/* Inserts a suballocated block. A block with the same address and pool is replaced, and copied to
 * *old (blocks_insert). */
enum blocks_insert suballoc_insert(struct guard *guard, const struct block *block, uint32_t pool,
                                   struct block *old);
/* Removes the block with that address and pool. SUBALLOC_ANY_POOL: removes the smallest of the
 * blocks at the address, of whatever pool. False: there is none. */
bool suballoc_remove(struct guard *guard, uintptr_t address, uint32_t pool,
                     struct suballoc_block *out);
/* Removes one block, of any pool, that begins in [start, end). False: there is none. */
bool suballoc_remove_in_range(struct guard *guard, uintptr_t start, uintptr_t end,
                              struct suballoc_block *out);
/* Remove one block of a pool: suballoc_remove_member any one, suballoc_remove_outside one that
 * begins outside of [start, end). False: there is none. */
bool suballoc_remove_member(struct guard *guard, uint32_t pool, struct suballoc_block *out);
bool suballoc_remove_outside(struct guard *guard, uint32_t pool, uintptr_t start, uintptr_t end,
                             struct suballoc_block *out);
/* Marks the smallest suballocated block that contains the address as no leak. False: there is
 * none. */
bool suballoc_ignore(struct guard *guard, uintptr_t address);

/* Finds the smallest suballocated block that contains an address. False: there is none. */
bool suballoc_find_containing(struct guard *guard, uintptr_t address, struct suballoc_block *out);

/* Finds the first suballocated block at or after the key (address, pool). False: there is none. It
 * takes no lock, so the table must not change meanwhile. */
bool suballoc_first(uintptr_t address, uint32_t pool, struct suballoc_block *out);
/* Visits every suballocated block in ascending order of (address, pool). It takes no lock, so the
 * table must not change meanwhile. */
void suballoc_each(void (*visit)(const struct block *block, void *context), void *context);

/* Checks the invariants that the comment at the head of suballoc.h lists. */
bool suballoc_check(void);

void suballoc_fork_child(void);

/* ---- Pools (pools.c) -------------------------------------------------------------------------
 *
 * A program identifies a pool by an address of its choice; here a pool has also a small number and
 * a name. A hash table finds it by address (open addressing, doubled when three quarters are used);
 * a removed pool leaves a mark in its slot, so that searches go on behind it, and a later pool may
 * take this slot. Numbers of removed pools are used again, so that arrays by number stay small.
 *
 *     between the slot of a pool's hash and the slot of the pool, no slot is empty
 */

/* Returns the number of a pool, which is created if it does not exist. name: its new name; NULL: it
 * keeps its name. 0: no memory. */
uint32_t pools_create(struct guard *guard, uintptr_t address, const char *name);
/* Returns the number of the pool that this address identifies; 0: there is none. */
uint32_t pools_find(struct guard *guard, uintptr_t address);
/* Changes the address that identifies a pool. False: there is no such pool, or the new address
 * already identifies one. */
bool pools_move(struct guard *guard, uintptr_t from, uintptr_t to);
/* Removes a pool. Call it when the pool has no blocks any more. */
void pools_remove(struct guard *guard, uintptr_t address);

/* Writes the name of a pool to the recording file, for an event of the event log, and returns its
 * number there; 0: the pool has no name, or there is no room. */
uint32_t pools_store_name(struct guard *guard, uint32_t number);
/* Returns the pool name that has that number in the recording file (pools_store_name), for a line
 * of the log. */
const char *pools_stored_name(uint32_t told);

bool pools_check(void);

/* Prepares a fork child, which has the same pools: their names have to be written to its own
 * recording file again. */
void pools_fork_child(void);

#endif
