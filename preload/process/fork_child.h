/* fork_child.h - how a fork child comes to an account of its own.
 *
 * Everything shared with the parent is left behind: a store of its own, with the same ids, counting
 * what the block table (the child's by copy-on-write) says it inherited. When that is done is for
 * process.c to say.
 */
#ifndef PRELOAD_PROCESS_FORK_CHILD_H
#define PRELOAD_PROCESS_FORK_CHILD_H

#include "preload/base/reentry_guard.h"

/* False: no memory. */
bool forked_begin(struct guard *guard);
/* The same where only crashes count: when there is one. */
bool forked_begin_bare(void);

#endif
