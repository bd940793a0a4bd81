/* holder_search.h - finds the word that keeps a block reachable, for follow_blocks=; runs in the
 * process copy in which a leak check has marked the heap. */
#ifndef PRELOAD_LEAKCHECK_HOLDER_SEARCH_H
#define PRELOAD_LEAKCHECK_HOLDER_SEARCH_H

#include "preload/base/reentry_guard.h"
#include "preload/mark/reachability.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* Finds the word through which the program most likely uses the block at the address. A word of a
 * variable or of a reachable block is better than one on a stack, a pointer to the start of the
 * block better than an interior pointer. If there is no such word, out->word.address is 0. False:
 * no block begins at the address, or there is no memory. */
bool holder_search(struct guard *guard, const struct reach *reach, const struct roots *roots,
                   uintptr_t address, struct leak_holder *out);

#endif
