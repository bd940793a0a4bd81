/* stack.S (x86_64) - functions that cannot be written in C.
 *
 * arch_call_on(stack_end, function, argument) calls the function on another stack. An unwinder can return
 * to the first stack, because the CFA is based on rbp.
 * arch_continue_call(mask) sets the signal mask and continues the system call that the calling signal
 * handler has interrupted; the call keeps its deadline. The kernel forgets that call when any handler
 * returns. A handler that runs as soon as the mask is open recognises the situation by its pc, which is
 * between the two labels.
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

        .globl  arch_continue_call, arch_continue_call_end
        .hidden arch_continue_call, arch_continue_call_end
        .type   arch_continue_call, @function
arch_continue_call:
        .cfi_startproc
        endbr64
        mov     %rdi, %rsi
        mov     $2, %edi                /* SIG_SETMASK */
        xor     %edx, %edx
        mov     $8, %r10d
        mov     $14, %eax               /* rt_sigprocmask */
        syscall
        mov     $219, %eax              /* restart_syscall */
        syscall
arch_continue_call_end:
        ret
        .cfi_endproc
        .size   arch_continue_call, . - arch_continue_call

        .section .note.GNU-stack, "", @progbits
