// How main returns is its own affair: libc calls exit next, and needs neither the stack pointer nor the registers that
// functions preserve. Free Pascal's main returns with another stack pointer (pascal), also in another thread (halt);
// others may lose the registers, or be on another stack. All end as alone, also with enabled=0, and the leak is lost.
// CFLAGS: -O0 -g -fno-builtin
// CFLAGS: -O2 -g -fno-builtin
// RUN: all() { for how in plain pascal registers stack halt; do "$@" %t $how 2>&1; echo "$? $how"; done; }
// RUN: all ${EMULATOR:-env} >alone; cat alone; all %leak >under; diff alone under || exit 1
// RUN: export LIBLEAK_OPTIONS=enabled=0; all %leak >off; diff alone off
// EXPECT: ^pascal is done$
// EXPECT: ^7 pascal$
// REFUSE: ^(0|1..) [a-z]*$
// JSON: len(procs) == 5 and all(q.end.how == "exit" and q.end.value == 7 for q in procs)
// JSON: emulated or all(verdict("lose", process=q) == {"lost": (1, 1234)} for q in procs)
// JSON: all(of("lose", process=q).blocks == 1 and not q.errors for q in procs)

#include "lib/verdicts.h"
#include <pthread.h>
#include <stdint.h>

LOSE(lose, 1234)

enum how { PLAIN, PASCAL, REGISTERS, STACK, HALT };
static const char *const names[] = {"plain", "pascal", "registers", "stack", "halt"};

__attribute__((used)) uintptr_t main_returns_to;
__attribute__((used, aligned(16))) char other_stack[1 << 18];
extern char other_stack_end[];
void *return_from_here(void *);

#if defined __x86_64__
__asm__(".text; .globl main; .type main, @function; main: .cfi_startproc;"
        "mov (%rsp), %rax; mov %rax, main_returns_to(%rip);"
        "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; sub $0x208, %rsp; .cfi_def_cfa_offset 0x240;"
        "call work; .cfi_undefined %rip;"
        "cmp $1, %eax; jb 0f; je 1f; cmp $3, %eax; jb 2f;"
        "lea other_stack + 0x3fff0(%rip), %rsp; jmp return_from_here;"
        "0: add $0x208, %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; mov $7, %eax; ret;"
        "1: mov 0x230(%rsp), %rbp; mov 0x238(%rsp), %rbx; jmp return_from_here;"
        "2: mov $-1, %rbx; mov %rbx, %rbp; mov %rbx, %r12; mov %rbx, %r13; mov %rbx, %r14; mov %rbx, %r15;"
        "add $0x238, %rsp; mov $7, %eax; ret;"
        ".cfi_endproc; .size main, . - main;"
        ".globl return_from_here; return_from_here: mov $7, %eax; jmp *main_returns_to(%rip)");
#elif defined __aarch64__
__asm__(".text; .globl main; .type main, %function; main: .cfi_startproc;"
        "adrp x9, main_returns_to; str x30, [x9, :lo12:main_returns_to];"
        "stp x29, x30, [sp, #-96]!; .cfi_def_cfa_offset 96; .cfi_offset 29, -96; .cfi_offset 30, -88; mov x29, sp;"
        "stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]; stp x25, x26, [sp, #64];"
        "stp x27, x28, [sp, #80]; bl work; cmp w0, #1; b.lo 0f; b.eq 1f; cmp w0, #3; b.lo 2f;"
        "adrp x9, other_stack; add x9, x9, :lo12:other_stack; add sp, x9, #0x3f, lsl #12; b return_from_here;"
        "0: ldp x19, x20, [sp, #16]; ldp x21, x22, [sp, #32]; ldp x23, x24, [sp, #48]; ldp x25, x26, [sp, #64];"
        "ldp x27, x28, [sp, #80]; ldp x29, x30, [sp], #96; mov w0, #7; ret;"
        "1: b return_from_here;"
        "2: ldp x29, x30, [sp], #96; mov x29, #-1; mov x19, x29; mov x20, x29; mov x21, x29; mov x22, x29; mov x23, x29;"
        "mov x24, x29; mov x25, x29; mov x26, x29; mov x27, x29; mov x28, x29; mov w0, #7; ret;"
        ".cfi_endproc; .size main, . - main;"
        ".globl return_from_here; return_from_here: adrp x9, main_returns_to;"
        "ldr x30, [x9, :lo12:main_returns_to]; mov w0, #7; ret");
#endif

__attribute__((used)) enum how work(int argc, char **argv)
{
    pthread_t thread;

    lose();
    printf("%s is done\n", argv[1]);
    enum how how = PLAIN;
    while (strcmp(argv[1], names[how]))
        how++;
    if (how == HALT) {
        pthread_create(&thread, NULL, return_from_here, NULL);
        pthread_join(thread, NULL);
    }
    scrub();
    return how;
}
