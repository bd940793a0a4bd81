/* program_code.c - reads the code of one function, and where its variables are at each
 * instruction. */
#include "common/typeinfo/program_code.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/typeinfo/type_info.h"

/* most lexical blocks and inlined functions nested in each other; variables in deeper ones are
 * ignored */
#define NESTING 64

/* Converts the number of a register from DWARF's order to that of the instruction set. */
static int register_from_dwarf(uint64_t number)
{
    static const int order[] = {X86_AX, X86_DX, X86_CX, X86_BX, X86_SI, X86_DI, X86_BP, X86_SP};

    return number < 8 ? order[number] : number < X86_REGISTERS ? (int)number : X86_NONE;
}

/* ---- Bytes of code --------------------------------------------------------------------------- */

/* Returns the bytes of code at an address, up to the end of its section; *left becomes their
 * number. */
static const uint8_t *code_bytes(Elf *elf, uint64_t address, uint64_t *left)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
            !(header.sh_flags & SHF_EXECINSTR) || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        data = elf_rawdata(section, NULL);
        if (!data || !data->d_buf || address - header.sh_addr >= data->d_size)
            return NULL;
        *left = data->d_size - (address - header.sh_addr);
        return (const uint8_t *)data->d_buf + (address - header.sh_addr);
    }
    return NULL;
}

static void find_bytes(struct program_code *code)
{
    GElf_Addr bias;
    GElf_Ehdr header;
    uint64_t left = 0;
    Elf *elf = dwfl_module_getelf(code->parts.module, &bias);

    if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
        return;
    code->bytes = code_bytes(elf, code->start, &left);
    if (left < code->end - code->start)
        code->end = code->start + left;
}

bool program_code_read(const struct program_code *code, uint64_t address,
                       struct x86_instruction *read)
{
    return code->bytes && address >= code->start && address < code->end &&
           x86_instruction_read(code->bytes + (address - code->start), code->end - address, read);
}

/* ---- The stack frame ------------------------------------------------------------------------- */

static bool frame_in(Dwarf_CFI *cfi, uint64_t address, int *register_number, int64_t *offset)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *op;
    size_t count;
    bool known = false;

    if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return false;
    if (dwarf_frame_cfa(frame, &op, &count) == 0 && count == 1) {
        if (op->atom == DW_OP_bregx) {
            *register_number = register_from_dwarf(op->number);
            *offset = (int64_t)op->number2;
            known = true;
        } else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
            *register_number = register_from_dwarf(op->atom - DW_OP_breg0);
            *offset = (int64_t)op->number;
            known = true;
        }
    }
    free(frame);
    return known;
}

bool program_code_frame(const struct program_code *code, uint64_t address, int *register_number,
                        int64_t *offset)
{
    Dwarf_Addr bias;
    uint64_t at = address + code->parts.to_symbols;
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(code->parts.module, &bias);

    if (cfi && frame_in(cfi, at - bias, register_number, offset))
        return true;
    cfi = dwfl_module_dwarf_cfi(code->parts.module, &bias);
    return cfi && frame_in(cfi, at - bias, register_number, offset);
}

/* ---- Where variables are --------------------------------------------------------------------- */

/* Computes the distance of a variable's location from the canonical frame address. */
static bool frame_offset(struct program_code *code, uint64_t at, const Dwarf_Op *op,
                         int64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *base;
    size_t count;
    int number, of;
    int64_t distance;

    if (op->atom == DW_OP_fbreg) {
        if (!dwarf_attr_integrate(&code->function, DW_AT_frame_base, &attribute) ||
            dwarf_getlocation_addr(&attribute, at + code->parts.to_dwarf, &base, &count, 1) != 1 ||
            count != 1)
            return false;
        *offset = (int64_t)op->number;
        if (base->atom == DW_OP_call_frame_cfa)
            return true;
        number = register_from_dwarf(base->atom - DW_OP_reg0);
    } else {
        *offset = (int64_t)op->number;
        number = register_from_dwarf(op->atom - DW_OP_breg0);
    }
    if ((number != X86_SP && number != X86_BP) || !program_code_frame(code, at, &of, &distance))
        return false;
    if (of != number && number == X86_BP)
        distance = 16; /* bytes from the frame pointer up to the CFA, once the prologue has saved
                        * both; needed where the CFA rule uses the stack pointer */
    else if (of != number)
        return false;
    *offset -= distance;
    return true;
}

