/* arch.h (x86_64) - what depends on the CPU: system calls, registers, the signal frame.
 *
 * Each CPU has a folder beside this one, which defines the same names. A constant that is 0 here
 * may have another value there. System calls are raw, so that errno, which belongs to the program,
 * is never written.
 */
#ifndef ARCH_H
#define ARCH_H

#include "x86_calls.h"

#include <stdint.h>

/* Number of slots of a Rust hash table that the library hashbrown compares with one instruction. */
#define ARCH_HASH_GROUP 16
/* Types of relocations: of a GOT slot with an address of data, of a GOT slot for calls, of an
 * address in data. */
#define ARCH_SLOT_DATA 6 /* R_X86_64_GLOB_DAT */
#define ARCH_SLOT_CALL 7 /* R_X86_64_JUMP_SLOT */

#define ARCH_SLOT_WORD 1 /* R_X86_64_64 */

/* The code that is written over the beginning of a function as a breakpoint: an illegal
 * instruction, not longer than any other instruction. */
typedef uint8_t arch_code;
#define ARCH_UNKNOWN_CODE 0x06 /* push %es, which is illegal in 64-bit code */

/* The jump that is written over the beginning of a function (displace.h): its size and its
 * range, both in bytes. */
#define ARCH_JUMP 5
#define ARCH_JUMP_FAR (1ul << 31)

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

/* Returns the address of the thread control block, which lies just above a thread's own stack
 * (glibc). */
static inline uintptr_t arch_thread_block(void)
{
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
}
#define ARCH_TLS_ABOVE_BLOCK 0

static inline void arch_pause(void)
{
    __builtin_ia32_pause();
}

/* Calls function(argument) on another stack. stack_end: upper end of that stack, 16-byte
 * aligned. */
void arch_call_on(void *stack_end, void (*function)(void *), void *argument);
/* Is 1 because an unwinder finds the way from the other stack back to the first stack. */
#define ARCH_CALL_ON_UNWINDS 1
/* Sets the signal mask and makes a system call. A signal handler calls it to repeat the system
 * call that the signal has interrupted, with the program's signal mask. */
long arch_call_unblocked(const uint64_t *mask, long number, const long arguments[6]);
extern const char arch_call_unblocked_end[];
/* Address behind the system call instruction in libleak's hook of libc's function syscall(). */
extern const char arch_syscall_hook_end[];

/* libunwind's name of this CPU and its numbers of registers: the stack pointer, and those that hold
 * the pc of a caller after a call and after a signal. */
#define ARCH_LIBUNWIND "x86_64"
#define ARCH_LIBUNWIND_SP 7
#define ARCH_LIBUNWIND_PC 16
#define ARCH_LIBUNWIND_INTERRUPTED_PC 16

/* Returns which of 16 bytes equal "byte": bit i for bytes[i]. */
static inline uint32_t arch_find_byte(const uint8_t *bytes, uint8_t byte)
{
    typedef char vector __attribute__((vector_size(16), aligned(1)));
    vector wanted = {0};
    wanted += (char)byte;
    return __builtin_ia32_pmovmskb128(*(const vector *)bytes == wanted);
}

/* Is 0 because all calls from one frame have the same sp, so their return addresses are at the same
 * place. */
#define ARCH_SLOTS_VARY 0

/* ---- Unwinding ------------------------------------------------------------------------------- */

/* DWARF numbers of the registers that a CFI row restores: frame pointer, stack pointer, return
 * address. */
#define ARCH_DWARF_FP 6
#define ARCH_DWARF_SP 7
#define ARCH_DWARF_RA 16
/* DWARF number of rbx, on which the loader's _dl_runtime_resolve bases its CFA. */
#define ARCH_DWARF_OTHER 3

/* Offsets of the interrupted registers from sp, when a signal handler has returned. Then sp points
 * at the ucontext: flags 8 bytes, link 8, stack 24, then r8..rip in the order of ucontext_t. */
#define ARCH_SIGNAL_LINK 0
#define ARCH_SIGNAL_FP (40 + 10 * 8)
#define ARCH_SIGNAL_SP (40 + 15 * 8)
#define ARCH_SIGNAL_PC (40 + 16 * 8)

/* Instructions of a signal trampoline without unwind table; 0: libc's trampoline has one. */
#define ARCH_SIGRETURN 0ull

/* How to unwind __do_global_dtors_aux, the only function without unwind table that calls others.
 * The C library's start files put it into every object, and at dlclose it calls the destructors of
 * C++ objects. It is recognised, and its frame found, by the code after its call of __cxa_finalize:
 * call; movb $1, completed; pop %rbp; ret. */
#define ARCH_DTORS_SIZE 14
/* Distance in bytes from sp to the CFA; ARCH_DTORS_FP and ARCH_DTORS_RA are distances from the
 * CFA to the saved frame pointer and to the return address. */
#define ARCH_DTORS_CFA 16
#define ARCH_DTORS_FP (-16)
#define ARCH_DTORS_RA (-8)

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    return code[0] == 0xe8 && code[5] == 0xc6 && code[6] == 0x05 && code[11] == 0x01 &&
           code[12] == 0x5d && code[13] == 0xc3;
}

#endif
