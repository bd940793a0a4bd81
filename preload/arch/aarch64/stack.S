/* stack.S (aarch64) - functions that cannot be written in C.
 *
 * arch_call_on(stack_end, function, argument) calls the function on another stack. An unwinder
 * finds the way back to the first stack, because the frame record is an ordinary one. stack.S of
 * x86_64 describes the other functions. The hook of syscall keeps the first argument in x9, because
 * the result overwrites its register.
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

        .globl  arch_call_unblocked, arch_call_unblocked_end
        .hidden arch_call_unblocked, arch_call_unblocked_end
        .type   arch_call_unblocked, %function
arch_call_unblocked:
        .cfi_startproc
        hint    #34                     /* bti c */
        mov     x9, x1                  /* number */
        mov     x10, x2                 /* arguments */
        mov     x1, x0
        mov     x0, #2                  /* SIG_SETMASK */
        mov     x2, #0
        mov     x3, #8
        mov     x8, #135                /* rt_sigprocmask */
        svc     #0
        mov     x8, x9
        ldp     x0, x1, [x10]
        ldp     x2, x3, [x10, #16]
        ldp     x4, x5, [x10, #32]
        svc     #0
arch_call_unblocked_end:
        ret
        .cfi_endproc
        .size   arch_call_unblocked, . - arch_call_unblocked

        .globl  syscall, arch_syscall_hook_end
        .hidden arch_syscall_hook_end, hook_restricting_syscall
        .weak   hook_restricting_syscall /* unit tests do not link it */
        .type   syscall, %function
syscall:
        .cfi_startproc
        hint    #34                     /* bti c */
        cmp     x0, #277                /* seccomp */
        b.eq    2f
        cmp     x0, #167                /* prctl */
        b.ne    3f
        cmp     x1, #22                 /* PR_SET_SECCOMP, the first argument of prctl */
        b.ne    3f
2:      b       hook_restricting_syscall
3:
        mov     x8, x0
        mov     x9, x1
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     #0
arch_syscall_hook_end:
        cmn     x0, #4095
        b.cs    1f
        ret
1:      hint    #25                     /* paciasp */
        .cfi_negate_ra_state
        stp     x30, x0, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x30, -16
        bl      __errno_location
        ldp     x30, x1, [sp], #16
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        hint    #29                     /* autiasp */
        .cfi_negate_ra_state
        neg     w1, w1
        str     w1, [x0]
        mov     x0, #-1
        ret
        .cfi_endproc
        .size   syscall, . - syscall

/* The return address of a signal handler whose frame was moved. Unwinders recognise these two
 * instructions. */
        .globl  arch_signal_return
        .hidden arch_signal_return
        .type   arch_signal_return, %function
        nop
arch_signal_return:
        mov     x8, #139                /* rt_sigreturn */
        svc     #0
        .size   arch_signal_return, . - arch_signal_return

        .section .note.GNU-stack, "", %progbits
