/* x86_calls.h - what 32-bit and 64-bit x86 have in common: return addresses, and unwind tables
 * without additions for this CPU. arch.h of x86_64 and of i386 includes it. */
#ifndef ARCH_X86_CALLS_H
#define ARCH_X86_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the address in a pointer. Here that is the pointer; other CPUs keep tags in it. */
static inline uintptr_t arch_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

/* ---- Calls and return addresses -------------------------------------------------------------- */

/* Is 0 because a call pushes the return address, which is the word just below the caller's
 * frame. */
#define ARCH_LINK_REGISTER 0
#define ARCH_HAS_RESTORER 1 /* 1: the kernel's struct sigaction has a restorer */

struct arch_link {
};

/* Return the stack pointer, pc and frame pointer of the caller of a function. record:
 * __builtin_frame_address(0) of that function, where it has pushed the caller's fp. */
#define ARCH_CALLER_SP(record) ((uintptr_t)((record) + 2))
#define ARCH_CALLER_PC(record) ((record)[1])
#define ARCH_CALLER_FP(record) ((record)[0])
#define ARCH_LINK(record) ((struct arch_link){})
/* Distance in bytes from the frame pointer to the frame record. */
#define ARCH_FRAME_RECORD 0

/* Returns where the return address of a call is stored until the call returns. */
static inline uintptr_t arch_return_slot(uintptr_t caller_sp, struct arch_link link)
{
    (void)link;
    return caller_sp - sizeof(uintptr_t);
}

/* Removes the signature from a return address. On this CPU return addresses have no signature. */
static inline uintptr_t arch_strip(uintptr_t pc)
{
    return pc;
}

/* Say whether a CFA opcode or a letter of a CIE exists only on this CPU. There are none. */
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

#endif
