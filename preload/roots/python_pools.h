/* python_pools.h - small objects that Python has freed, and that hold nothing any more.
 *
 * Python carves objects of up to 512 bytes from pools, in arenas that it maps itself (pymalloc). To
 * libleak an arena is anonymous memory of the program, so each word in it is a root: also the words
 * of freed objects, which would hold whatever they point to. What is free in a pool follows from its
 * header:
 *
 *     pool   |head| carved: objects, and free ones, which are a list | never carved |
 *
 * An address is taken for a pool only if all of the header agrees: the size class with the length of
 * the pool, and the number of objects with the length of the list. A pool in which a thread was
 * stopped while it changed the list, or whatever is no pool, stays a root as a whole.
 *
 * For the process of a leak check only. The words are cleared, so that no pass has to know.
 */
#ifndef PRELOAD_ROOTS_PYTHON_POOLS_H
#define PRELOAD_ROOTS_PYTHON_POOLS_H

#include "preload/roots/roots.h"

/* Clears what is free in the pools of the anonymous roots, in a process with Python. Returns the
 * number of objects in pools. Call between roots_find and reach_mark. */
uint64_t python_pools_clear(const struct roots *roots);
/* Clears what is free in the pool at this address, if there is one of that length. Returns the
 * number of its objects. */
uint64_t python_pool_clear(uintptr_t address, uint32_t length);

#endif
