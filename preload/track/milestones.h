/* milestones.h - moments that blocks can be older or newer than: marks, and looks asked for.
 *
 * A milestone is a number, a tick and perhaps a name, in one chunk of the store. The tick begins
 * with it: the epoch is pushed on by one, so what this thread allocates from here on is told apart
 * from what it allocated a moment ago, though the clock has not moved.
 *
 *     a block is newer  <=>  block.tick >= milestone.tick
 */
#ifndef PRELOAD_TRACK_MILESTONES_H
#define PRELOAD_TRACK_MILESTONES_H

#include "preload/base/base.h"
#include "leak_store.h"

/* A moment that nobody will ask the store for: the tick alone. */
uint32_t milestones_begin_tick(void);

/* Its number; 0: the store has no room. name: NULL for a look's. Any thread, also in a handler
 * outside of the runtime. */
uint32_t milestones_add(const char *name);
/* One that all before it is known at. It has a place to itself: others cannot write it over. */
uint32_t milestones_add_known(void);

/* Those there are, by ascending tick: how many are written to out, LEAK_MILESTONES at most. */
uint32_t milestones_sorted(struct leak_milestone *out);

/* A fork child has none of its parent's. */
void milestones_fork_child(void);

#endif
