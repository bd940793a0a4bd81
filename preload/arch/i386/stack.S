/* stack.S (i386) - functions that cannot be written in C.
 *
 * arch_syscall_6(number, six arguments) makes a system call; the sixth argument is passed in ebp.
 * stack.S of x86_64 describes the other functions. The hook of syscall leaves the number in its own
 * first argument, where a signal handler finds it.
 */
.macro SAVE register
        pushl   \register
        .cfi_adjust_cfa_offset 4
        .cfi_rel_offset \register, 0
.endm

.macro RESTORE register
        popl    \register
        .cfi_adjust_cfa_offset -4
        .cfi_restore \register
.endm

/* Saves the four registers that a function must preserve. After it the arguments begin at 20(%esp). */
.macro SAVE_REGISTERS
        SAVE    %ebx
        SAVE    %esi
        SAVE    %edi
        SAVE    %ebp
.endm

.macro RESTORE_REGISTERS
        RESTORE %ebp
        RESTORE %edi
        RESTORE %esi
        RESTORE %ebx
.endm

        .text
        .globl  arch_syscall_6
        .hidden arch_syscall_6
        .type   arch_syscall_6, @function
arch_syscall_6:
        .cfi_startproc
        endbr32
        SAVE_REGISTERS
        mov     20(%esp), %eax
        mov     24(%esp), %ebx
        mov     28(%esp), %ecx
        mov     32(%esp), %edx
        mov     36(%esp), %esi
        mov     40(%esp), %edi
        mov     44(%esp), %ebp
        int     $0x80
        RESTORE_REGISTERS
        ret
        .cfi_endproc
        .size   arch_syscall_6, . - arch_syscall_6

        .globl  arch_call_on
        .hidden arch_call_on
        .type   arch_call_on, @function
arch_call_on:
        .cfi_startproc
        endbr32
        SAVE    %ebp
        mov     %esp, %ebp
        .cfi_def_cfa_register %ebp
        mov     12(%ebp), %ecx
        mov     16(%ebp), %edx
        mov     8(%ebp), %esp
        sub     $12, %esp
        push    %edx
        call    *%ecx
        mov     %ebp, %esp
        .cfi_def_cfa_register %esp
        RESTORE %ebp
        ret
        .cfi_endproc
        .size   arch_call_on, . - arch_call_on

        .globl  arch_call_unblocked, arch_call_unblocked_end
        .hidden arch_call_unblocked, arch_call_unblocked_end
        .type   arch_call_unblocked, @function
arch_call_unblocked:
        .cfi_startproc
        endbr32
        SAVE_REGISTERS
        mov     $2, %ebx                /* SIG_SETMASK */
        mov     20(%esp), %ecx
        xor     %edx, %edx
        mov     $8, %esi
        mov     $175, %eax              /* rt_sigprocmask */
        int     $0x80
        mov     24(%esp), %eax          /* number */
        mov     28(%esp), %ebp          /* arguments */
        mov     (%ebp), %ebx
        mov     4(%ebp), %ecx
        mov     8(%ebp), %edx
        mov     12(%ebp), %esi
        mov     16(%ebp), %edi
        mov     20(%ebp), %ebp
        int     $0x80
arch_call_unblocked_end:
        RESTORE_REGISTERS
        ret
        .cfi_endproc
        .size   arch_call_unblocked, . - arch_call_unblocked

        .globl  syscall, arch_syscall_hook_end
        .hidden arch_syscall_hook_end, hook_restricting_syscall
        .weak   hook_restricting_syscall /* unit tests do not link it */
        .type   syscall, @function
syscall:
        .cfi_startproc
        endbr32
        cmpl    $354, 4(%esp)           /* seccomp */
        je      hook_restricting_syscall
        cmpl    $172, 4(%esp)           /* prctl */
        jne     2f
        cmpl    $22, 8(%esp)            /* PR_SET_SECCOMP, the first argument of prctl */
        je      hook_restricting_syscall
2:      SAVE_REGISTERS
        mov     20(%esp), %eax
        mov     24(%esp), %ebx
        mov     28(%esp), %ecx
        mov     32(%esp), %edx
        mov     36(%esp), %esi
        mov     40(%esp), %edi
        mov     44(%esp), %ebp
        int     $0x80
arch_syscall_hook_end:
        cmp     $-4095, %eax
        jae     1f
        RESTORE_REGISTERS
        ret
1:      .cfi_adjust_cfa_offset 16
        .cfi_rel_offset %ebp, 0
        .cfi_rel_offset %edi, 4
        .cfi_rel_offset %esi, 8
        .cfi_rel_offset %ebx, 12
        mov     %eax, %esi
        neg     %esi
        call    3f
3:      pop     %ebx
        add     $_GLOBAL_OFFSET_TABLE_+(.-3b), %ebx
        sub     $12, %esp
        .cfi_adjust_cfa_offset 12
        call    *__errno_location@GOT(%ebx)
        add     $12, %esp
        .cfi_adjust_cfa_offset -12
        mov     %esi, (%eax)
        mov     $-1, %eax
        RESTORE_REGISTERS
        ret
        .cfi_endproc
        .size   syscall, . - syscall

        .section .note.GNU-stack, "", @progbits
