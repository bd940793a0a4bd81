/* farewell.h - what the program wants to do before the look at its end: drop its caches.
 *
 * Called once, later ones first, outside of the runtime: what they allocate and free is seen.
 */
#ifndef PRELOAD_FAREWELL_H
#define PRELOAD_FAREWELL_H

#include "preload/guard.h"

/* False: no memory, or too many. */
bool farewell_add(struct guard *guard, void (*callback)(void));
void farewell_call(void);

void farewell_fork_lock(void);
void farewell_fork_unlock(void);

#endif
