/* timeline.h - how the heap came to where it is: in the store, bounded, by whoever is awake.
 *
 * Three things, all in places of fixed number (leak_store.h):
 *   points   live bytes and blocks of the whole heap, up to eight a second
 *   rows     the counts of up to 126 sites, once a second: the columns, those sites that hold most
 * or grow most. Which ones is asked of all sites now and then peak     what lived when the heap was
 * largest, written when it begins to fall downsample.h says what is forgotten when all places are
 * taken.
 *
 * The thread whose look at the clock ticks the epoch does the work, so a program that does not
 * allocate pays nothing and misses nothing: its heap is what it was. It never waits, and what takes
 * time in proportion to sites or threads is done so rarely that it takes at most 1/COST_SHARE of
 * the time.
 */
#ifndef PRELOAD_HEAP_TIMELINE_H
#define PRELOAD_HEAP_TIMELINE_H

#include "preload/base/base.h"
#include "preload/heap/threads.h"

/* The epoch has just moved on from `before`. */
void history_tick(struct guard *guard, const struct thread *thread, uint32_t before);

/* A peak from here on would be news; and the call that writes it down. The block whose release
 * makes the heap fall is still counted. */
extern uint64_t history_peak_from HIDDEN;
void history_peak(struct guard *guard);

/* A block of that site, or `weight` such blocks, died at that age in ticks. */
void history_died(uint32_t site, unsigned weight, uint32_t age);

void history_fork_lock(void);
void history_fork_unlock(void);
/* The child's begins with its store. */
void history_fork_child(void);

#endif
