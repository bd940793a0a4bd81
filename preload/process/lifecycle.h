/* lifecycle.h - the parts from which process.c builds the life of the process: the recording of a
 * fork child, the end, and work that a signal requests.
 */
#ifndef PRELOAD_PROCESS_LIFECYCLE_H
#define PRELOAD_PROCESS_LIFECYCLE_H

#include "preload/base/reentry_guard.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* ---- fork_child.c: a fork child gets a recording of its own -------------------------------------
 *
 * Everything shared with the parent is left behind. The child's recording has the same ids, and
 * counts as inherited what the block table contains (the child's by copy-on-write). process.c
 * decides when this is done. False: no memory.
 */
bool fork_child_start_recording(struct guard *guard);
/* The same with crash=only, when there is a crash to record. */
bool fork_child_start_crash_only(void);

/* ---- process_exit.c: the last moment of a process -----------------------------------------------
 *
 * Records how the process ended, and reports if asked. The handler is registered first, so it runs
 * last: after every atexit handler and destructor of the program.
 */
void process_exit_register(void);
/* quick_exit does not pass its handlers the status. */
void process_exit_set_status(int status);
/* Writes the report, or says where the recording file is. */
void process_exit_report(void);
/* Only for the process that owns the recording file. */
void process_exit_record(enum leak_end how, int value, const struct roots_caller *taker,
                         enum leak_occasion occasion);

/* ---- deferred_work.c: work that needs a moment outside of the runtime ---------------------------
 *
 * The signal that libleak reserves requests it: from outside (a leak check, a request of leakctl),
 * from timers, and from hooks in which it cannot be done. Any thread may receive the signal,
 * anywhere; a thread that is inside the runtime sets a timer to try again.
 */

/* Once the options are read, before the first leak check. */
void deferred_work_start(void);
/* fatal_signal_retry will be called in a moment, until it returns true. */
void deferred_work_request_death(void);
void deferred_work_fork_child(void);

#endif
