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

/* Is 0 because a page is readable as a whole. */
#define ARCH_MEMORY_TAGS 0
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

#define ARCH_FINDS_CALLS 1 /* 1: arch_find_call recognises calls */
/* The largest number of bytes of a call instruction that arch_find_call recognises. */
#define ARCH_CALL_MOST 7

/* Returns the length in bytes of an instruction with one byte of opcode, without prefixes and
 * constants: its byte ModRM says whether a byte SIB and a displacement follow. */
static inline unsigned arch_modrm_length(uint8_t modrm, uint8_t sib)
{
    unsigned mode = modrm >> 6, operand = modrm & 7, has_sib = mode != 3 && operand == 4;
    bool wide = mode == 2 || (mode == 0 && (operand == 5 || (has_sib && (sib & 7) == 5)));
    return 2 + has_sib + (mode == 1 ? 1 : wide ? 4 : 0);
}

/* Says whether a call instruction ends at pc. end: the end of a copy of the ARCH_CALL_MOST bytes
 * before pc. *target: the function that is called; 0: the instruction takes it from a register or
 * from memory. */
static inline bool arch_find_call(const uint8_t *end, uintptr_t pc, uintptr_t *target)
{
    *target = 0;
    if (end[-5] == 0xe8) { /* call with a distance of 32 bits */
        int32_t distance;
        __builtin_memcpy(&distance, end - sizeof distance, sizeof distance);
        *target = pc + distance;
        return true;
    }
    for (unsigned length = 2; length <= ARCH_CALL_MOST; length++) {
        const uint8_t *code = end - length;
        if (code[0] == 0xff && (code[1] >> 3 & 7) == 2 &&
            arch_modrm_length(code[1], length > 2 ? code[2] : 0) == length)
            return true;
    }
    return false;
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
