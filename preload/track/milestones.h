/* milestones.h - moments that blocks can be older or newer than: marks and leak checks.
 *
 * A milestone is a number, a tick and perhaps a name, in one chunk of the recording file. Its tick
 * begins with it: the epoch is increased by one, so what this thread allocates from now on differs
 * from what it allocated just before, even if the clock has not advanced.
 *
 *     a block is newer  <=>  block.tick >= milestone.tick
 */
#ifndef PRELOAD_TRACK_MILESTONES_H
#define PRELOAD_TRACK_MILESTONES_H

#include "preload/base/base.h"
#include "leak_store.h"

/* Begins a tick without a milestone in the file. */
uint32_t milestones_begin_tick(void);

/* Returns its number; 0: the file has no room. name: NULL for that of a leak check. Callable from
 * any thread, also in a signal handler outside of the runtime. */
uint32_t milestones_add(const char *name);
/* A milestone at which all older leaks are known. It has a place to itself, which others cannot
 * overwrite. */
uint32_t milestones_add_known(void);

/* Copies the milestones to out by ascending tick, and returns their number, LEAK_MILESTONES at
 * most. */
uint32_t milestones_sorted(struct leak_milestone *out);

/* A fork child starts without milestones. */
void milestones_fork_child(void);

#endif
