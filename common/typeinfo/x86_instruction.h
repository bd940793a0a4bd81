/* x86_instruction.h - reads one x86-64 instruction: how long it is, and what it does to the
 * general registers, as far as compilers use them to pass a pointer on.
 *
 * It knows the length of everything that compilers emit. What it does not know in detail is
 * X86_OTHER with the registers that may have changed; more of them than really change is harmless,
 * because a reader then only knows less. Depends on nothing.
 */
#ifndef COMMON_TYPEINFO_X86_INSTRUCTION_H
#define COMMON_TYPEINFO_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_register { X86_AX, X86_CX, X86_DX, X86_BX, X86_SP, X86_BP, X86_SI, X86_DI };
#define X86_REGISTERS 16
#define X86_IP 16 /* as the base of an operand in memory */
#define X86_NONE (-1)

enum x86_operation {
    X86_OTHER,         /* changes the registers of `changed` and perhaps memory */
    X86_MOVE,          /* to = from */
    X86_LOAD,          /* to = memory, 8 bytes */
    X86_STORE,         /* memory = from, 8 bytes */
    X86_STORE_OTHER,   /* memory = something else, up to 8 bytes */
    X86_ADD_TO_MEMORY, /* memory += immediate, 8 bytes */
    X86_ADDRESS,       /* to = address of memory (lea) */
    X86_SET,           /* to = immediate */
    X86_ADD_CONSTANT,  /* to += immediate */
    X86_ADD,           /* to += from */
    X86_CALL,          /* of immediate, which is relative to the end of the instruction */
    X86_CALL_POINTER,  /* of a register or memory */
    X86_JUMP,          /* to immediate, likewise */
    X86_BRANCH,        /* perhaps to immediate, likewise */
    X86_JUMP_POINTER,
    X86_RETURN,
    X86_STOP, /* never continues: ud2, hlt, int3 */
};

struct x86_instruction {
    enum x86_operation operation;
    unsigned length;
    int to, from;    /* registers, or X86_NONE */
    int base, index; /* of the operand in memory: registers, X86_IP, or X86_NONE */
    unsigned scale;  /* of the index: 1, 2, 4, 8 */
    int64_t displacement, immediate;
    uint32_t changed; /* bits of registers */
};

/* Decodes one instruction. False: it is unknown, or longer than the bytes that are left. */
bool x86_instruction_read(const uint8_t *code, size_t left, struct x86_instruction *read);

#endif
