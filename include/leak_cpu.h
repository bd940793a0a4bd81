/* leak_cpu.h - the CPUs that libleak runs on: what the library and the tools both have to know of
 * each CPU. Everything else about a CPU is in its folder preload/arch/CPU/, or in
 * preload/arch/generic/cpu_CPU.h.
 */
#ifndef LEAK_CPU_H
#define LEAK_CPU_H

#include <elf.h>
#include <limits.h>
#include <linux/audit.h>

/* The table of CPUs: X(NAME, machine, tls, registers...)
 *   NAME       the CPU as uname -m names it
 *   machine    the CPU in ELF headers
 *   tls        how many bytes above the thread pointer the program's thread-local variables begin (variant I
 *              of TLS); LEAK_TLS_BELOW: they end at the thread pointer (variant II)
 *   registers  names of the registers in a recorded crash, in the order of the kernel, without pc */
#define LEAK_TLS_BELOW INT_MIN
#define LEAK_CPU_TABLE(X)                                                                          \
    X(x86_64, EM_X86_64, LEAK_TLS_BELOW, "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",     \
      "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp")                                      \
    X(i386, EM_386, LEAK_TLS_BELOW, "edi", "esi", "ebp", "esp", "ebx", "edx", "ecx", "eax")        \
    X(aarch64, EM_AARCH64, 16, "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",  \
      "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",   \
      "x24", "x25", "x26", "x27", "x28", "x29", "x30")                                             \
    X(riscv64, EM_RISCV, 0, "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1",      \
      "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",   \
      "s11", "t3", "t4", "t5", "t6")

/* The CPU that this is compiled for, as ELF headers (MACHINE) and seccomp filters (AUDIT) name it;
 * and how ELF headers name the CPU of other programs that run on it. */
#if defined(__x86_64__)
#define LEAK_CPU_MACHINE EM_X86_64
#define LEAK_CPU_MACHINE_32 EM_386 /* e_machine of 32-bit programs that run here; EM_NONE: none */
/* e_machine of programs of the other word size that run here */
#define LEAK_CPU_MACHINE_OTHER EM_386
#define LEAK_CPU_AUDIT AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define LEAK_CPU_MACHINE EM_386
#define LEAK_CPU_MACHINE_32 EM_386 /* e_machine of 32-bit programs that run here; EM_NONE: none */
#define LEAK_CPU_MACHINE_OTHER EM_X86_64
#define LEAK_CPU_AUDIT AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define LEAK_CPU_MACHINE EM_AARCH64
#define LEAK_CPU_MACHINE_32 EM_NONE
#define LEAK_CPU_MACHINE_OTHER EM_NONE
#define LEAK_CPU_AUDIT AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64 /* riscv64 */
#define LEAK_CPU_MACHINE EM_RISCV
#define LEAK_CPU_MACHINE_32 EM_NONE
#define LEAK_CPU_MACHINE_OTHER EM_NONE
#define LEAK_CPU_AUDIT AUDIT_ARCH_RISCV64
#else
#error "include/leak_cpu.h has no row for this CPU (CONTRIBUTING.md, Recipes)"
#endif

#endif
