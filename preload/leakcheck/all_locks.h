/* all_locks.h - all locks of the runtime at once: nobody is in the middle of anything.
 *
 * For a copy of the process, by fork or for a look: the copy has only the calling thread, and a
 * lock that another one held would never be given back there. The order is that of LAYERS, top
 * first.
 */
#ifndef PRELOAD_LEAKCHECK_ALL_LOCKS_H
#define PRELOAD_LEAKCHECK_ALL_LOCKS_H

/* Signals are blocked by the caller. */
void quiet_begin(void);
void quiet_end(void);

#endif
