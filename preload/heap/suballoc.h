/* suballoc.h - the table of blocks that the program's own allocators carve: (address, pool) ->
 * block.
 *
 * blocks.h holds what malloc gives. A block of the program's own may begin where the malloc'd one
 * begins that it is carved from, and go together with it, so these are a table for themselves, in
 * order of their addresses: a treap of entries by number. The members of a pool are a list as well.
 * One lock for all. A program that tells of none pays for one word that is 0.
 *
 *     an entry is in the tree, or on the list of free ones
 *     address, then pool, ascend from left to right; priorities fall from top to bottom
 *     an entry of a pool is on that pool's list, the newest first, and on no other
 */
#ifndef PRELOAD_HEAP_SUBALLOC_H
#define PRELOAD_HEAP_SUBALLOC_H

#include "preload/heap/blocks.h"

/* pool 0: of none. */
struct carved {
    struct block block;
    uint32_t pool;
};

#define CARVED_ANY UINT32_MAX /* in the place of a pool: whichever */

/* How many there are: what costs time where there are none asks first. */
extern uint64_t carved_count HIDDEN;

/* As blocks_insert; the key is the block's address and the pool. */
enum blocks_insert carved_insert(struct guard *guard, const struct block *block, uint32_t pool,
                                 struct block *old);
/* Of several at one address, and with CARVED_ANY, the smallest. False: there is none. */
bool carved_remove(struct guard *guard, uintptr_t address, uint32_t pool, struct carved *out);
/* One that begins in [start, end), of that pool: of CARVED_ANY. */
bool carved_remove_in(struct guard *guard, uintptr_t start, uintptr_t end, struct carved *out);
/* One of a pool's; or one that begins outside of [start, end). False: there is no such. */
bool carved_remove_member(struct guard *guard, uint32_t pool, struct carved *out);
bool carved_remove_outside(struct guard *guard, uint32_t pool, uintptr_t start, uintptr_t end,
                           struct carved *out);
/* The program says that it is no leak. */
bool carved_ignore(struct guard *guard, uintptr_t address);

/* The smallest block that an address is in, at its start or inside. */
bool carved_find_around(struct guard *guard, uintptr_t address, struct carved *out);

/* The first one at or behind an address and pool, without the lock: nothing may change meanwhile.
 */
bool carved_first(uintptr_t address, uint32_t pool, struct carved *out);
/* Calls visit for every block, ascending; likewise. */
void carved_each(void (*visit)(const struct block *block, void *context), void *context);

/* The equations above. */
bool carved_check(void);

void carved_fork_lock(void);
void carved_fork_unlock(void);
void carved_fork_child(void);

#endif
