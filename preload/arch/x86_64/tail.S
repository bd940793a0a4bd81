/* tail.S (x86_64) - hooks that must not stand between caller and callee.
 *
 * dlopen, dlmopen and dlclose look at their return address (RUNPATH, $ORIGIN, namespaces): a C wrapper would
 * make libleak.so the caller. So: save the arguments, tell the runtime, restore them, and jump.
 * vfork returns twice to its caller, the second time over a stack that the child has used.
 * C++ exceptions from constructors never pass here: nothing of ours is on the stack after the jump.
 */
.macro TAIL_HOOK name, notice
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        call    \notice
        mov     %rax, %r11              /* the notice answers where to go on */
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_endproc
        .size   \name, . - \name
.endm

        .text
        TAIL_HOOK dlopen,  hook_dlopen_notice
        TAIL_HOOK dlmopen, hook_dlmopen_notice
        TAIL_HOOK dlclose, hook_dlclose_notice
        TAIL_HOOK vfork,   hook_vfork_notice

        .section .note.GNU-stack, "", @progbits
