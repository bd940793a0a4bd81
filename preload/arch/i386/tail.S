/* tail.S (i386) - hooks that must leave no frame between the caller and the real function. dlopen,
 * dlsym and others look at their return address, and vfork returns twice (tail.S of x86_64).
 * Arguments are on the stack and stay there.
 */
.macro TAIL_HOOK name, notice
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr32
        push    12(%esp)
        .cfi_adjust_cfa_offset 4
        push    12(%esp)
        .cfi_adjust_cfa_offset 4
        push    12(%esp)
        .cfi_adjust_cfa_offset 4
        call    \notice
        add     $12, %esp
        .cfi_adjust_cfa_offset -12
        jmp     *%eax                   /* address of the real function: the result of notice */
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

/* Defines an export that scrubs the dead stack below its caller and then jumps to its C function
 * (stack_scrub.h). The words that are pushed before a call to align the stack are zeros, because a
 * gap could hold an old pointer. */
        .hidden stack_scrub
.macro SCRUBBED name
        .hidden hook_\name
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr32
        push    $0
        .cfi_adjust_cfa_offset 4
        push    $0
        .cfi_adjust_cfa_offset 4
        push    $0
        .cfi_adjust_cfa_offset 4
        call    stack_scrub
        add     $12, %esp
        .cfi_adjust_cfa_offset -12
        jmp     hook_\name
        .cfi_endproc
        .size   \name, . - \name
.endm
        SCRUBBED exit
        SCRUBBED _exit
        SCRUBBED _Exit
        SCRUBBED libleak_snapshot
        SCRUBBED libleak_snapshot_graph
        SCRUBBED libleak_report
        SCRUBBED libleak_report_thread
        SCRUBBED __lsan_do_recoverable_leak_check
        SCRUBBED __lsan_do_leak_check

/* Calls the program's main between two functions of the runtime: one learns that main begins, the
 * other that it has returned. tail.S of x86_64 describes hook_call_main. */
        .hidden hook_call_main
        .local  hook_main_return
        .comm   hook_main_return, 4, 4
        .globl  hook_call_main
        .type   hook_call_main, @function
hook_call_main:
        .cfi_startproc
        endbr32
        push    %ebx
        .cfi_adjust_cfa_offset 4
        .cfi_rel_offset %ebx, 0
        call    1f
1:      pop     %ebx
        add     $_GLOBAL_OFFSET_TABLE_+(.-1b), %ebx
        mov     4(%esp), %eax
        mov     %eax, hook_main_return@GOTOFF(%ebx)
        sub     $12, %esp
        .cfi_adjust_cfa_offset 12
        push    28(%esp)                /* envp; the next two instructions push argv and argc */
        .cfi_adjust_cfa_offset 4
        push    28(%esp)
        .cfi_adjust_cfa_offset 4
        push    28(%esp)
        .cfi_adjust_cfa_offset 4
        call    hook_main_begins
        call    *%eax
        .cfi_undefined %eip
        cld
        mov     %esp, %edx
        and     $-16, %esp
        push    %edx
        push    $0
        push    $0
        push    %eax
        call    stack_scrub
        call    hook_main_ended
        mov     12(%esp), %esp
        call    2f
2:      pop     %edx
        add     $_GLOBAL_OFFSET_TABLE_+(.-2b), %edx
        mov     hook_main_return@GOTOFF(%edx), %edx
        mov     24(%esp), %ebx
        lea     32(%esp), %esp
        and     $-16, %esp
        jmp     *%edx
        .cfi_endproc
        .size   hook_call_main, . - hook_call_main

        .section .note.GNU-stack, "", @progbits
