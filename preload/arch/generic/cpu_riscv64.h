/* cpu_riscv64.h - the numbers of riscv64 that arch.h and context.h in this folder need. */
#ifndef CPU_RISCV64_H
#define CPU_RISCV64_H

#define ARCH_SLOT_DATA                                                                             \
    2                    /* R_RISCV_64, because a GOT slot for an address has no relocation type of
                          * its own */
#define ARCH_SLOT_CALL 5 /* R_RISCV_JUMP_SLOT */
#define ARCH_SLOT_WORD 2 /* R_RISCV_64 */

typedef uint16_t arch_code;
#define ARCH_UNKNOWN_CODE 0 /* c.unimp, not longer than any other instruction */

#define CPU_SYSCALL(number, a, b, c, d, e, f)                                                      \
    register long a7 __asm__("a7") = number;                                                       \
    register long a0 __asm__("a0") = a;                                                            \
    register long a1 __asm__("a1") = b;                                                            \
    register long a2 __asm__("a2") = c;                                                            \
    register long a3 __asm__("a3") = d;                                                            \
    register long a4 __asm__("a4") = e;                                                            \
    register long a5 __asm__("a5") = f;                                                            \
    __asm__ volatile("ecall"                                                                       \
                     : "+r"(a0)                                                                    \
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)                        \
                     : "memory");                                                                  \
    return a0
#define CPU_SP "sp"
#define CPU_THREAD_POINTER ((uintptr_t)__builtin_thread_pointer())
#define ARCH_TLS_ABOVE_BLOCK                                                                       \
    1 /* 1: static TLS begins at the thread pointer, where struct pthread ends */
#define CONTEXT_DTV (-16)

/* libunwind's name of this CPU and its numbers of registers: the stack pointer, and those that hold
 * the pc of a caller after a call and after a signal. */
#define ARCH_LIBUNWIND "riscv"
#define ARCH_LIBUNWIND_SP 2
#define ARCH_LIBUNWIND_PC 1
#define ARCH_LIBUNWIND_INTERRUPTED_PC 32

/* The frame of a function: fp is the CFA, and the record {caller's fp, return address} lies below
 * it. */
#define ARCH_LINK_REGISTER 1
#define ARCH_FRAME_RECORD (-16)
#define CPU_CFA(record) (record)
#define CPU_CFA_HERE ((uintptr_t)__builtin_dwarf_cfa())
#define CPU_RA_AT (-8)
#define CPU_FP_AT (-16)

#define ARCH_DWARF_FP 8
#define ARCH_DWARF_SP 2
#define ARCH_DWARF_RA 1
#define ARCH_DWARF_OTHER 9 /* s1; no hand-written code is known that bases its CFA on it */

/* Offsets of the interrupted registers from sp, when a signal handler has returned. Then sp points
 * at the siginfo, which the ucontext follows; its first register is pc. The signal trampoline has
 * no unwind table and is recognised by its instructions: li a7, 139; ecall. */
#define CPU_SIGNAL_REGISTER(i) (128 + (int)offsetof(ucontext_t, uc_mcontext) + 8 * (i))
#define ARCH_SIGNAL_PC CPU_SIGNAL_REGISTER(0)
#define ARCH_SIGNAL_LINK CPU_SIGNAL_REGISTER(1)
#define ARCH_SIGNAL_SP CPU_SIGNAL_REGISTER(2)
#define ARCH_SIGNAL_FP CPU_SIGNAL_REGISTER(8)
#define ARCH_SIGRETURN 0x0000007308b00893ull

/* Indices in the array of saved registers: pc, then x1 to x31. */
#define CPU_CONTEXT(context) ((const uintptr_t *)(context)->uc_mcontext.__gregs)
#define CPU_CONTEXT_PC 0
#define CPU_CONTEXT_LINK 1
#define CPU_CONTEXT_SP 2
#define CPU_CONTEXT_FP 8
#define CPU_CONTEXT_FIRST 1
#define CPU_CONTEXT_COUNT 31
#define CPU_CONTEXT_IS_KEPT(i) ((i) == 2 || (i) == 8 || (i) == 9 || ((i) >= 18 && (i) <= 27))
#define CPU_RED_ZONE 0
#define CPU_RESTORER 0ul
#define ARCH_HAS_RESTORER 0 /* 0: the kernel's struct sigaction has no restorer */

#endif
