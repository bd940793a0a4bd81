/* suballoc.h - blocks of the program's own allocators: (address, pool) -> block; and their pools.
 *
 * blocks.h has the blocks of malloc. A suballocated block may begin at the same address as the
 * malloc'd block that contains it, and be freed together with it, so suballocated blocks have a
 * table of their own, ordered by address: a treap whose entries are numbers of an array. The
 * members of a pool are also a list. One lock for all. A program that announces no such blocks pays
 * for reading one word that is 0.
 *
 *     an entry is in the treap, or on the list of free entries
 *     address, then pool, ascend from left to right; priorities fall from top to bottom
 *     an entry of a pool is on that pool's list, the newest first, and on no other
 */
#ifndef PRELOAD_HEAP_SUBALLOC_H
#define PRELOAD_HEAP_SUBALLOC_H

#include "preload/blocks/blocks.h"

/* A block of a program's own allocator. pool 0: it is in no pool. */
struct suballoc_block {
    struct block block;
    uint32_t pool;
};

#define SUBALLOC_ANY_POOL UINT32_MAX /* matches all pools */

/* The number of blocks: callers test it first, since most programs have none. */
extern uint64_t suballoc_count HIDDEN;

/* Inserts a block like blocks_insert, with the block's address and pool as the key. */
enum blocks_insert suballoc_insert(struct guard *guard, const struct block *block, uint32_t pool,
                                   struct block *old);
/* Removes a block. With SUBALLOC_ANY_POOL, removes the smallest of several blocks at one address.
 * False: there is none. */
bool suballoc_remove(struct guard *guard, uintptr_t address, uint32_t pool,
                     struct suballoc_block *out);
/* Removes one block of any pool that begins in [start, end). */
bool suballoc_remove_in_range(struct guard *guard, uintptr_t start, uintptr_t end,
                              struct suballoc_block *out);
/* Removes one block of a pool; or one that begins outside of [start, end). False: none. */
bool suballoc_remove_member(struct guard *guard, uint32_t pool, struct suballoc_block *out);
bool suballoc_remove_outside(struct guard *guard, uint32_t pool, uintptr_t start, uintptr_t end,
                             struct suballoc_block *out);
/* Marks the smallest block that contains the address as no leak. */
bool suballoc_ignore(struct guard *guard, uintptr_t address);

/* The smallest block that contains an address. */
bool suballoc_find_containing(struct guard *guard, uintptr_t address, struct suballoc_block *out);

/* The first block at or after (address, pool). Takes no lock: nothing may change meanwhile. */
bool suballoc_first(uintptr_t address, uint32_t pool, struct suballoc_block *out);
/* Calls visit for every block, ascending. Takes no lock either. */
void suballoc_each(void (*visit)(const struct block *block, void *context), void *context);

/* The invariants above. */
bool suballoc_check(void);

void suballoc_fork_child(void);

/* ---- Pools (pools.c) -------------------------------------------------------------------------
 * A pool is named by any address; it has a small number and a name. Open addressing by address,
 * doubled when three quarters are used; a removed pool leaves a mark in its slot that a later one
 * may take. Numbers are used again, so that arrays by number stay small.
 *
 *     every pool is reachable from its home without passing an empty slot */

/* The number of a pool, created if necessary; name NULL: keeps its name. 0: no memory. */
uint32_t pools_create(struct guard *guard, uintptr_t address, const char *name);
/* The number of a pool; 0: there is none. */
uint32_t pools_find(struct guard *guard, uintptr_t address);
/* The pool has another address now. False: no such pool, or the new address has one already. */
bool pools_move(struct guard *guard, uintptr_t from, uintptr_t to);
/* Call when the pool has no members any more. */
void pools_remove(struct guard *guard, uintptr_t address);

/* Writes the name of a pool to the recording file, for an event, and returns its number there; 0:
 * no name, or no room. */
uint32_t pools_store_name(struct guard *guard, uint32_t number);
/* The name of that number, for a log line. */
const char *pools_stored_name(uint32_t told);

bool pools_check(void);

/* The child has the same pools; their names are to be written to its own recording file. */
void pools_fork_child(void);

#endif
