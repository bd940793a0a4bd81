/* instruction.h - decodes one machine instruction: its length, and whether it can be moved to another
 * address.
 *
 * It knows the instructions with which compilers mostly begin functions. Every other instruction is
 * INSN_UNKNOWN; nothing is guessed.
 */
#ifndef PRELOAD_ARCH_INSTRUCTION_H
#define PRELOAD_ARCH_INSTRUCTION_H

#include "preload/base/base.h"

enum instruction_form {
    INSN_UNKNOWN,
    INSN_PLAIN, /* can be moved to another address */
    INSN_STACK, /* can be moved, and changes the stack pointer */
    /* A jump, conditional or not, whose target is relative to the end of the instruction. */
    INSN_BRANCH,
    INSN_CALL,   /* a call, whose target is relative to the end of the instruction */
    INSN_RETURN, /* a return: the next instruction is not reached from it */
    INSN_FIXED,  /* cannot be moved, but its length is known: an indirect call and the like */
};

struct instruction {
    enum instruction_form form;
    unsigned length;
    /* Offset in the instruction of the operand that is relative to the instruction's end; 0:
     * none. */
    unsigned relative;
    unsigned opcode; /* an opcode of one byte; 0x0fxx: the two bytes 0f xx */
    bool is_short;   /* the relative operand has one byte */
};

/* Decodes an instruction. left: how many bytes can be read. */
struct instruction instruction_read(const uint8_t *bytes, size_t left);
/* Returns the target of a branch or call, or the address of a pc-relative operand. at: address of
 * the instruction. */
uintptr_t instruction_target(const struct instruction *instruction, const uint8_t *bytes,
                             uintptr_t at);

/* The origin of the number of a system call: what is known from the last instruction before the
 * call that writes eax. */
struct instruction_number {
    bool found;
    /* Number (as encoded in instructions) of the register that holds the value; -1: the value is in
     * "number". */
    int reg;
    uint32_t number; /* the value, if reg is -1 */
    /* The value is in memory, at "distance" from the register, which is the stack or frame
     * pointer. */
    bool in_memory;
    int32_t distance;
};
struct instruction_number instruction_find_number(const uint8_t *call);

/* Finds where the value comes from that a register has when an instruction is reached. reg: number
 * of the register as encoded in instructions, below 8. Only bytes of the instruction's page are
 * read. */
struct instruction_number instruction_find_value(const uint8_t *instruction, unsigned reg);

/* Says whether a system call instruction is the one in __syscall_cancel_arch of glibc 2.41 and
 * later. Its caller passes the number in the second argument, register INSTRUCTION_CANCEL_NUMBER,
 * which is overwritten before the call. */
#define INSTRUCTION_CANCEL_NUMBER 6
bool instruction_is_cancel(const uint8_t *call);

#endif
