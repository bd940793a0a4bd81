/* arch.h (generic) - for a CPU without a folder of its own, which needs only a page of numbers.
 *
 * The Makefile takes this folder if preload/arch/ has none for $(ARCH), or with
 * ARCH_FOLDER=generic. Everything here is C. What C cannot say is in cpu_NAME.h:
 *
 *   CPU_SYSCALL           one instruction, and the registers that it needs
 *   CPU_SP                the name of the stack pointer
 *   the DWARF numbers of registers, types of relocations, an illegal instruction
 *   CPU_CFA, CPU_RA_AT, CPU_FP_AT    how the compiler lays out the frame of a function that calls others
 *   the places of the registers in a signal frame and in ucontext_t
 *
 * Stacks are walked by the same interpreter of .eh_frame as on other CPUs (unwind/cfi.c): of the
 * CPU it needs only the DWARF numbers of a few registers. What needs instructions is missing:
 * functions are not redirected by a jump written over their beginning (displace.c), a system call
 * that a stop has interrupted is not repeated (CONTEXT_RESTARTS), and stores are not followed step
 * by step (CONTEXT_CAN_STEP).
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__riscv) && __riscv_xlen == 64
#include "cpu_riscv64.h"
#elif defined(__x86_64__)
#include "cpu_x86_64.h"
#else
#error "preload/arch/generic has no cpu_NAME.h for this CPU (CONTRIBUTING.md, Recipes)"
#endif

/* Number of slots of a Rust hash table that the library hashbrown compares with one instruction. */
#ifdef __SSE2__
#define ARCH_HASH_GROUP 16
#else
#define ARCH_HASH_GROUP 8
#endif

/* The size and the range in bytes of a jump that is written over the beginning of a function. No
 * jump is written on such a CPU, but declarations need the numbers. */
#define ARCH_JUMP 4
#define ARCH_JUMP_FAR (1ul << 20)

static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    CPU_SYSCALL(number, a, b, c, d, e, f);
}

static inline uintptr_t arch_stack_pointer(void)
{
    register uintptr_t sp __asm__(CPU_SP);
    __asm__ volatile("" : "=r"(sp));
    return sp;
}

/* Returns the thread pointer. */
static inline uintptr_t arch_thread_block(void)
{
    return CPU_THREAD_POINTER;
}

static inline void arch_pause(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Calls function(argument) on another stack. stack_end: upper end of that stack, 16-byte
 * aligned. */
void arch_call_on(void *stack_end, void (*function)(void *), void *argument);
/* Is 0 because an unwinder does not find the way from the other stack back to the first stack. */
#define ARCH_CALL_ON_UNWINDS 0
/* Sets the signal mask and makes a system call. A signal handler calls it to repeat a system
 * call; on a CPU where CONTEXT_RESTARTS is 0, as here, it is never called. */
long arch_call_unblocked(const uint64_t *mask, long number, const long arguments[6]);
extern const char arch_call_unblocked_end[];
extern const char arch_syscall_hook_end[];

/* Returns which of 16 bytes equal "byte": bit i for bytes[i]. */
static inline uint32_t arch_find_byte(const uint8_t *bytes, uint8_t byte)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < 16; i++)
        found |= (uint32_t)(bytes[i] == byte) << i;
    return found;
}

/* ---- Calls and return addresses -------------------------------------------------------------- */

/* The place of the frame record of a called function: __builtin_frame_address(0) of that
 * function. The compiler lays out all frames in one way: the return address and the caller's fp are
 * at fixed places below the CFA. In a variadic function its saved arguments lie between these
 * places and the CFA, so only the compiler knows the CFA. */
struct arch_link {
    uintptr_t record;
};
#define ARCH_CALLER_SP(its_record)                                                                 \
    ((const void *)(its_record) == __builtin_frame_address(0) ? CPU_CFA_HERE                       \
                                                              : CPU_CFA((uintptr_t)(its_record)))
#define ARCH_CALLER_PC(record) CPU_WORD(CPU_CFA((uintptr_t)(record)) + CPU_RA_AT)
#define ARCH_CALLER_FP(record) CPU_WORD(CPU_CFA((uintptr_t)(record)) + CPU_FP_AT)
#define ARCH_LINK(its_record) ((struct arch_link){(uintptr_t)(its_record)})
#define CPU_WORD(address) (*(const uintptr_t *)(address))

/* Returns where the return address of a call is stored until the call returns. */
static inline uintptr_t arch_return_slot(uintptr_t caller_sp, struct arch_link link)
{
    (void)caller_sp;
    return CPU_CFA(link.record) + CPU_RA_AT;
}

static inline uintptr_t arch_strip(uintptr_t pc)
{
    return pc;
}

/* Is 0 because all calls from one frame have the same sp, so their return addresses are at the same
 * place. */
#define ARCH_SLOTS_VARY 0

static inline uintptr_t arch_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

/* Is 1 because a CPU may tag memory, so that parts of one readable page fault. */
#define ARCH_MEMORY_TAGS 1

/* Is 0 because arch_find_call recognises no call, so code without unwind table ends a stack. */
#define ARCH_FINDS_CALLS 0
#define ARCH_CALL_MOST 4

static inline bool arch_find_call(const uint8_t *end, uintptr_t pc, uintptr_t *target)
{
    (void)end, (void)pc;
    *target = 0;
    return false;
}

/* ---- Unwinding ------------------------------------------------------------------------------- */

static inline bool arch_cfa_signs(uint8_t opcode)
{
    (void)opcode;
    return false;
}

static inline bool arch_cie_letter(char letter)
{
    (void)letter;
    return false;
}

/* On other CPUs: how to unwind __do_global_dtors_aux, a function of the C library's start files
 * without unwind table. Here it has a table, so arch_is_dtors always says no. */
#define ARCH_DTORS_SIZE 4
#define ARCH_DTORS_CFA 0
#define ARCH_DTORS_FP 0
#define ARCH_DTORS_RA 0

static inline _Bool arch_is_dtors(const uint8_t *code)
{
    (void)code;
    return 0;
}

#endif
