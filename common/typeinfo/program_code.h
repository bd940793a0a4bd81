/* program_code.h - reads the code of one function: its bytes, its debug information, and where
 * its variables are.
 *
 * A place is a range of addresses in which a variable is in a register or at a fixed distance
 * from the canonical frame address. At -O0 each variable has one place in the frame; optimized
 * code moves it. Addresses are those of the ELF file.
 */
#ifndef COMMON_TYPEINFO_PROGRAM_CODE_H
#define COMMON_TYPEINFO_PROGRAM_CODE_H

#include "common/debuginfo/elf_binary.h"
#include "common/typeinfo/x86_instruction.h"

struct variable_place {
    uint64_t start, end;
    int register_number; /* a number of x86_instruction.h; X86_NONE: the variable is in the frame */
    int64_t offset;      /* offset of the variable from the canonical frame address */
    int64_t into;        /* offset in the variable of the part that is at this place */
    Dwarf_Die variable;
};

#define PLACES_MOST 4096
#define CODE_MOST (1u << 20) /* most bytes of a function */

struct program_code {
    struct elf_binary_parts parts;
    Dwarf_Die function;   /* the function, not an inlined one */
    uint64_t start, end;  /* range of the function's addresses that is read */
    const uint8_t *bytes; /* code from `start` on; NULL: the file has no code, or code of another
                           * CPU */
    struct variable_place *places;
    size_t place_count, place_capacity;
};

/* Reads the function around an address. False: there is none. */
bool program_code_begin(struct program_code *code, const struct elf_binary_parts *parts,
                        uint64_t address);
void program_code_end(struct program_code *code);

/* Decodes the instruction at an address of the function. False: it is unknown, or the address is
 * outside. */
bool program_code_read(const struct program_code *code, uint64_t address,
                       struct x86_instruction *read);

/* Finds the rule for the canonical frame address at an instruction: register + *offset. False:
 * there is no such rule. */
bool program_code_frame(const struct program_code *code, uint64_t address, int *register_number,
                        int64_t *offset);

/* Find the next variable that is, at the instruction with this address, in the register, or in the
 * frame at `offset` from the canonical frame address. *index starts as 0. NULL: there are no more.
 * *into: the offset in the variable of the part that is there. */
const struct variable_place *program_code_in_register(const struct program_code *code,
                                                      uint64_t address, int register_number,
                                                      size_t *index);
const struct variable_place *program_code_in_frame(const struct program_code *code,
                                                   uint64_t address, int64_t offset, size_t *index,
                                                   int64_t *into);

/* Finds the variable that contains a fixed address. False: none does. *into: the offset of the
 * address in the variable. */
bool program_code_static(const struct program_code *code, uint64_t address, Dwarf_Die *variable,
                         int64_t *into);

/* Finds the function that begins at an address. False: none does. */
bool program_code_function(const struct program_code *code, uint64_t address, Dwarf_Die *function);

/* Returns the name of the function of another module that a stub of the procedure linkage table
 * calls; NULL = there is no stub at the address. The text belongs to libelf. */
const char *program_code_import(const struct program_code *code, uint64_t address);

#endif
