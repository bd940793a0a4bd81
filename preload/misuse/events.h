/* events.h - the table of what was released wrongly, in the store.
 *
 * Small and fixed: what a program does wrong it does in few places, maybe a hundred thousand times.
 * Equal calls are one record, counted; when the table is full the rest is counted together. The
 * table is made when the first one comes, so a program without any pays nothing for it.
 */
#ifndef PRELOAD_MISUSE_EVENTS_H
#define PRELOAD_MISUSE_EVENTS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

/* In the store when this returns. True: the first of its kind, and there was room for it. */
bool events_add(struct guard *guard, const struct leak_event *event);

/* Every record differs from those before it, and was counted. */
bool events_check(void);

void events_fork_lock(void);
void events_fork_unlock(void);
/* The child has met none. */
void events_fork_child(void);

#endif
