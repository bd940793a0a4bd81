/* unwind_check.h - is the recorded stack right? unwind_check=N compares every N-th stack of a
 * thread with another unwinder's.
 *
 * The reference unwinder is libunwind or libgcc's, opened by the first check. It walks from where
 * it is called, through the runtime's own frames, to the caller of the hook and on. Its stack is
 * compared with the recorded one: the node of the context tree and its callers, however it was
 * found (walked, shared, cached). The result is three numbers in the header of the recording file.
 *
 * The option is meant for tests but safe in any program: the reference runs on a stack of its own
 * with signals blocked, reads memory as unwind.h does, and leaves no descriptor open. It may take
 * the loader's lock, though.
 */
#ifndef PRELOAD_CONTEXTS_UNWIND_CHECK_H
#define PRELOAD_CONTEXTS_UNWIND_CHECK_H

#include "preload/base/reentry_guard.h"
#include "preload/options/options.h"
#include "preload/unwind/unwind.h"
#include "leak_store.h"

/* The state of the check in one thread. */
struct unwind_check {
    struct unwind_check_walk *walk;
};

/* Innermost frame first. One more than a recorded stack can have, to see whether the reference goes
 * on. */
struct unwind_check_stack {
    unsigned count;
    enum leak_root end; /* of the reference: NO_RULE where there is no CFI, else COMPLETE */
    uintptr_t pc[UNWIND_DEPTH_MAX + 1];
};

enum unwind_check_verdict {
    UNWIND_CHECK_SAME,      /* at least up to where the reference found no CFI */
    UNWIND_CHECK_STOPPED,   /* the recorded stack is right, ends early, and says so */
    UNWIND_CHECK_DIFFERENT, /* another frame, or only one of the two ends */
};

/* The first check opens the reference unwinder, when libc is ready; without one it logs a line and
 * turns the option off. */
void unwind_check_start(void);
/* Turns checks off if another thread was inside the reference unwinder during fork: it may have
 * held one of its locks. */
void unwind_check_fork_child(void);

/* *at: the first frame that differs. */
enum unwind_check_verdict unwind_check_compare(const struct unwind_check_stack *ours,
                                               const struct unwind_check_stack *theirs,
                                               unsigned *at);

/* Is the count-th stack of a thread to be checked? */
static inline bool unwind_check_is_due(uint32_t count)
{
    return options_current.unwind_check && count % options_current.unwind_check == 0;
}

/* The next stack after that one which is to be checked; 0: none. */
static inline uint32_t unwind_check_next(uint32_t count)
{
    uint64_t every = options_current.unwind_check;
    uint64_t next = every ? (count / every + 1) * every : 0;
    return next > UINT32_MAX ? 0 : next;
}

/* Walks the stack of the hook's caller, which must still be there, compares it with the recorded
 * stack that ends in node, and counts the verdict. */
void unwind_check_run(struct guard *guard, struct unwind_check *oracle,
                      const struct unwind_bounds *bounds, const struct frame *caller,
                      uint32_t node);

#endif
