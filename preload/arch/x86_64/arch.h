/* arch.h (x86_64) - the few things a CPU decides: system calls, registers, the signal frame.
 *
 * Porting = a folder beside this one with the same names. System calls are raw so that errno, which
 * belongs to the program, is never written.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdint.h>

#define ARCH_MACHINE 62 /* EM_X86_64 */

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uintptr_t arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
    return sp;
}

/* The thread control block lies just above a thread's own stack (glibc). */
static inline uintptr_t arch_thread_block(void)
{
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
}

static inline void arch_pause(void)
{
    __builtin_ia32_pause();
}

/* function(argument) on another stack, which ends (16-byte aligned) at stack_end. */
void arch_call_on(void *stack_end, void (*function)(void *), void *argument);

/* libunwind's names for this CPU and its pc. */
#define ARCH_LIBUNWIND "x86_64"
#define ARCH_LIBUNWIND_PC 16

/* DWARF register numbers of the three registers that a row restores. */
#define ARCH_DWARF_FP 6
#define ARCH_DWARF_SP 7
#define ARCH_DWARF_RA 16
/* rbx, which the loader's _dl_runtime_resolve counts its CFA from. */
#define ARCH_DWARF_OTHER 3

/* When a signal handler has returned, sp points at the ucontext; byte offsets of the interrupted
 * registers inside it (struct ucontext: flags 8, link 8, stack 24, then r8..rip in this order). */
#define ARCH_SIGNAL_FP (40 + 10 * 8)
#define ARCH_SIGNAL_SP (40 + 15 * 8)
#define ARCH_SIGNAL_PC (40 + 16 * 8)

/* The one function without an unwind table that has others above it: the C library's start files put
 * __do_global_dtors_aux into every object, and at dlclose the destructors of C++ objects run below it.
 * What follows the call of __cxa_finalize tells where its frame is: call; movb $1, completed; pop %rbp; ret. */
#define ARCH_DTORS_SIZE 14
#define ARCH_DTORS_CFA 16 /* above sp; then, from the CFA: */
#define ARCH_DTORS_FP (-16)
#define ARCH_DTORS_RA (-8)

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    return code[0] == 0xe8 && code[5] == 0xc6 && code[6] == 0x05 && code[11] == 0x01 &&
           code[12] == 0x5d && code[13] == 0xc3;
}

#endif
