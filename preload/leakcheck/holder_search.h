/* holder_search.h - which word keeps one block reachable: the question of follow_blocks=, answered
 * in the copy of the process in which a leak check has marked the heap.
 */
#ifndef PRELOAD_LEAKCHECK_HOLDER_SEARCH_H
#define PRELOAD_LEAKCHECK_HOLDER_SEARCH_H

#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* Fills *out with the best word that points to the block at the address: one of a variable or of a
 * reachable block before one on a stack, one that points to its start before one that points into
 * it. No such word: address 0. False: no block begins at the address, or there is no memory. */
bool holder_search(struct guard *guard, const struct reach *reach, const struct roots *roots,
                   uintptr_t address, struct leak_holder *out);

#endif
