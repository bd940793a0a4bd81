/* tail.S (x86_64) - hooks that must leave no frame between the caller and the real function.
 *
 * dlopen, dlmopen, dlclose and dlsym use their return address (RUNPATH, $ORIGIN, namespaces, RTLD_NEXT):
 * after a C wrapper libleak.so would be the caller. So these hooks save the arguments, notify the runtime, restore the
 * arguments and jump. vfork returns twice to its caller, the second time on a stack that the child has
 * used. C++ exceptions from constructors do not pass through here: after the jump the hook has no frame.
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
        mov     %rax, %r11              /* the notice returns the real function */
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

/* hook_call_main(argc, argv, envp) calls the program's main between two notices (hook_main.c). main may
 * return with any stack pointer and any value in the preserved registers, and with the direction flag set.
 * libc's frame is reached again without them; with a main that keeps the rules all is as it was. Unwinding
 * ends here after main, for the same reason.
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
