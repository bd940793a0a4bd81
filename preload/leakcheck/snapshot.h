/* snapshot.h - taking a look at the whole heap, and what becomes of it.
 *
 * The others are parked, the process is copied, the others go on; the copy does the work
 * (leak_check.h) while the program does its own. Where they cannot be parked, two copies of the
 * running program are compared. Where there can be no copy the store says why there was no look.
 *
 * The end of a process: EARLY when main has returned or exit was called, with globals whole; LATE
 * when the last handler has run. What was lost EARLY stays lost; what was reachable then and is not
 * any more was dropped by exit code. Nothing changed in between: EARLY stands.
 */
#ifndef PRELOAD_LEAKCHECK_SNAPSHOT_H
#define PRELOAD_LEAKCHECK_SNAPSHOT_H

#include "preload/leakcheck/leak_check.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

/* At the start of the process. */
void snapshot_start(void);
/* The option roots is another one now. */
void snapshot_choose_roots(void);
/* A fork child: what its parent had under way is not its own. */
void snapshot_fork_child(void);

/* The words that the caller's registers held when it was called lie from the sp of the function
 * this stands in up to the caller's frame. */
#define SNAPSHOT_TAKER(caller)                                                                     \
    ({                                                                                             \
        __builtin_unwind_init();                                                                   \
        (struct roots_taker){.tid = sys_gettid(),                                                  \
                             .sp = arch_stack_pointer(),                                           \
                             .frame = (caller)->sp,                                                \
                             .pc = (caller)->pc,                                                   \
                             .fp = (caller)->fp};                                                  \
    })

/* Takes a look and waits until it is done. How many blocks are lost that came at that tick or later
 * (0: at any), -1: unknown. The process is ours and running; the calling thread is outside of the
 * runtime. */
long snapshot_take(enum leak_occasion occasion, const struct roots_taker *taker, uint32_t since);

/* What the last of these has found, by verdict; NULL: there was none. */
const struct look_sum *snapshot_found(void);

/* The same for a handler, outside of the runtime, and nobody waits: BUSY: another look is at work;
 * NONE: it was left out, or the store says why there is none. about: an address that somebody asks
 * about, 0: none. *milestone gets its own. */
enum snapshot_begun { SNAPSHOT_BEGUN, SNAPSHOT_BUSY, SNAPSHOT_NONE };
enum snapshot_begun snapshot_begin(enum leak_occasion occasion, const struct roots_taker *taker,
                                   uintptr_t about, uint32_t *milestone);

/* The look at the end of the process: the first call is EARLY, whatever follows is LATE. */
void snapshot_early(const struct roots_taker *taker);
void snapshot_late(const struct roots_taker *taker, enum leak_occasion occasion);
/* Around exec: nobody may be asked to stand. A signal that waits for the thread outlives exec, and
 * the handler does not. */
void snapshot_hold(void);
void snapshot_let_go(void);

/* For how long a copy of the process holds it, going by its resident memory, in nanoseconds. */
uint64_t snapshot_predicted_pause(void);

/* Is one being taken, or a child at work on one? */
bool snapshot_is_busy(void);

/* No look at the end, whatever the options say: the program has its own. False: so it was before.
 */
bool snapshot_no_more(void);

#endif
