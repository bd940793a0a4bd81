/* stack.S (aarch64) - what C cannot say of stacks and system calls.
 *
 * arch_call_on(stack_end, function, argument) calls it on another stack. The frame record is an ordinary
 * one, so unwinders find their way back.
 * arch_continue_call(mask) sets the signal mask and goes on with the system call that the signal handler
 * around it has interrupted: its deadline stays what it was. The kernel forgets that call when any handler
 * returns; one that comes from the moment when the mask is open knows it by its pc, between the two.
 */
        .text
        .globl  arch_call_on
        .hidden arch_call_on
        .type   arch_call_on, %function
arch_call_on:
        .cfi_startproc
        hint    #34                     /* bti c */
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x0
        mov     x0, x2
        blr     x1
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_restore x30
        .cfi_restore x29
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   arch_call_on, . - arch_call_on

        .globl  arch_continue_call, arch_continue_call_end
        .hidden arch_continue_call, arch_continue_call_end
        .type   arch_continue_call, %function
arch_continue_call:
        .cfi_startproc
        hint    #34                     /* bti c */
        mov     x1, x0
        mov     x0, #2                  /* SIG_SETMASK */
        mov     x2, #0
        mov     x3, #8
        mov     x8, #135                /* rt_sigprocmask */
        svc     #0
        mov     x8, #128                /* restart_syscall */
        svc     #0
arch_continue_call_end:
        ret
        .cfi_endproc
        .size   arch_continue_call, . - arch_continue_call

/* What a handler returns to whose frame was moved: unwinders know it by these two instructions. */
        .globl  arch_signal_return
        .hidden arch_signal_return
        .type   arch_signal_return, %function
        nop
arch_signal_return:
        mov     x8, #139                /* rt_sigreturn */
        svc     #0
        .size   arch_signal_return, . - arch_signal_return

        .section .note.GNU-stack, "", %progbits
