/* tail.S (x86_64) - hooks that must leave no frame between the caller and the real function.
 *
 * dlopen, dlmopen, dlclose and dlsym use their return address (for RUNPATH, $ORIGIN, namespaces and
 * RTLD_NEXT): if a C function called them, libleak.so would be their caller. So these hooks save
 * the arguments, call a function of the runtime (the notice), restore the arguments and jump to the
 * real function. vfork returns twice to its caller, the second time on a stack that the child has
 * used, so it is hooked in the same way. C++ exceptions from constructors do not pass through here:
 * after the jump the hook has no frame.
 */
.macro SAVE_ARGUMENTS
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
.endm

.macro RESTORE_ARGUMENTS
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
.endm

.macro TAIL_HOOK name, notice
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        SAVE_ARGUMENTS
        call    \notice
        mov     %rax, %r11              /* address of the real function: the result of notice */
        RESTORE_ARGUMENTS
        jmp     *%r11
        .cfi_endproc
        .size   \name, . - \name
.endm

        .text
        TAIL_HOOK dlopen,  hook_dlopen_notice
        TAIL_HOOK dlmopen, hook_dlmopen_notice
        TAIL_HOOK dlclose, hook_dlclose_notice
        TAIL_HOOK vfork,   hook_vfork_notice
        .hidden hook_pair_dlsym
        TAIL_HOOK hook_pair_dlsym, hook_pair_dlsym_notice

/* hook_call_main(argc, argv, envp) calls the program's main between two functions of hook_main.c:
 * one learns that main begins, the other that it has returned. main may return with any stack
 * pointer, any value in the registers that it should preserve, and with the direction flag set.
 * hook_call_main returns to libc without relying on them: the return address is kept in
 * hook_main_return, the stack pointer is derived from the one after main. After a main that keeps
 * the rules all registers are as expected. Unwinding ends here once main has returned, because the
 * stack pointer is not known.
 */
        .local  hook_main_return
        .comm   hook_main_return, 8, 8
        .hidden hook_call_main
        .globl  hook_call_main
        .type   hook_call_main, @function
hook_call_main:
        .cfi_startproc
        endbr64
        mov     (%rsp), %rax
        mov     %rax, hook_main_return(%rip)
        SAVE_ARGUMENTS
        call    hook_main_begins
        RESTORE_ARGUMENTS
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    *%rax
        .cfi_undefined %rip
        cld
        mov     %eax, %edi
        lea     16(%rsp), %rbx
        and     $-16, %rsp
        call    hook_main_ended
        mov     %rbx, %rsp
        and     $-16, %rsp
        jmp     *hook_main_return(%rip)
        .cfi_endproc
        .size   hook_call_main, . - hook_call_main

        .section .note.GNU-stack, "", @progbits
