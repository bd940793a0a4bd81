/* x86_instruction.h - decodes one x86-64 instruction: its length, and its effect on general
 * registers if it may copy a pointer.
 *
 * It knows the length of every instruction that compilers emit. An instruction that it does not
 * know in detail is X86_OTHER, with the registers that it may change. More registers than really
 * change do no harm: the caller then only knows less.
 */
#ifndef COMMON_TYPEINFO_X86_INSTRUCTION_H
#define COMMON_TYPEINFO_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_register { X86_AX, X86_CX, X86_DX, X86_BX, X86_SP, X86_BP, X86_SI, X86_DI };
#define X86_REGISTERS 16
#define X86_IP 16 /* the instruction pointer, as base of an operand in memory */
#define X86_NONE (-1)

/* What an instruction does. to, from, memory, immediate: its operands in struct x86_instruction. */
enum x86_operation {
    X86_OTHER,         /* changes the registers of `changed` and perhaps memory */
    X86_MOVE,          /* to = from */
    X86_LOAD,          /* to = memory, 8 bytes */
    X86_STORE,         /* memory = from, 8 bytes */
    X86_STORE_OTHER,   /* memory = an unknown value, up to 8 bytes */
    X86_ADD_TO_MEMORY, /* memory += immediate, 8 bytes */
    X86_ADDRESS,       /* to = address of memory (lea) */
    X86_SET,           /* to = immediate */
    X86_ADD_CONSTANT,  /* to += immediate */
    X86_ADD,           /* to += from */
    X86_CALL,          /* calls the function at immediate, relative to the end of the instruction */
    X86_CALL_POINTER,  /* calls a function whose address is in a register or in memory */
    X86_JUMP,          /* jumps to immediate, relative to the end of the instruction */
    X86_BRANCH,        /* may jump to immediate, relative to the end of the instruction */
    X86_JUMP_POINTER,
    X86_RETURN,
    X86_STOP, /* never continues: ud2, hlt, int3 */
};

struct x86_instruction {
    enum x86_operation operation;
    unsigned length;
    int to, from;    /* numbers of the register that is written and of the one that is read;
                      * X86_NONE: none */
    int base, index; /* registers of the operand in memory; X86_IP: relative to the instruction;
                      * X86_NONE: none */
    unsigned scale;  /* factor of the index register: 1, 2, 4 or 8 */
    int64_t displacement, immediate;
    uint32_t changed; /* a bit for each register that may change, for operations that do not name
                       * them in `to` */
};

/* Decodes one instruction. False: it is unknown, or longer than the bytes that are left. */
bool x86_instruction_read(const uint8_t *code, size_t left, struct x86_instruction *read);

#endif
