/* unwind_check.h - a second opinion: the option unwind_check=N compares every N-th stack of a
 * thread.
 *
 * The other unwinder is libunwind or libgcc's, opened by the first check and only when asked for.
 * It walks from where it is called, through the runtime's own frames, to the caller of the hook and
 * on. Held against it is what was recorded: the node of the calling-context tree and its callers,
 * whichever way it was found (walked, shared, remembered). What comes of it are three numbers in
 * the store's header.
 *
 * It is made for tests, yet harms nobody: it runs on a stack of its own with signals blocked, reads
 * memory by our rules, and leaves no descriptor open. A walk may take the loader's lock, though.
 */
#ifndef PRELOAD_UNWIND_UNWIND_CHECK_H
#define PRELOAD_UNWIND_UNWIND_CHECK_H

#include "preload/base/reentry_guard.h"
#include "preload/options/options.h"
#include "preload/unwind/unwind.h"
#include "leak_store.h"

/* Of each thread. */
struct oracle {
    struct oracle_walk *walk;
};

/* Innermost frame first. One more than ours can have, to see that theirs goes on. */
struct oracle_stack {
    unsigned count;
    enum leak_root end; /* theirs: NO_RULE where there is no table, which is all they go by */
    uintptr_t pc[UNWIND_DEPTH_MAX + 1];
};

enum oracle_verdict {
    ORACLE_SAME,      /* up to where theirs had no table to go on, at least */
    ORACLE_STOPPED,   /* ours ends early, says so, and is right up to there; theirs goes on */
    ORACLE_DIFFERENT, /* another frame, or one of the two ends where the other does not */
};

extern uint64_t oracle_every_ HIDDEN; /* 0: off */

/* The other unwinder is opened by the first check, when libc is ready; a line says so when there is
 * none. */
void oracle_start(const struct options *options);
/* Another thread may have been inside the other unwinder when we forked, with a lock of its. */
void oracle_fork_child(void);

/* *at: the first frame that is not the same. */
enum oracle_verdict oracle_judge(const struct oracle_stack *ours, const struct oracle_stack *theirs,
                                 unsigned *at);

/* Is it the turn of a thread's so-manieth stack? */
static inline bool oracle_wants(uint32_t count)
{
    return oracle_every_ && count % oracle_every_ == 0;
}

/* Whose turn it is after that one; 0: nobody's. */
static inline uint32_t oracle_next(uint32_t count)
{
    uint64_t next = oracle_every_ ? (count / oracle_every_ + 1) * oracle_every_ : 0;
    return next > UINT32_MAX ? 0 : next;
}

/* Walks the stack of the hook's caller, while it is still there, compares it with the one that ends
 * in node, and counts. */
void oracle_compare(struct guard *guard, struct oracle *oracle, const struct unwind_bounds *bounds,
                    const struct frame *caller, uint32_t node);

#endif
