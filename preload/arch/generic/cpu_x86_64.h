/* cpu_x86_64.h - the numbers of x86_64 that arch.h and context.h in this folder need. x86_64 has a
 * folder of its own, and is built with this one (make ARCH_FOLDER=generic) only to test the other
 * files here without an emulator. */
#ifndef CPU_X86_64_H
#define CPU_X86_64_H

#define ARCH_SLOT_DATA 6 /* R_X86_64_GLOB_DAT */
#define ARCH_SLOT_CALL 7 /* R_X86_64_JUMP_SLOT */
#define ARCH_SLOT_WORD 1 /* R_X86_64_64 */

typedef uint8_t arch_code;
#define ARCH_UNKNOWN_CODE 0x06 /* push %es, which is illegal in 64-bit code */

#define CPU_SYSCALL(number, a, b, c, d, e, f)                                                      \
    register long r10 __asm__("r10") = d;                                                          \
    register long r8 __asm__("r8") = e;                                                            \
    register long r9 __asm__("r9") = f;                                                            \
    long result;                                                                                   \
    __asm__ volatile("syscall"                                                                     \
                     : "=a"(result)                                                                \
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)             \
                     : "rcx", "r11", "memory");                                                    \
    return result
#define CPU_SP "rsp"
/* Reads the thread pointer: the first word of the thread control block is the block's own address. */
#define CPU_THREAD_POINTER                                                                         \
    ({                                                                                             \
        uintptr_t block_;                                                                          \
        __asm__("mov %%fs:0, %0" : "=r"(block_));                                                  \
        block_;                                                                                    \
    })
#define ARCH_TLS_ABOVE_BLOCK 0
#define CONTEXT_DTV 8

#define ARCH_LIBUNWIND "x86_64"
#define ARCH_LIBUNWIND_SP 7
#define ARCH_LIBUNWIND_PC 16
#define ARCH_LIBUNWIND_INTERRUPTED_PC 16

#define ARCH_LINK_REGISTER 0
#define ARCH_FRAME_RECORD 0
#define CPU_CFA(record) ((record) + 16)
#define CPU_CFA_HERE ((uintptr_t)__builtin_frame_address(0) + 16)
#define CPU_RA_AT (-8)
#define CPU_FP_AT (-16)

#define ARCH_DWARF_FP 6
#define ARCH_DWARF_SP 7
#define ARCH_DWARF_RA 16
#define ARCH_DWARF_OTHER 3 /* rbx, on which the loader's _dl_runtime_resolve bases its CFA */

#define ARCH_SIGNAL_LINK 0
#define ARCH_SIGNAL_FP (40 + 10 * 8)
#define ARCH_SIGNAL_SP (40 + 15 * 8)
#define ARCH_SIGNAL_PC (40 + 16 * 8)
#define ARCH_SIGRETURN 0ull /* libc's signal trampoline has an unwind table */

#define CPU_CONTEXT(context) ((const uintptr_t *)(context)->uc_mcontext.gregs)
#define CPU_CONTEXT_PC REG_RIP
#define CPU_CONTEXT_LINK (-1)
#define CPU_CONTEXT_SP REG_RSP
#define CPU_CONTEXT_FP REG_RBP
#define CPU_CONTEXT_FIRST 0
#define CPU_CONTEXT_COUNT REG_RIP
#define CPU_CONTEXT_IS_KEPT(i)                                                                     \
    ((i) == REG_RBX || (i) == REG_RBP || ((i) >= REG_R12 && (i) <= REG_R15))
#define CPU_RED_ZONE 128
#define CPU_RESTORER 0x04000000ul
#define ARCH_HAS_RESTORER 1 /* 1: the kernel's struct sigaction has a restorer */

#endif
