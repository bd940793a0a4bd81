/* pools.h - the pools that a program tells of: any address that names one -> a small number, a
 * name.
 *
 * Open addressing by address, doubled when three quarters are used; whoever goes leaves a mark that
 * a later one takes. Numbers are used again, so what is kept by number (suballoc.h) stays small.
 * The members of a pool are suballoc.h's affair; here is who it is.
 *
 *     every pool is reachable from its home without passing an empty place
 */
#ifndef PRELOAD_HEAP_POOLS_H
#define PRELOAD_HEAP_POOLS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* The number of a pool, made when there is none; name NULL: as it was. 0: no memory. */
uint32_t pools_create(struct guard *guard, uintptr_t address, const char *name);
/* 0: the program has not told of it. */
uint32_t pools_find(struct guard *guard, uintptr_t address);
/* It is at another address now. False: there is none, or one is there. */
bool pools_move(struct guard *guard, uintptr_t from, uintptr_t to);
/* It has no members any more. */
void pools_remove(struct guard *guard, uintptr_t address);

/* Its name's number in the store, for an event; 0: it has none, or there is no room. */
uint32_t pools_tell(struct guard *guard, uint32_t number);
/* The name of that number, for a line of ours. */
const char *pools_told(uint32_t told);

bool pools_check(void);

void pools_fork_lock(void);
void pools_fork_unlock(void);
/* The pools are the child's; what was written of them is not. */
void pools_fork_child(void);

#endif
