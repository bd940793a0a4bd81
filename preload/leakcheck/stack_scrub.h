/* stack_scrub.h - the dead part of the stack.
 *
 * A leak check puts its frames over those of functions that have returned, and frames have gaps in
 * which old pointers survive. stack_scrub clears up to 64 KiB below the stack pointer, never past
 * the end of the thread's own stack or of its mapped part; below a signal stack or the stack of a
 * fibre there may be anything.
 */
#ifndef PRELOAD_LEAKCHECK_STACK_SCRUB_H
#define PRELOAD_LEAKCHECK_STACK_SCRUB_H

#include "preload/base/base.h"

void stack_scrub(void);
/* Clears the KiB below the caller's frame, on any stack. Call where libleak has used that much: a
 * fibre's stack is a block, and all of it counts. */
void stack_scrub_near(void);

/* Calls a function on a scrubbed stack, with the frame address of the exported function that uses
 * this macro, which keeps nothing in registers or on the stack. Only the return address and the
 * frame record lie between the frame of the program's function and the end of the scrubbed part. */
#define ON_SCRUBBED_STACK(function)                                                                \
    ({                                                                                             \
        stack_scrub();                                                                             \
        __auto_type result_ = function(__builtin_frame_address(0));                                \
        __asm__ volatile("" ::: "memory"); /* prevents a tail call: this frame stays */            \
        result_;                                                                                   \
    })

/* The head of the definition of an exported function that uses ON_SCRUBBED_STACK. Where the frames
 * of C functions have gaps (ARCH_SCRUBS_FIRST), the export is in tail.S: it scrubs the stack and
 * jumps to this function, whose frame lies in the scrubbed part then. */
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
