/* arch.h (i386) - what depends on the CPU: system calls, registers, the signal frame.
 *
 * It defines the same names as arch.h of x86_64, for 32-bit programs on an x86_64 kernel and for
 * real 32-bit machines: nothing here needs more than an i686. System calls are raw, so that errno,
 * which belongs to the program, is never written.
 */
#ifndef ARCH_H
#define ARCH_H

#include "x86_calls.h"

#include <stdint.h>

/* Number of slots of a Rust hash table that the library hashbrown compares with one instruction. */
#define ARCH_HASH_GROUP 16
/* Types of relocations: of a GOT slot with an address of data, of a GOT slot for calls, of an
 * address in data. */
#define ARCH_SLOT_DATA 6 /* R_386_GLOB_DAT */
#define ARCH_SLOT_CALL 7 /* R_386_JMP_SLOT */

#define ARCH_SLOT_WORD 1 /* R_386_32 */

/* The code that is written over the beginning of a function as a breakpoint: an illegal
 * instruction. In 32-bit code every single byte is a legal instruction, so it has two bytes and may
 * cover two instructions: nothing may jump to the second. It is not aligned, because functions may
 * begin at any address (gcc -O1). */
typedef uint16_t __attribute__((aligned(1))) arch_code;
#define ARCH_UNKNOWN_CODE 0x0b0f /* ud2 */

/* The jump that is written over the beginning of a function (displace.h): its size and its range
 * in bytes; the range is all addresses. */
#define ARCH_JUMP 5
#define ARCH_JUMP_FAR UINT32_MAX

/* Makes a system call with six arguments. It is in stack.S, because the sixth is passed in the
 * frame pointer. */
long arch_syscall_6(long number, long a, long b, long c, long d, long e, long f);

/* Number of the system call clone. clone is made inline, because its child may share the stack
 * and would return from a function, too. clone has no sixth argument. */
#define ARCH_SYSCALL_CLONE 120
static inline __attribute__((always_inline)) long arch_syscall(long number, long a, long b, long c,
                                                               long d, long e, long f)
{
    long result;
    if (number != ARCH_SYSCALL_CLONE)
        return arch_syscall_6(number, a, b, c, d, e, f);
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                     : "memory");
    return result;
}

static inline uintptr_t arch_stack_pointer(void)
{
    uintptr_t sp;
    __asm__ volatile("mov %%esp, %0" : "=r"(sp));
    return sp;
}

/* Returns the address of the thread control block, which lies just above a thread's own stack
 * (glibc). */
static inline uintptr_t arch_thread_block(void)
{
    uintptr_t block;
    __asm__("mov %%gs:0, %0" : "=r"(block));
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
extern const char arch_call_unblocked_end[] __attribute__((visibility("hidden")));
/* Address behind the system call instruction in libleak's hook of libc's function syscall(). */
extern const char arch_syscall_hook_end[] __attribute__((visibility("hidden")));

/* libunwind's name of this CPU and its numbers of registers: the stack pointer, and those that hold
 * the pc of a caller after a call and after a signal. */
#define ARCH_LIBUNWIND "x86"
#define ARCH_LIBUNWIND_SP 7 /* libunwind's number, which differs from DWARF's */
#define ARCH_LIBUNWIND_PC 8
#define ARCH_LIBUNWIND_INTERRUPTED_PC 8

/* Returns which of 16 bytes equal "byte": bit i for bytes[i]. */
static inline uint32_t arch_find_byte(const uint8_t *bytes, uint8_t byte)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++)
        found |= (uint32_t)(bytes[i] == byte) << i;
    return found;
}

/* Is 1 because arguments of a call lie below the caller's frame, so the return addresses of calls
 * from one frame are at different places, and one of a call that a longjmp has left may survive in
 * a gap of a later frame. */
#define ARCH_SLOTS_VARY 1

/* Is 1 because frames have gaps: at a call the stack pointer must be a multiple of 16. So the stack
 * is scrubbed before a leak check's first frame (stack_scrub.h). */
#define ARCH_SCRUBS_FIRST 1

/* ---- Unwinding ------------------------------------------------------------------------------- */

/* DWARF numbers, as in .eh_frame, of the registers that a CFI row restores: frame pointer, stack
 * pointer, return address. */
#define ARCH_DWARF_FP 5
#define ARCH_DWARF_SP 4
#define ARCH_DWARF_RA 8
/* DWARF number of ebx. On other CPUs it is a register on which some code bases its CFA; no such
 * code is known here. */
#define ARCH_DWARF_OTHER 3

/* Offsets of the interrupted registers from sp, when a signal handler has returned. Then sp points
 * at the handler's arguments (number, siginfo, ucontext); behind them are the siginfo (128 bytes)
 * and the ucontext: flags 4 bytes, link 4, stack 12, then gs .. ss. */
#define ARCH_SIGNAL_REGISTERS (12 + 128 + 20)
#define ARCH_SIGNAL_LINK 0
#define ARCH_SIGNAL_FP (ARCH_SIGNAL_REGISTERS + 6 * 4)
#define ARCH_SIGNAL_SP (ARCH_SIGNAL_REGISTERS + 7 * 4)
#define ARCH_SIGNAL_PC (ARCH_SIGNAL_REGISTERS + 14 * 4)

/* Offset of the interrupted registers in the frame of a handler without SA_SIGINFO, which has
 * one argument, directly followed by the registers. The code to which such a handler returns begins
 * with an instruction that takes the argument from the stack; by it the frame is recognised. The
 * arguments do not tell, because a handler may overwrite them. */
#define ARCH_SIGNAL_SHORTER (ARCH_SIGNAL_REGISTERS - 4)
#define ARCH_SIGNAL_SHORTER_CODE 0x58 /* pop %eax */

/* Instructions of a signal trampoline without unwind table; 0: the trampolines are in the vDSO,
 * which has unwind tables. */
#define ARCH_SIGRETURN 0ull

/* How to unwind __do_global_dtors_aux, the only function without unwind table that calls others.
 * The C library's start files put it into every object, and at dlclose it calls the destructors of
 * C++ objects. It is recognised, and its frame found, by the code after its call of __cxa_finalize:
 * add $16, %esp; call; movb $1, completed(%ebx); mov -4(%ebp), %ebx; leave; ret. */
#define ARCH_DTORS_SIZE 20
/* Distance in bytes from sp to the CFA; ARCH_DTORS_FP and ARCH_DTORS_RA are distances from the
 * CFA to the saved frame pointer and to the return address. */
#define ARCH_DTORS_CFA 32
#define ARCH_DTORS_FP (-8)
#define ARCH_DTORS_RA (-4)

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    return __builtin_memcmp(code, "\x83\xc4\x10\xe8", 4) == 0 && code[8] == 0xc6 &&
           code[9] == 0x83 && code[14] == 0x01 &&
           __builtin_memcmp(code + 15, "\x8b\x5d\xfc\xc9\xc3", 5) == 0;
}

#endif
