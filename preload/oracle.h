/* oracle.h - a second opinion: the option unwind_check=N compares every N-th trace of a thread.
 *
 * The other unwinder is libunwind or libgcc's, opened by the first check and only when asked for.
 * It walks from where it is called, through the runtime's own frames, to the caller of the hook and
 * on; from there each frame's pc and sp must be ours. What comes of it are three numbers in the
 * store's header.
 *
 * It is made for tests, yet harms nobody: it runs on a stack of its own with signals blocked, reads
 * memory by our rules, and leaves no descriptor open. A walk may take the loader's lock, though.
 */
#ifndef PRELOAD_ORACLE_H
#define PRELOAD_ORACLE_H

#include "preload/options.h"
#include "preload/unwind.h"

/* Of each thread. */
struct oracle {
    uint64_t captures; /* since the last one compared */
    struct oracle_walk *walk;
};

/* As the other one sees it. */
struct oracle_frame {
    uintptr_t pc, sp;
};

enum oracle_verdict {
    ORACLE_SAME,
    ORACLE_STOPPED,   /* ours ends early, says so, and is right up to there; theirs goes on */
    ORACLE_DIFFERENT, /* another frame, or one of the two ends where the other does not */
};

extern uint64_t oracle_every_; /* 0: off */

/* The other unwinder is opened by the first check, when libc is ready; a line says so when there is
 * none. */
void oracle_start(const struct options *options);
/* Another thread may have been inside the other unwinder when we forked, with a lock of its. */
void oracle_fork_child(void);

/* theirs[0] is the frame that our walk started from. *at: the first frame that is not the same. */
enum oracle_verdict oracle_judge(const struct unwind_trace *trace,
                                 const struct oracle_frame *theirs, unsigned count, unsigned *at);

/* Walks again, compares and counts. */
void oracle_compare(struct guard *guard, struct oracle *oracle, const struct unwind_bounds *bounds,
                    const struct frame *start, const struct unwind_trace *trace);

/* Once for each trace, while the frames that it shows are still there. */
static inline void oracle_check(struct guard *guard, struct oracle *oracle,
                                const struct unwind_bounds *bounds, const struct frame *start,
                                const struct unwind_trace *trace)
{
    if (unlikely(oracle_every_) && ++oracle->captures >= oracle_every_)
        oracle_compare(guard, oracle, bounds, start, trace);
}

#endif
