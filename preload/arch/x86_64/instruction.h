/* instruction.h - decodes one machine instruction: its length, and whether it can be moved.
 *
 * Knows a part of the instructions with which compilers begin functions; everything else is
 * INSN_UNKNOWN, never guessed.
 */
#ifndef PRELOAD_ARCH_INSTRUCTION_H
#define PRELOAD_ARCH_INSTRUCTION_H

#include "preload/base/base.h"

enum instruction_form {
    INSN_UNKNOWN,
    INSN_PLAIN,  /* can be moved */
    INSN_STACK,  /* can be moved; changes the stack pointer */
    INSN_BRANCH, /* a jump relative to its end, conditional or not */
    INSN_CALL,   /* a call relative to its end */
    INSN_RETURN, /* a return: the next instruction is not reached from it */
    INSN_FIXED,  /* only its length is known: an indirect call ... */
};

struct instruction {
    enum instruction_form form;
    unsigned length;
    unsigned relative; /* offset of its operand that is relative to its end; 0: none */
    unsigned opcode;   /* 0x0fxx: a two-byte opcode */
    bool near;         /* that operand has one byte */
};

/* Decodes an instruction. left: how many bytes can be read. */
struct instruction instruction_read(const uint8_t *bytes, size_t left);
/* The target of a branch or call at that address, or the address of its operand. */
uintptr_t instruction_target(const struct instruction *instruction, const uint8_t *bytes,
                             uintptr_t at);

/* The source of a system call's number: the last instruction before the call that writes eax. call:
 * address of the system call; only bytes of its page are read. */
struct instruction_number {
    bool found;
    int reg;         /* the number is in that register (as encoded in instructions); -1: … */
    uint32_t number; /* … it is this, or */
    bool in_memory;  /* at this distance from that register: the stack pointer or the frame's */
    int32_t distance;
};
struct instruction_number instruction_find_number(const uint8_t *call);

/* The same of another register (as encoded, below 8) before another instruction. */
struct instruction_number instruction_find_value(const uint8_t *instruction, unsigned reg);

/* Does __syscall_cancel_arch of glibc 2.41 and later end with that system call? Its caller has the number
 * in the second argument, INSTRUCTION_CANCEL_NUMBER, which has been overwritten since. */
#define INSTRUCTION_CANCEL_NUMBER 6
bool instruction_is_cancel(const uint8_t *call);

#endif
