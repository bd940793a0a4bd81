/* x86_calls.h - what is the same on both x86 CPUs, of 32 and of 64 bits: return addresses, and unwind
 * tables without letters of their own. arch.h of both includes it. */
#ifndef ARCH_X86_CALLS_H
#define ARCH_X86_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The address in a pointer: all of its bits. */
static inline uintptr_t arch_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A call pushes the return address: it is the word just below the caller's frame. */
#define ARCH_LINK_REGISTER 0
#define ARCH_HAS_RESTORER 1 /* in the kernel's struct sigaction */

struct arch_link {
};

/* The caller's registers. record: __builtin_frame_address(0) of the called function, where the
 * caller's fp was pushed. */
#define ARCH_CALLER_SP(record) ((uintptr_t)((record) + 2))
#define ARCH_CALLER_PC(record) ((record)[1])
#define ARCH_CALLER_FP(record) ((record)[0])
#define ARCH_LINK(record) ((struct arch_link){})
/* The distance from fp to the frame record. */
#define ARCH_FRAME_RECORD 0

/* The place where the return address of a call is stored until the call returns. */
static inline uintptr_t arch_return_slot(uintptr_t caller_sp, struct arch_link link)
{
    (void)link;
    return caller_sp - sizeof(uintptr_t);
}

/* Return addresses are not signed. */
static inline uintptr_t arch_strip(uintptr_t pc)
{
    return pc;
}

/* CFA opcodes and CIE letters of this CPU alone: none. */
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
