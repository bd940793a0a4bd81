/* stack_scrub.h - the stack below is dead: nothing that was left there may look alive.
 *
 * What a look calls lays its frames upon those of functions that are over, and frames have gaps.
 * Wiped are up to 64 KiB of the thread's own stack, never past its end or what of it is mapped;
 * below a signal stack or a fibre's there may be anything.
 */
#ifndef PRELOAD_PROCESS_STACK_SCRUB_H
#define PRELOAD_PROCESS_STACK_SCRUB_H

void scrub_stack(void);

/* In an exported function that keeps nothing in registers or on the stack: calls another one upon a
 * wiped stack, with the frame address of this one. Between the frame of who called us and the end
 * of what is wiped there is then nothing but the return address and the frame record. */
#define ON_SCRUBBED_STACK(function)                                                                \
    ({                                                                                             \
        scrub_stack();                                                                             \
        __auto_type result_ = function(__builtin_frame_address(0));                                \
        __asm__ volatile("" ::: "memory"); /* no jump: our frame stays */                          \
        result_;                                                                                   \
    })

#endif
