/* snapshot.h - when leak checks run, and what becomes of their results.
 *
 * The other threads are stopped, the process is copied, the threads continue; the copy runs the
 * check (leak_check.h) while the program works on. If threads cannot be stopped, two copies of the
 * running program are compared. If there can be no copy, the recording file says why there was no
 * check.
 *
 * The end of a process: EARLY when main has returned or exit was called, with globals intact; LATE
 * after the last exit handler. What was lost EARLY stays lost; what was reachable then and is not
 * LATE was dropped by exit code. If no block is new or gone in between, and every word that led to
 * one still does, EARLY stands.
 */
#ifndef PRELOAD_LEAKCHECK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"
#include "preload/base/reentry_guard.h"

/* Call at the start of the process. */
void snapshot_start(void);
/* Call when the option roots has changed. */
void snapshot_set_roots(void);
/* Call in a fork child: it forgets the checks that its parent had under way. */
void snapshot_fork_child(void);

/* The calling thread as the one that requests a check. The words that the caller's registers held
 * at the call lie between the sp of the function that uses this macro and the caller's frame. */
#define SNAPSHOT_CALLER(caller)                                                                    \
    ({                                                                                             \
        __builtin_unwind_init();                                                                   \
        (struct roots_caller){.tid = sys_gettid(),                                                 \
                              .sp = arch_stack_pointer(),                                          \
                              .frame = (caller)->sp,                                               \
                              .pc = (caller)->pc,                                                  \
                              .fp = (caller)->fp};                                                 \
    })

struct snapshot_wish {
    uint32_t since;         /* lost blocks are counted from this tick on, 0: all are */
    const char *graph_file; /* a pattern of graph_path.h; NULL: no graph is wanted */
};

/* Runs a check and waits for it. Returns how many blocks are lost, -1: unknown, or the graph file
 * could not be written. The process is tracked and running; the calling thread is outside the
 * runtime. */
long snapshot_take(enum leak_occasion occasion, const struct roots_caller *caller,
                   const struct snapshot_wish *wish);

/* Runs a check that records nothing and waits for it: which word holds the address of a block? A
 * word of a variable or of a reachable block is preferred to one on a stack; registers of the
 * calling thread do not count. hidden: ~address, so that no copy of the address is found. The
 * calling thread is outside the runtime. UNKNOWN: there is no such block, or no check was possible.
 */
enum snapshot_held { SNAPSHOT_HELD_UNKNOWN, SNAPSHOT_HELD_NOT, SNAPSHOT_HELD_BY_WORD };
enum snapshot_held snapshot_find_holder(const struct roots_caller *caller, uint64_t hidden,
                                        struct leak_holder *out);

/* Removes the process of an asynchronous check that has ended, as the next check would. */
void snapshot_reap(void);

/* The sums by verdict of the last snapshot_take; NULL: there was none. */
const struct leak_check_sum *snapshot_last_sums(void);

/* Starts a check without waiting; for a signal handler, outside the runtime. BUSY: another check is
 * running. NONE: skipped, or the recording file says why there is none. about: an address whose
 * block and referrers are wanted, 0: none. graph_file: where the graph is written, absolute; NULL:
 * nowhere. *milestone: the number of this check. */
enum snapshot_outcome { SNAPSHOT_STARTED, SNAPSHOT_BUSY, SNAPSHOT_NONE };
enum snapshot_outcome snapshot_take_async(enum leak_occasion occasion,
                                          const struct roots_caller *caller, uintptr_t about,
                                          const char *graph_file, uint32_t *milestone);

/* The check at the end of the process: the first call is EARLY, any later one LATE. */
void snapshot_early(const struct roots_caller *caller);
void snapshot_late(const struct roots_caller *caller, enum leak_occasion occasion);
/* Block and unblock snapshots around exec, so that no thread is asked to stop: a signal that is
 * pending for a thread survives exec, and its handler does not. */
void snapshot_block(void);
void snapshot_unblock(void);

/* How long a copy of the process pauses it, predicted from its resident memory, in nanoseconds. */
uint64_t snapshot_predicted_pause(void);

/* True while a snapshot is taken or a child runs a check. */
bool snapshot_is_busy(void);

/* Suppresses the check at the end whatever the options say: the program runs its own. False: it was
 * suppressed before. */
bool snapshot_disable(void);

/* ---- Exit callbacks ---------------------------------------------------------------------------
 * Functions that the program wants to run before the check at its end, for example to drop caches.
 * Each runs once, later ones first, outside the runtime: their allocations and frees are recorded.
 */

/* Adds a callback for the end of the process. False: no memory, or too many. */
bool exit_callbacks_add(struct guard *guard, void (*callback)(void));
void exit_callbacks_run(void);

#endif
