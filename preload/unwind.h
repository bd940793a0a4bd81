/* unwind.h - the call stack of the caller of a hook, by the rows of .eh_frame.
 *
 * Needs no frame pointers, takes no lock, opens nothing and never faults: the thread's own stack is
 * read directly, any other (fibre, signal stack) through the kernel. Where the stack does not look right
 * or no rule is known the trace ends and says why; nothing is guessed.
 */
#ifndef PRELOAD_UNWIND_H
#define PRELOAD_UNWIND_H

#include "preload/base.h"
#include "preload/guard.h"
#include "leak_store.h"

#define UNWIND_DEPTH_MAX 1024
#define UNWIND_WINDOW 1024

/* The thread's own stack: whatever lies between a live sp in it and high is mapped. Both 0: unknown. */
struct unwind_bounds {
    uintptr_t low, high;
};

struct unwind_trace {
    enum leak_root end;
    unsigned depth;
    uintptr_t pc[UNWIND_DEPTH_MAX]; /* innermost first */
    uint32_t retired[UNWIND_DEPTH_MAX]; /* modules_retired of each */
    /* Scratch: the piece of a stack not our own that was copied last. */
    uintptr_t window, window_size;
    char bytes[UNWIND_WINDOW];
};

/* Fills trace with at most limit frames, start included. Large: lives in struct thread, not on the
 * program's stack. */
void unwind(struct guard *guard, const struct unwind_bounds *bounds, const struct frame *start,
            unsigned limit, struct unwind_trace *trace);

#endif