static void add_place(struct program_code *code, const struct variable_place *place)
{
    code->places = array_grow(code->places, &code->place_capacity, code->place_count + 1,
                              sizeof(*code->places));
    code->places[code->place_count++] = *place;
}

/* Adds a location of a variable, or of a part of it. into: the offset of that part in the
 * variable. */
static void add_location(struct program_code *code, Dwarf_Die *variable, uint64_t start,
                         uint64_t end, const Dwarf_Op *op, int64_t into)
{
    struct variable_place place = {.start = start > code->start ? start : code->start,
                                   .end = end < code->end ? end : code->end,
                                   .register_number = X86_NONE,
                                   .into = into,
                                   .variable = *variable};

    if (place.start >= place.end)
        return;
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        place.register_number = register_from_dwarf(op->atom - DW_OP_reg0);
    else if (into)
        return;
    else if (op->atom == DW_OP_fbreg || op->atom == DW_OP_breg6 || op->atom == DW_OP_breg7) {
        /* Takes the CFA rule at the middle of the range: there the function's prologue, which
         * changes the rule, is over. */
        uint64_t inside = place.start + (place.end - place.start) / 2;

        if (!frame_offset(code, inside, op, &place.offset))
            return;
    } else {
        return;
    }
    add_place(code, &place);
}

/* Adds all locations of a variable; a structure may be in several registers, a piece in each. */
static void add_locations(struct program_code *code, Dwarf_Die *variable, uint64_t start,
                          uint64_t end, const Dwarf_Op *op, size_t count)
{
    int64_t into = 0;

    if (count == 1)
        add_location(code, variable, start, end, op, 0);
    for (size_t i = 0; count > 1 && i < count; i++) {
        bool in_register = op[i].atom >= DW_OP_reg0 && op[i].atom <= DW_OP_reg31;

        if (in_register && i + 1 < count && op[i + 1].atom == DW_OP_piece)
            add_location(code, variable, start, end, &op[i], into);
        if (op[i].atom == DW_OP_piece)
            into += (int64_t)op[i].number;
    }
}

static void add_variable(struct program_code *code, Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr base, start, end;
    Dwarf_Op *op;
    size_t count;
    ptrdiff_t at = 0;

    if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute))
        return;
    while (code->place_count < PLACES_MOST &&
           (at = dwarf_getlocations(&attribute, at, &base, &start, &end, &op, &count)) > 0)
        add_locations(code, variable, start ? start - code->parts.to_dwarf : 0,
                      end == (Dwarf_Addr)-1 ? end : end - code->parts.to_dwarf, op, count);
}

static void add_variables(struct program_code *code, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die child;

    if (nesting == NESTING || dwarf_child(parent, &child) != 0)
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            add_variable(code, &child);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            add_variables(code, &child, nesting + 1);
        }
    } while (code->place_count < PLACES_MOST && dwarf_siblingof(&child, &child) == 0);
}

/* ---- The function as a whole ----------------------------------------------------------------- */

/* Finds the range of the function that contains the address. A function may have another range
 * elsewhere, its cold part. */
static bool find_range(struct program_code *code, uint64_t address)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(&code->function, at, &base, &low, &high)) > 0) {
        low -= code->parts.to_dwarf;
        high -= code->parts.to_dwarf;
        if (address >= low && address < high && high - low <= CODE_MOST) {
            code->start = low;
            code->end = high;
            return true;
        }
    }
    return false;
}

