/* snapshot.h - starts leak checks (at exit, on request, periodically ...), and records their
 * results.
 *
 * The other threads are stopped, the process is copied, and the threads continue; the copy runs the
 * check (leak_check.h) while the program continues. If threads cannot be stopped, two copies of the
 * running program are compared. If the process cannot be copied, the recording file says why there
 * was no check.
 *
 * There are two checks at the end of a process: EARLY, when main has returned or exit was called,
 * and LATE, after the last exit handler. Blocks that were lost in the EARLY check stay lost; blocks
 * that were reachable then and are not in the LATE check were dropped by exit code. If no block is
 * new or gone in between, and every word by which a block was found still points to it, there is no
 * LATE check. */
#ifndef PRELOAD_LEAKCHECK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"
#include "preload/base/reentry_guard.h"

/* Prepares leak checks; called at the start of the process. */
void snapshot_start(void);
/* Reads the option roots; called after it has changed. */
void snapshot_set_roots(void);
/* Resets the state in a fork child: running checks belong to the parent. */
void snapshot_fork_child(void);

/* A struct roots_caller for the calling thread, which requests a check. The macro stores the values
 * that registers had at the call on the stack, between the sp of the function that uses it and the
 * caller's frame, where the check finds them. */
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
    uint32_t since; /* lost blocks are counted from this tick on; 0: all are counted */
    /* File name, in which %p, %e and %n are replaced (graph_path.h); NULL: no graph file is
     * wanted. */
    const char *graph_file;
};

/* Runs a check and waits for it. Returns the number of lost blocks; -1: not known, or the graph
 * file could not be written. The process must be recording, and the calling thread outside of the
 * runtime. */
long snapshot_take(enum leak_occasion occasion, const struct roots_caller *caller,
                   const struct snapshot_wish *wish);

/* Runs a check that records nothing, waits for it, and finds the word that holds the address of a
 * block. A word of a variable or of a reachable block is better than one on a stack; registers of
 * the calling thread do not count. hidden: the complement of the address, so that the check does
 * not find a copy of the address. The calling thread must be outside of the runtime. UNKNOWN: there
 * is no such block, or no check was possible. */
enum snapshot_held { SNAPSHOT_HELD_UNKNOWN, SNAPSHOT_HELD_NOT, SNAPSHOT_HELD_BY_WORD };
enum snapshot_held snapshot_find_holder(const struct roots_caller *caller, uint64_t hidden,
                                        struct holder_found *out);

/* Reaps the child of the last asynchronous check (waitpid), if it has ended. If this is never
 * called, the next check does it. */
void snapshot_reap(void);

/* Numbers of blocks and bytes, by verdict, that the last snapshot_take found; NULL: there was
 * none. */
const struct leak_check_sum *snapshot_last_sums(void);

/* Starts a check without waiting for its result; may be called in a signal handler, outside of the
 * runtime. BUSY: another check is running. NONE: the check was skipped, or was not possible and the
 * recording file says why. about: address of any byte of a block: the block and the words that
 * point to it are reported; 0: none. graph_file: absolute path of the graph file to write; NULL:
 * none. *milestone: the number of this check. */
enum snapshot_outcome { SNAPSHOT_STARTED, SNAPSHOT_BUSY, SNAPSHOT_NONE };
enum snapshot_outcome snapshot_take_async(enum leak_occasion occasion,
                                          const struct roots_caller *caller, uintptr_t about,
                                          const char *graph_file, uint32_t *milestone);

/* Run the check at the end of the process: snapshot_early before the exit handlers, snapshot_late
 * after the last one. */
void snapshot_early(const struct roots_caller *caller);
void snapshot_late(const struct roots_caller *caller, enum leak_occasion occasion);
/* Block and unblock checks around exec, so that no check sends a thread the signal that stops it: a
 * pending signal survives exec, but its handler does not, so it would end the new program. */
void snapshot_block(void);
void snapshot_unblock(void);

/* Predicts from the resident memory for how many nanoseconds a leak check stops the program, while
 * it is copied. */
uint64_t snapshot_predicted_pause(void);

/* Says whether a leak check is being started now, or the child of one is running. */
bool snapshot_is_busy(void);

/* Suppresses the check at the end of the process, because the program runs its own. False: it was
 * already suppressed. */
bool snapshot_disable(void);

/* ---- Exit callbacks ---------------------------------------------------------------------------
 * Functions that the program registers to run before the leak check at its end, for example to free
 * caches. Each runs once, the last one first, outside of the runtime: their allocations and frees
 * are recorded. */

/* Registers a callback for the end of the process. False: there is no memory, or there are too many
 * callbacks. */
bool exit_callbacks_add(struct guard *guard, void (*callback)(void));
void exit_callbacks_run(void);

#endif
