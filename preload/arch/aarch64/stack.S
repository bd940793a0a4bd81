/* stack.S (aarch64) - functions that cannot be written in C.
 *
 * arch_call_on(stack_end, function, argument) calls the function on another stack. An unwinder can return
 * to the first stack, because the frame record is an ordinary one.
 * The file of the same name for x86_64 describes arch_continue_call.
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

/* The return address of a handler whose frame was moved: unwinders recognise these two instructions. */
        .globl  arch_signal_return
        .hidden arch_signal_return
        .type   arch_signal_return, %function
        nop
arch_signal_return:
        mov     x8, #139                /* rt_sigreturn */
        svc     #0
        .size   arch_signal_return, . - arch_signal_return

        .section .note.GNU-stack, "", %progbits
