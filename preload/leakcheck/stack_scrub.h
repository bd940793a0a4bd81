/* stack_scrub.h - clears the dead part of the stack before a leak check.
 *
 * When a leak check begins, libleak's frames lie where functions that have returned had theirs; and
 * frames have gaps, in which old pointers survive. stack_scrub clears up to 64 KiB below the stack
 * pointer, never past the end of the thread's own stack or of its mapped part; below a signal stack
 * or the stack of a fibre there may be anything. */
#ifndef PRELOAD_LEAKCHECK_STACK_SCRUB_H
#define PRELOAD_LEAKCHECK_STACK_SCRUB_H

#include "preload/base/base.h"

void stack_scrub(void);
/* Clears about 1 KiB below the caller's frame, on any stack, also on that of a fibre, which is a
 * block that is scanned as a whole. Called where libleak has used that part of the stack itself. */
void stack_scrub_near(void);
/* Clears the alternate signal stack of the calling thread, if no handler is running on it: frames
 * of handlers that have returned, in which the kernel saved the registers. Only for a copy of the
 * process, as the stack is memory of the program. The thread must be on the stack on which it is
 * in the program. */
void stack_scrub_idle_signal_stack(void);

/* Clears the dead part of the stack and calls a function, whose argument is the frame address of
 * the exported function that uses this macro. The exported function must keep nothing in registers
 * or on the stack. Only the return address and the frame record lie between the frame of the
 * program's function and the end of the scrubbed part. */
#define ON_SCRUBBED_STACK(function)                                                                \
    ({                                                                                             \
        stack_scrub();                                                                             \
        __auto_type result_ = function(__builtin_frame_address(0));                                \
        __asm__ volatile("" ::: "memory"); /* prevents a tail call: this frame must stay */        \
        result_;                                                                                   \
    })

/* Begins the definition of an exported function that uses ON_SCRUBBED_STACK. On a CPU where frames
 * of C functions have gaps (ARCH_SCRUBS_FIRST), the exported function is in tail.S: it scrubs the
 * stack and jumps to this function, whose frame then lies in the scrubbed part. */
#ifdef ARCH_SCRUBS_FIRST
#define SCRUBBED(type, name, parameters)                                                           \
    HIDDEN type hook_##name parameters;                                                            \
    __attribute__((used)) type hook_##name parameters
#else
#define SCRUBBED(type, name, parameters)                                                           \
    EXPORT type name parameters;                                                                   \
    EXPORT type name parameters
#endif

#endif
