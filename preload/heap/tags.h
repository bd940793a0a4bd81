/* tags.h - names that the program gives to what its threads allocate for a while.
 *
 * Each thread has a stack of tags: what it allocates has the one on top, which stands in the guard
 * and so goes into the sort of its sites (context_tree.h). Names are numbers in one small table of
 * the store; it only grows, so a number means the same for ever, in a fork child too. Whoever has
 * no tags pays nothing: hooks ask for them once the first name was given (capture.h).
 *
 * Each push has its pop, also one that was refused: then the tag below stays in force.
 */
#ifndef PRELOAD_HEAP_TAGS_H
#define PRELOAD_HEAP_TAGS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#define TAGS_DEPTH 32 /* of the stack of a thread */

/* False: it is too deep, or the name is empty or finds no room. */
bool tags_push(struct guard *guard, const char *name);
/* False: there is nothing to pop. */
bool tags_pop(struct guard *guard);
/* The number of a name, 0 = nobody has pushed it. */
unsigned tags_find(const char *name);

/* Every name is found under its number, and no two are the same. */
bool tags_check(void);

void tags_fork_lock(void);
void tags_fork_unlock(void);
/* The child's names are the parent's, under the same numbers; false without memory. */
bool tags_fork_child(void);

#endif
