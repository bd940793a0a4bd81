/* unwind_check.h - the option unwind_check=N: compares every N-th recorded stack of a thread with
 * the stack that another unwinder finds.
 *
 * The reference unwinder is libunwind or libgcc's, opened by the first check. It unwinds through
 * libleak's own frames to the caller of the hook, and further. Its stack is compared with the
 * recorded one: a node of the context tree and its callers, whether the frames were unwound, shared
 * with an earlier stack or found in a cache. The result is three numbers in the header of the
 * recording file.
 *
 * The option is meant for tests but safe in any program: the reference runs on a stack of its own
 * with signals blocked, reads memory as unwind.h does, and leaves no descriptor open. But the
 * reference may take the loader's lock. */
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

/* A stack, innermost frame first. It has room for one frame more than a recorded stack, so that a
 * longer reference stack is noticed. */
struct unwind_check_stack {
    unsigned count;
    /* End of the reference stack: NO_RULE if its last frame has no CFI, otherwise COMPLETE. */
    enum leak_root end;
    uintptr_t pc[UNWIND_DEPTH_MAX + 1];
};

enum unwind_check_verdict {
    /* The stacks are equal, at least up to the frame at which the reference unwinder found no
     * CFI. */
    UNWIND_CHECK_SAME,
    /* The recorded stack is right, but ends early, and records that it does. */
    UNWIND_CHECK_STOPPED,
    UNWIND_CHECK_DIFFERENT, /* a frame differs, or only one of the stacks has ended */
};

/* Reads the options. The first check opens the reference unwinder, when libc is ready; if there is
 * none, a line is logged and the option is switched off. */
void unwind_check_start(void);
/* Switches checks off in a fork child, if another thread of the parent was inside the reference
 * unwinder and may have held one of its locks. */
void unwind_check_fork_child(void);

/* Compares two stacks. *at: index of the first frame that differs. */
enum unwind_check_verdict unwind_check_compare(const struct unwind_check_stack *ours,
                                               const struct unwind_check_stack *theirs,
                                               unsigned *at);

/* Says whether the stack of a thread's allocation with this number (from 1) must be checked. */
static inline bool unwind_check_is_due(uint32_t count)
{
    return options_current.unwind_check && count % options_current.unwind_check == 0;
}

/* Returns the number of the next allocation after number count whose stack must be checked; 0:
 * none. */
static inline uint32_t unwind_check_next(uint32_t count)
{
    uint64_t every = options_current.unwind_check;
    uint64_t next = every ? (count / every + 1) * every : 0;
    return next > UINT32_MAX ? 0 : next;
}

/* Unwinds the stack of the hook's caller with the reference unwinder, compares it with the recorded
 * stack, whose innermost node is "node", and counts the verdict. The hook must not have
 * returned. */
void unwind_check_run(struct guard *guard, struct unwind_check *oracle,
                      const struct unwind_bounds *bounds, const struct frame *caller,
                      uint32_t node);

#endif
