/* leak_cpu.h - the CPUs that libleak runs on: what the library and the tools both have to know of each.
 * Everything else of a CPU is in its folder, preload/arch/CPU/.
 */
#ifndef LEAK_CPU_H
#define LEAK_CPU_H

#include <elf.h>
#include <linux/audit.h>

/* X(NAME, machine, tls, registers...)
 *   NAME       as compilers and uname -m call it: __NAME__ and preload/arch/NAME/
 *   machine    in ELF headers
 *   tls        thread-local variables of the program: 0 = they end at the thread pointer (variant
 *              II); N = they begin N bytes above it (variant I)
 *   registers  names of those in a recorded crash, in the order of the kernel, without pc */
#define LEAK_CPU_TABLE(X)                                                                          \
    X(x86_64, EM_X86_64, 0, "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi",    \
      "rbp", "rbx", "rdx", "rax", "rcx", "rsp")                                                    \
    X(i386, EM_386, 0, "edi", "esi", "ebp", "esp", "ebx", "edx", "ecx", "eax")                     \
    X(aarch64, EM_AARCH64, 16, "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",  \
      "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",   \
      "x24", "x25", "x26", "x27", "x28", "x29", "x30")

/* The CPU that this is compiled for: in ELF headers, and in seccomp filters. */
#if defined(__x86_64__)
#define LEAK_CPU_MACHINE EM_X86_64
#define LEAK_CPU_MACHINE_32 EM_386    /* of 32-bit programs that run on it; EM_NONE (0): none do */
#define LEAK_CPU_MACHINE_OTHER EM_386 /* of programs of another word size beside these */
#define LEAK_CPU_AUDIT AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define LEAK_CPU_MACHINE EM_386
#define LEAK_CPU_MACHINE_32 EM_386
#define LEAK_CPU_MACHINE_OTHER EM_X86_64
#define LEAK_CPU_AUDIT AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define LEAK_CPU_MACHINE EM_AARCH64
#define LEAK_CPU_MACHINE_32 EM_NONE
#define LEAK_CPU_MACHINE_OTHER EM_NONE
#define LEAK_CPU_AUDIT AUDIT_ARCH_AARCH64
#else
#error "include/leak_cpu.h has no row for this CPU (CONTRIBUTING.md, Recipes)"
#endif

#endif