bool program_code_begin(struct program_code *code, const struct elf_binary_parts *parts,
                        uint64_t address)
{
    struct dwarf_function function;

    *code = (struct program_code){.parts = *parts};
    if (!dwarf_index_function(parts->index, address + parts->to_dwarf, &function))
        return false;
    code->function = function.die;
    if (!find_range(code, address))
        return false;
    find_bytes(code);
    add_variables(code, &code->function, 0);
    return true;
}

void program_code_end(struct program_code *code)
{
    free(code->places);
    code->places = NULL;
    code->place_count = code->place_capacity = 0;
}

/* ---- Looking up variables and functions ------------------------------------------------------ */

const struct variable_place *program_code_in_register(const struct program_code *code,
                                                      uint64_t address, int register_number,
                                                      size_t *index)
{
    while (*index < code->place_count) {
        const struct variable_place *place = &code->places[(*index)++];

        if (place->register_number == register_number && register_number != X86_NONE &&
            address >= place->start && address < place->end)
            return place;
    }
    return NULL;
}

const struct variable_place *program_code_in_frame(const struct program_code *code,
                                                   uint64_t address, int64_t offset, size_t *index,
                                                   int64_t *into)
{
    while (*index < code->place_count) {
        const struct variable_place *place = &code->places[(*index)++];
        Dwarf_Die variable = place->variable, type;

        if (place->register_number != X86_NONE || address < place->start || address >= place->end ||
            offset < place->offset || !type_of_die(&variable, &type) ||
            (uint64_t)(offset - place->offset) >= type_size(&type))
            continue;
        *into = offset - place->offset;
        return place;
    }
    return NULL;
}

bool program_code_static(const struct program_code *code, uint64_t address, Dwarf_Die *variable,
                         int64_t *into)
{
    struct symbol symbol;
    uint64_t at = address + code->parts.to_symbols;

    if (!symbols_find_data(code->parts.symbols, at, false, &symbol) ||
        !dwarf_data_find_die(code->parts.data,
                             symbol.start - code->parts.to_symbols + code->parts.to_dwarf,
                             symbol.local, variable))
        return false;
    *into = (int64_t)(at - symbol.start);
    return true;
}

bool program_code_function(const struct program_code *code, uint64_t address, Dwarf_Die *function)
{
    struct dwarf_function found;
    Dwarf_Addr low;

    if (!dwarf_index_function(code->parts.index, address + code->parts.to_dwarf, &found) ||
        dwarf_lowpc(&found.die, &low) != 0 || low != address + code->parts.to_dwarf)
        return false;
    *function = found.die;
    return true;
}

/* ---- Stubs of the procedure linkage table ---------------------------------------------------- */

#define STUB_MOST 16 /* most bytes of a stub */

/* Finds the word in memory from which a stub loads the address that it jumps to. */
static bool stub_word(Elf *elf, uint64_t address, uint64_t *word)
{
    uint64_t left = 0, at = 0;
    const uint8_t *bytes = code_bytes(elf, address, &left);
    struct x86_instruction read;

    for (left = left < STUB_MOST ? left : STUB_MOST; bytes && at < left; at += read.length) {
        if (!x86_instruction_read(bytes + at, left - at, &read))
            return false;
        *word = address + at + read.length + (uint64_t)read.displacement;
        if (read.operation == X86_JUMP_POINTER)
            return read.base == X86_IP;
        if (read.operation != X86_OTHER)
            return false;
    }
    return false;
}

static const char *symbol_name(Elf *elf, size_t table, size_t number)
{
    Elf_Scn *section = elf_getscn(elf, table);
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

    if (!data || !gelf_getshdr(section, &header) || !gelf_getsym(data, (int)number, &symbol))
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

const char *program_code_import(const struct program_code *code, uint64_t address)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(code->parts.module, &bias);
    Elf_Scn *section = NULL;
    uint64_t word;

    if (!code->bytes || !elf || !stub_word(elf, address, &word))
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Rela relocation;
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (int i = 0; gelf_getrela(data, i, &relocation); i++)
            if (relocation.r_offset == word)
                return symbol_name(elf, header.sh_link, GELF_R_SYM(relocation.r_info));
    }
    return NULL;
}
