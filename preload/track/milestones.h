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

/* Begins a tick without recording a milestone; returns the tick. */
uint32_t milestones_begin_tick(void);

/* Records a milestone and returns its number; 0: the file has no room. name: the name of a mark;
 * NULL: the milestone is a leak check. Any thread may call it, also in a signal handler outside of
 * the runtime. */
uint32_t milestones_add(const char *name);
/* Records the milestone that marks all older leaks as known, and returns its number; 0: the file
 * has no room. It has a record of its own, which later milestones do not overwrite. */
uint32_t milestones_add_known(void);

/* Copies the recorded milestones to out in the order of their ticks; returns how many, at most
 * LEAK_MILESTONES. */
uint32_t milestones_sorted(struct leak_milestone *out);

void milestones_fork_child(void);

#endif
