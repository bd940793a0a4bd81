/* alloc_watch.h - what is to happen at certain allocations of a thread: a second opinion about the
 * stack (unwind_check.h), a break (break_at.h), a line of the event log (eventlog.h).
 *
 * A thread's allocations have numbers, and one word of it says at which of them somebody wants to
 * be called next. A hook compares one word with the number (track_hot.h), for this and for the
 * clock: whoever waits for the millionth allocation costs the ones before nothing.
 *
 *     watch_at = 0                nobody waits
 *     watch_at = 1, at its start  who waits, and for what, is asked for at the first one
 */
#ifndef PRELOAD_MISUSE_ALLOC_WATCH_H
#define PRELOAD_MISUSE_ALLOC_WATCH_H

#include "preload/heap/blocks.h"
#include "preload/heap/threads.h"

/* Once the options are read: does anybody wait at all? */
void watch_start(struct guard *guard);

/* At allocation watch_at. The block is not in the table yet; its site may be 0. */
COLD void watch_allocation(struct guard *guard, struct thread *thread, const struct frame *caller,
                           const struct block *block);

#endif
