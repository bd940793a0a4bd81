/* exit_callbacks.h - what the program wants to do before the look at its end: drop its caches.
 *
 * Called once, later ones first, outside of the runtime: what they allocate and free is seen.
 */
#ifndef PRELOAD_LEAKCHECK_EXIT_CALLBACKS_H
#define PRELOAD_LEAKCHECK_EXIT_CALLBACKS_H

#include "preload/base/reentry_guard.h"

/* False: no memory, or too many. */
bool farewell_add(struct guard *guard, void (*callback)(void));
void farewell_call(void);

void farewell_fork_lock(void);
void farewell_fork_unlock(void);

#endif
