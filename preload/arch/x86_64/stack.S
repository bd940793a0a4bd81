/* stack.S (x86_64) - arch_call_on(stack_end, function, argument): calls it on another stack.
 *
 * An unwinder that runs over there finds its way back: the CFA is counted from rbp.
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

        .section .note.GNU-stack, "", @progbits
