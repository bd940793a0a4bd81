/* hold_in_register(take, nr, a, b, c, d): calls take(), keeps what it returns in one callee-saved
 * register and nowhere else, and makes the system call nr until it does not fail with EINTR. */
#ifndef IN_REGISTER_H
#define IN_REGISTER_H

long hold_in_register(void *(*take)(void), long nr, long a, long b, long c, long d);
void scrub_all(void);

/* scrub_all() overwrites the dead frames: the address must not stay behind in one. */
__attribute__((noinline)) void scrub_all(void)
{
    volatile char dead[8192];

    for (unsigned i = 0; i < sizeof dead; i++)
        dead[i] = 0;
}

#if defined __x86_64__
asm(".text\n"
    ".globl hold_in_register\n"
    ".type hold_in_register, @function\n"
    "hold_in_register:\n"
    ".cfi_startproc\n"
    "push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbp, 0\n"
    "mov %rsp, %rbp\n .cfi_def_cfa_register rbp\n"
    "push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n push %r15\n"
    "mov %rsi, %r12\n mov %rdx, %r13\n mov %rcx, %r14\n mov %r8, %r15\n mov %r9, (%rsp)\n"
    "call *%rdi\n"
    "mov %rax, %rbx\n"
    "call scrub_all\n"
    "1: mov %r12, %rax\n mov %r13, %rdi\n mov %r14, %rsi\n mov %r15, %rdx\n mov (%rsp), %r10\n"
    "xor %r8d, %r8d\n xor %r9d, %r9d\n"
    "syscall\n"
    "cmp $-4, %rax\n"
    "je 1b\n"
    "mov -8(%rbp), %rbx\n mov -16(%rbp), %r12\n mov -24(%rbp), %r13\n mov -32(%rbp), %r14\n mov -40(%rbp), %r15\n"
    "leave\n .cfi_def_cfa rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size hold_in_register, .-hold_in_register\n");
#elif defined __aarch64__
asm(".text\n"
    ".globl hold_in_register\n"
    ".type hold_in_register, @function\n"
    "hold_in_register:\n"
    ".cfi_startproc\n"
    "stp x29, x30, [sp, -80]!\n .cfi_def_cfa_offset 80\n .cfi_offset 29, -80\n .cfi_offset 30, -72\n"
    "mov x29, sp\n"
    "stp x19, x20, [sp, 16]\n stp x21, x22, [sp, 32]\n stp x23, x24, [sp, 48]\n"
    "mov x20, x1\n mov x21, x2\n mov x22, x3\n mov x23, x4\n mov x24, x5\n"
    "blr x0\n"
    "mov x19, x0\n"
    "bl scrub_all\n"
    "1: mov x8, x20\n mov x0, x21\n mov x1, x22\n mov x2, x23\n mov x3, x24\n mov x4, 0\n mov x5, 0\n"
    "svc 0\n"
    "cmn x0, 4\n"
    "beq 1b\n"
    "ldp x19, x20, [sp, 16]\n ldp x21, x22, [sp, 32]\n ldp x23, x24, [sp, 48]\n"
    "ldp x29, x30, [sp], 80\n .cfi_def_cfa_offset 0\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size hold_in_register, .-hold_in_register\n");
#endif

#endif
