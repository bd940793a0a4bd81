/* instruction.h - what one machine instruction is: how long, and may it stand elsewhere?
 *
 * A part of what compilers write at the beginning of functions; of what is not known here nothing
 * is guessed.
 */
#ifndef PRELOAD_ARCH_INSTRUCTION_H
#define PRELOAD_ARCH_INSTRUCTION_H

#include "preload/base/base.h"

enum instruction_form {
    UNKNOWN,
    PLAIN,  /* may be moved */
    STACK,  /* likewise, and moves the stack pointer */
    BRANCH, /* a jump to an address that it counts from its end, with a condition or without */
    CALL,   /* likewise; it comes back behind itself */
    LAST,   /* a return: nothing comes behind it */
    STAYS,  /* known by its length alone: a call by a pointer ... */
};

struct instruction {
    enum instruction_form form;
    unsigned length;
    unsigned relative; /* where its address stands that counts from its end; 0: it has none */
    unsigned opcode;   /* 0x0fxx: of two bytes */
    bool near;         /* the address is one byte */
};

/* left: how many bytes can be read there. */
struct instruction instruction_read(const uint8_t *bytes, size_t left);
/* Where a branch or call that stands at an address leads, or what its operand is. */
uintptr_t instruction_aim(const struct instruction *instruction, const uint8_t *bytes,
                          uintptr_t at);

#endif
