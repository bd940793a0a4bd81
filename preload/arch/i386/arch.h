/* arch.h (i386) - what depends on the CPU: system calls, registers, the signal frame.
 *
 * The same names as in the folder for x86_64. 32-bit programs on an x86_64 kernel, and real 32-bit
 * machines: nothing here needs more than an i686. System calls are raw, so that errno, which belongs
 * to the program, is never written.
 */
#ifndef ARCH_H
#define ARCH_H

#include "x86_calls.h"

#include <stdint.h>

#define ARCH_HASH_GROUP 16 /* slots of a Rust hash table that are probed at once */
/* Relocation types: of a slot for an address, of a slot for calls. */
#define ARCH_SLOT_DATA 6 /* R_386_GLOB_DAT */
#define ARCH_SLOT_CALL 7 /* R_386_JMP_SLOT */

#define ARCH_SLOT_WORD 1 /* R_386_32: an address in initialised data */

/* Written over the beginning of a function as a breakpoint: an illegal instruction. All of one byte
 * have a meaning in 32-bit code, so this may cover two instructions: nothing may jump to the second.
 * Functions begin at any address (gcc -O1). */
typedef uint16_t __attribute__((aligned(1))) arch_code;
#define ARCH_UNKNOWN_CODE 0x0b0f /* ud2 */

/* The jump that is written over the beginning of a function: its size and range (displace.h), which
 * is all addresses. */
#define ARCH_JUMP 5
#define ARCH_JUMP_FAR UINT32_MAX

/* Makes a system call with all six arguments, in stack.S, because the sixth is in the frame
 * pointer. */
long arch_syscall_6(long number, long a, long b, long c, long d, long e, long f);

/* clone is made in place, because its child, which may share the stack, would return from a
 * function, too; it has no sixth argument. */
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

/* The thread control block lies just above a thread's own stack (glibc). */
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

/* Calls function(argument) on another stack, which ends (16-byte aligned) at stack_end. */
void arch_call_on(void *stack_end, void (*function)(void *), void *argument);
#define ARCH_CALL_ON_UNWINDS 1 /* an unwinder gets back to the first stack */
/* Makes a system call under a signal mask, from a signal handler. */
long arch_call_unblocked(const uint64_t *mask, long number, const long arguments[6]);
extern const char arch_call_unblocked_end[] __attribute__((visibility("hidden")));
/* behind the system call of the hook of syscall() */
extern const char arch_syscall_hook_end[] __attribute__((visibility("hidden")));

/* libunwind's names for this CPU, for the stack pointer, and for the registers that hold the pc of
 * a caller: after a call, and after a signal. */
#define ARCH_LIBUNWIND "x86"
#define ARCH_LIBUNWIND_SP 7 /* libunwind counts otherwise than DWARF here */
#define ARCH_LIBUNWIND_PC 8
#define ARCH_LIBUNWIND_INTERRUPTED_PC 8

/* Which of these 16 bytes equal that byte: bit i for bytes[i]. */
static inline uint32_t arch_find_byte(const uint8_t *bytes, uint8_t byte)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++)
        found |= (uint32_t)(bytes[i] == byte) << i;
    return found;
}

/* Arguments of a call lie below the caller's frame: return addresses of calls from one frame are in
 * different places, and one of a call that was left may survive in a gap of a later frame. */
#define ARCH_SLOTS_VARY 1

/* Frames have gaps, for calls need a multiple of 16 bytes of stack: stack_scrub.h. */
#define ARCH_SCRUBS_FIRST 1

/* ---- Unwinding ------------------------------------------------------------------------------- */

/* DWARF numbers, in .eh_frame, of the three registers that a row restores. */
#define ARCH_DWARF_FP 5
#define ARCH_DWARF_SP 4
#define ARCH_DWARF_RA 8
/* The number of ebx: no code is known here that bases its CFA on another register behind a call. */
#define ARCH_DWARF_OTHER 3

/* When a signal handler has returned, sp points at its arguments: number, siginfo, ucontext; behind
 * them are the siginfo (128 bytes) and the ucontext: flags 4, link 4, stack 12, then gs .. ss. Byte
 * offsets of the interrupted registers. */
#define ARCH_SIGNAL_REGISTERS (12 + 128 + 20)
#define ARCH_SIGNAL_LINK 0
#define ARCH_SIGNAL_FP (ARCH_SIGNAL_REGISTERS + 6 * 4)
#define ARCH_SIGNAL_SP (ARCH_SIGNAL_REGISTERS + 7 * 4)
#define ARCH_SIGNAL_PC (ARCH_SIGNAL_REGISTERS + 14 * 4)

/* A handler without SA_SIGINFO has one argument, which the registers follow. The third word of the
 * other kind is the address of its ucontext. */
#define ARCH_SIGNAL_SHORTER (ARCH_SIGNAL_REGISTERS - 4)
#define ARCH_SIGNAL_CONTEXT 8 /* where that address is; what it is, from there: */
#define ARCH_SIGNAL_CONTEXT_AT (12 + 128)

/* The instructions of a signal trampoline without unwind table; the vDSO's have tables. */
#define ARCH_SIGRETURN 0ull

/* The only function without unwind table that calls others: the C library's start files put
 * __do_global_dtors_aux into every object, and at dlclose it calls the destructors of C++ objects.
 * It is recognised, and its frame found, by the code after its call of __cxa_finalize:
 * add $16, %esp; call; movb $1, completed(%ebx); mov -4(%ebp), %ebx; leave; ret. */
#define ARCH_DTORS_SIZE 20
#define ARCH_DTORS_CFA 32 /* above sp; then, from the CFA: */
#define ARCH_DTORS_FP (-8)
#define ARCH_DTORS_RA (-4)

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    return __builtin_memcmp(code, "\x83\xc4\x10\xe8", 4) == 0 && code[8] == 0xc6 &&
           code[9] == 0x83 && code[14] == 0x01 &&
           __builtin_memcmp(code + 15, "\x8b\x5d\xfc\xc9\xc3", 5) == 0;
}

#endif
