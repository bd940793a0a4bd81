/* stack.S (x86_64) - functions that cannot be written in C.
 *
 * arch_call_on(stack_end, function, argument) calls the function on another stack. An unwinder
 * finds the way back to the first stack, because the CFA is based on rbp.
 *
 * arch_call_unblocked(mask, number, arguments) sets the signal mask and makes a system call. A
 * signal handler that interrupts it recognises this by the pc, which is between arch_call_unblocked
 * and arch_call_unblocked_end.
 *
 * syscall is a hook of libc's function of that name. It stores the number of the call in the red
 * zone, where a signal handler finds it, because the result overwrites the number's register.
 */
        .text
        .globl  arch_call_on
        .hidden arch_call_on
        .type   arch_call_on, @function
arch_call_on:
        .cfi_startproc
        endbr64
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        mov     %rdi, %rsp
        mov     %rdx, %rdi
        call    *%rsi
        mov     %rbp, %rsp
        .cfi_def_cfa_register %rsp
        pop     %rbp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   arch_call_on, . - arch_call_on

        .globl  arch_call_unblocked, arch_call_unblocked_end
        .hidden arch_call_unblocked, arch_call_unblocked_end
        .type   arch_call_unblocked, @function
arch_call_unblocked:
        .cfi_startproc
        endbr64
        mov     %rsi, %r9               /* number */
        mov     %rdx, %r8               /* arguments */
        mov     %rdi, %rsi
        mov     $2, %edi                /* SIG_SETMASK */
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $14, %eax               /* rt_sigprocmask */
        syscall
        mov     %r9, %rax
        mov     (%r8), %rdi
        mov     8(%r8), %rsi
        mov     16(%r8), %rdx
        mov     24(%r8), %r10
        mov     40(%r8), %r9
        mov     32(%r8), %r8
        syscall
arch_call_unblocked_end:
        ret
        .cfi_endproc
        .size   arch_call_unblocked, . - arch_call_unblocked

        .globl  syscall, arch_syscall_hook_end
        .hidden arch_syscall_hook_end, hook_restricting_syscall
        .weak   hook_restricting_syscall /* unit tests do not link it */
        .type   syscall, @function
syscall:
        .cfi_startproc
        endbr64
        cmp     $317, %rdi              /* seccomp */
        je      hook_restricting_syscall
        cmp     $157, %rdi              /* prctl */
        jne     2f
        cmp     $22, %rsi               /* PR_SET_SECCOMP, the first argument of prctl */
        je      hook_restricting_syscall
2:      mov     %rdi, -8(%rsp)
        mov     %rdi, %rax
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        mov     %rcx, %rdx
        mov     %r8, %r10
        mov     %r9, %r8
        mov     8(%rsp), %r9
        syscall
arch_syscall_hook_end:
        cmp     $-4095, %rax
        jae     1f
        ret
1:      push    %rax
        .cfi_adjust_cfa_offset 8
        call    __errno_location@PLT
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        neg     %ecx
        mov     %ecx, (%rax)
        mov     $-1, %rax
        ret
        .cfi_endproc
        .size   syscall, . - syscall

        .section .note.GNU-stack, "", @progbits
