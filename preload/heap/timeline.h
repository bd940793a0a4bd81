/* timeline.h - the heap's size over time, in the recording file.
 *
 * Three series, each in a fixed number of records (leak_store.h); collections.h says which are
 * dropped when all records are used:
 *
 *   points   live bytes and blocks of the whole heap, up to eight a second
 *   rows     the counts of up to 126 sites (the columns), once a second: those that hold most or
 *            grow most, chosen now and then from all sites
 *   peak     the live blocks by site when the heap was largest, written when it begins to fall
 *
 * There is no thread of its own: the thread whose clock reading advances the epoch does the work. A
 * program that does not allocate pays nothing and misses nothing, since its heap does not change.
 * The work never waits for a lock, and what takes time in proportion to sites or threads is done so
 * rarely that it takes at most 1/COST_SHARE of the time.
 */
#ifndef PRELOAD_HEAP_TIMELINE_H
#define PRELOAD_HEAP_TIMELINE_H

#include "preload/base/base.h"
#include "preload/heap/threads.h"

/* The epoch has just moved on from `before`. */
void timeline_tick(struct guard *guard, const struct thread *thread, uint32_t before);

/* A peak of threads_state.peak_threshold bytes is to be written; the block whose free makes the heap
 * fall is still counted. */
void timeline_write_peak(struct guard *guard);

/* Counts `weight` freed blocks of that site, of that age in ticks. */
void timeline_add_death(uint32_t site, unsigned weight, uint32_t age);

/* The child's timeline begins with its recording file. */
void timeline_fork_child(void);

#endif
