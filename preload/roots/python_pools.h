/* python_pools.h - finds small objects that Python has freed, and keeps leak checks from taking old
 * words in them for pointers.
 *
 * Python carves objects of up to 512 bytes from pools, in arenas that it maps itself (pymalloc). To
 * libleak an arena is anonymous memory of the program, so each word in it is a root: also the words
 * of freed objects, which a leak check would take for pointers. The header of a pool tells which of
 * its memory is free:
 *
 *     pool   |head| carved: objects, and a list of free ones | never carved |
 *
 * An address is taken for a pool only if its header is consistent: the size class must fit the
 * length of the pool, and the number of objects the length of the list. Other memory stays a root
 * as a whole; so does a pool whose list was being changed when its thread was stopped.
 *
 * The words are cleared, so that the passes of the leak check need no special case. That happens
 * only in the process copy in which the leak check runs. */
#ifndef PRELOAD_ROOTS_PYTHON_POOLS_H
#define PRELOAD_ROOTS_PYTHON_POOLS_H

#include "preload/roots/roots.h"

/* Clears the free memory of all pools in the anonymous roots, if the process has Python. Returns
 * the number of objects in pools. Called between roots_find and reach_mark. */
uint64_t python_pools_clear(const struct roots *roots);
/* Clears the free memory of the pool at this address, if a pool of that length begins there.
 * Returns the number of its objects; 0: there is no pool. */
uint64_t python_pool_clear(uintptr_t address, uint32_t length);

#endif
