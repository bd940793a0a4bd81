/* timeline.h - the heap's size over time, in the recording file.
 *
 * There are three series, each with a fixed number of records (leak_store.h). When all records of a
 * series are used, some are dropped (collections.h):
 *
 *   points   live bytes and blocks of the whole heap, up to eight a second
 *   rows     the counts of up to 126 sites (the columns), once a second: those that hold
 *            most or grow most, chosen now and then from all sites
 *   peak     the live blocks by site when the heap was largest, written when it begins to fall
 *
 * libleak starts no thread for this: the thread whose clock reading advances the epoch does the
 * work. A program that does not allocate needs no records, since its heap does not change. The work
 * never waits for a lock, and work whose time grows with the number of sites or threads is done so
 * rarely that it takes at most 1/COST_SHARE of the time.
 */
#ifndef PRELOAD_HEAP_TIMELINE_H
#define PRELOAD_HEAP_TIMELINE_H

#include "preload/base/base.h"
#include "preload/heap/threads.h"

/* Records the heap's size after the epoch has advanced from the tick `before` to the current
 * tick. */
void timeline_tick(struct guard *guard, const struct thread *thread, uint32_t before);

/* Records how much each site holds, when the heap begins to fall after a peak of at least
 * threads_state.peak_threshold bytes. Call it while the block whose free makes the heap fall is
 * still counted. */
void timeline_write_peak(struct guard *guard);

/* Counts `weight` freed blocks of a site. age: how many ticks they lived. */
void timeline_add_death(uint32_t site, unsigned weight, uint32_t age);

/* Begins the timeline of a fork child, which has its own recording file. */
void timeline_fork_child(void);

#endif
