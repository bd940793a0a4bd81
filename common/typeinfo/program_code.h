/* program_code.h - the code of one function: its bytes, its debug information, and where its variables
 * are.
 *
 * A place is a range of addresses in which a variable is in a register or at a fixed distance from
 * the canonical frame address. At -O0 each variable has one place in the frame; optimised code moves
 * it about. Addresses are those of the ELF file.
 */
#ifndef COMMON_TYPEINFO_PROGRAM_CODE_H
#define COMMON_TYPEINFO_PROGRAM_CODE_H

#include "common/debuginfo/elf_binary.h"
#include "common/typeinfo/x86_instruction.h"

struct variable_place {
    uint64_t start, end;
    int register_number; /* as of x86_instruction.h; X86_NONE: it is in the frame */
    int64_t offset;      /* from the canonical frame address */
    int64_t into;        /* a register may hold a part of the variable, from here on */
    Dwarf_Die variable;
};

#define PLACES_MOST 4096
#define CODE_MOST (1u << 20) /* bytes of one function */

struct program_code {
    struct elf_binary_parts parts;
    Dwarf_Die function;   /* not an inlined one */
    uint64_t start, end;  /* of the range of the function that is read */
    const uint8_t *bytes; /* of start; NULL: the file has none, or those of another CPU */
    struct variable_place *places;
    size_t place_count, place_capacity;
};

/* The function around an address. False: there is none. */
bool program_code_begin(struct program_code *code, const struct elf_binary_parts *parts,
                        uint64_t address);
void program_code_end(struct program_code *code);

/* The instruction at an address of the function. */
bool program_code_read(const struct program_code *code, uint64_t address,
                       struct x86_instruction *read);

/* The canonical frame address at an instruction is that register + *offset. False: no such rule. */
bool program_code_frame(const struct program_code *code, uint64_t address, int *register_number,
                        int64_t *offset);

/* The variable in a register, or over a place of the frame, at an address. *index: where to go on,
 * 0 at first. NULL: no more. offset: as of a place; *into: of it in the variable. */
const struct variable_place *program_code_in_register(const struct program_code *code,
                                                      uint64_t address, int register_number,
                                                      size_t *index);
const struct variable_place *program_code_in_frame(const struct program_code *code,
                                                   uint64_t address, int64_t offset, size_t *index,
                                                   int64_t *into);

/* The variable with a fixed address. */
bool program_code_static(const struct program_code *code, uint64_t address, Dwarf_Die *variable,
                         int64_t *into);

/* The function that begins at an address. */
bool program_code_function(const struct program_code *code, uint64_t address, Dwarf_Die *function);

/* The function of another object that a stub of the procedure linkage table calls; NULL = no stub.
 * Belongs to libelf. */
const char *program_code_import(const struct program_code *code, uint64_t address);

#endif
