/* x86_instruction.c - decodes x86-64 instructions. The length follows from prefixes, opcode and
 * ModRM byte; tables say which opcodes have a ModRM byte and which have an immediate. */
#include "common/typeinfo/x86_instruction.h"

#include <string.h>

#define LONGEST 15

enum opcode_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* An instruction while it is decoded. */
struct decoding {
    const uint8_t *code;
    size_t left, at;
    bool wide, narrow; /* REX.W, which makes operands 64 bits wide; an operand-size prefix, which
                        * makes them 16 bits */
    bool vector;       /* the instruction has a VEX or EVEX prefix */
    unsigned vector_register;
    unsigned high_reg, high_index, high_base; /* highest bit of each register number, as 0 or 8 */
    enum opcode_map map;
    uint8_t opcode;
    bool has_modrm, memory;
    unsigned mode, reg, rm; /* fields of the ModRM byte, without the highest bits */
    struct x86_instruction *read;
};

/* ---- Sets of opcodes ------------------------------------------------------------------------- */

/* A set of opcodes: for each row of sixteen opcodes, a bit for each opcode. */
typedef uint16_t opcode_rows[16];

static bool is_in(const opcode_rows rows, uint8_t opcode)
{
    return rows[opcode >> 4] >> (opcode & 15) & 1;
}

static const opcode_rows modrm_one = {
    [0x0] = 0x0f0f, [0x1] = 0x0f0f, [0x2] = 0x0f0f, [0x3] = 0x0f0f, [0x6] = 0x0a08,
    [0x8] = 0xffff, [0xc] = 0x00c3, [0xd] = 0xff0f, [0xf] = 0xc0c0,
};

static const opcode_rows modrm_0f = {
    [0x0] = 0x200f, [0x1] = 0xffff, [0x2] = 0xff0f, [0x4] = 0xffff, [0x5] = 0xffff,
    [0x6] = 0xffff, [0x7] = 0xff7f, [0x9] = 0xffff, [0xa] = 0xf838, [0xb] = 0xffff,
    [0xc] = 0x00ff, [0xd] = 0xffff, [0xe] = 0xffff, [0xf] = 0xffff,
};

static const opcode_rows known_0f_without_modrm = {
    [0x0] = 0x0b40 | 0x20, [0x3] = 0x003f, [0x7] = 0x0080,
    [0x8] = 0xffff,        [0xa] = 0x0707, [0xc] = 0xff00,
};

static const opcode_rows byte_one = {
    [0x0] = 0x1010, [0x1] = 0x1010, [0x2] = 0x1010, [0x3] = 0x1010, [0x6] = 0x0c00, [0x7] = 0xffff,
    [0x8] = 0x0009, [0xa] = 0x0100, [0xb] = 0x00ff, [0xc] = 0x2043, [0xe] = 0x08ff,
};

static const opcode_rows long_one = {
    [0x0] = 0x2020, [0x1] = 0x2020, [0x2] = 0x2020, [0x3] = 0x2020, [0x6] = 0x0300,
    [0x8] = 0x0002, [0xa] = 0x0200, [0xc] = 0x0080, [0xe] = 0x0300,
};

static const opcode_rows byte_0f = {
    [0x7] = 0x000f,
    [0xa] = 0x1010,
    [0xb] = 0x0400,
    [0xc] = 0x0074,
};

static const opcode_rows invalid_one = {
    [0x0] = 0x40c0, [0x1] = 0xc0c0, [0x2] = 0x8080, [0x3] = 0x8080, [0x6] = 0x0007,
    [0x8] = 0x0004, [0x9] = 0x0400, [0xc] = 0x4000, [0xd] = 0x0070, [0xe] = 0x0400,
};

/* ---- Parts of an instruction ----------------------------------------------------------------- */

static bool next_byte(struct decoding *decoding, uint8_t *byte)
{
    if (decoding->at >= decoding->left || decoding->at >= LONGEST)
        return false;
    *byte = decoding->code[decoding->at++];
    return true;
}

static bool next_number(struct decoding *decoding, unsigned size, int64_t *number)
{
    uint64_t bits = 0;

    if (decoding->left - decoding->at < size || decoding->at + size > LONGEST)
        return false;
    memcpy(&bits, decoding->code + decoding->at, size);
    decoding->at += size;
    if (size && size < sizeof(bits))
        bits = (uint64_t)((int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
    *number = (int64_t)bits;
    return true;
}

static bool is_legacy_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

static void take_high_bits(struct decoding *decoding, uint8_t byte)
{
    decoding->high_reg = byte & 4 ? 8 : 0;
    decoding->high_index = byte & 2 ? 8 : 0;
    decoding->high_base = byte & 1 ? 8 : 0;
}

/* Reads a VEX or EVEX prefix of two to four bytes, which contains the opcode map, the operand size
 * and the highest bits of register numbers. */
static bool read_vector_prefix(struct decoding *decoding, uint8_t first)
{
    uint8_t one, two = 0, three;

    decoding->vector = true;
    decoding->map = MAP_0F;
    if (!next_byte(decoding, &one))
        return false;
    if (first == 0xc5) {
        take_high_bits(decoding, one & 0x80 ? 0 : 4);
        decoding->vector_register = ~one >> 3 & 15;
        return next_byte(decoding, &decoding->opcode);
    }
    if (!next_byte(decoding, &two) || (first == 0x62 && !next_byte(decoding, &three)))
        return false;
    take_high_bits(decoding, (uint8_t)(~one >> 5 & 7));
    decoding->map = (enum opcode_map)(one & 7);
    decoding->wide = two >> 7;
    decoding->vector_register = ~two >> 3 & 15;
    return decoding->map >= MAP_0F && decoding->map <= MAP_0F3A &&
           next_byte(decoding, &decoding->opcode);
}

static bool read_opcode(struct decoding *decoding)
{
    uint8_t byte;

    do {
        if (!next_byte(decoding, &byte))
            return false;
        decoding->narrow |= byte == 0x66;
    } while (is_legacy_prefix(byte));
    if (byte >> 4 == 4) {
        decoding->wide = byte & 8;
        take_high_bits(decoding, byte);
        if (!next_byte(decoding, &byte))
            return false;
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
        return read_vector_prefix(decoding, byte);
    if (byte == 0x0f) {
        decoding->map = MAP_0F;
        if (!next_byte(decoding, &byte))
            return false;
        if (byte == 0x38 || byte == 0x3a) {
            decoding->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
            if (!next_byte(decoding, &byte))
                return false;
        }
    }
    decoding->opcode = byte;
    return decoding->map != MAP_ONE || !is_in(invalid_one, byte);
}

/* Reads the bytes behind the ModRM byte that describe an operand in memory. */
static bool read_memory(struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;
    unsigned size = decoding->mode == 1 ? 1 : decoding->mode == 2 ? 4 : 0;
    uint8_t sib;

    decoding->memory = true;
    read->base = (int)(decoding->rm | decoding->high_base);
    if (decoding->rm == 4) {
        unsigned index;

        if (!next_byte(decoding, &sib))
            return false;
        index = (sib >> 3 & 7) | decoding->high_index;
        read->base = (int)((sib & 7) | decoding->high_base);
        read->index = index == 4 ? X86_NONE : (int)index;
        read->scale = 1u << (sib >> 6);
        if ((sib & 7) == 5 && !decoding->mode) {
            read->base = X86_NONE;
            size = 4;
        }
    } else if (decoding->rm == 5 && !decoding->mode) {
        read->base = X86_IP;
        size = 4;
    }
    return next_number(decoding, size, &read->displacement);
}

static bool read_modrm(struct decoding *decoding)
{
    uint8_t byte;

    switch (decoding->map) {
    case MAP_ONE:
        decoding->has_modrm = is_in(modrm_one, decoding->opcode);
        break;
    case MAP_0F:
        decoding->has_modrm = is_in(modrm_0f, decoding->opcode);
        if (!decoding->has_modrm && !is_in(known_0f_without_modrm, decoding->opcode))
            return false;
        break;
    default:
        decoding->has_modrm = true;
    }
    if (!decoding->has_modrm)
        return true;
    if (!next_byte(decoding, &byte))
        return false;
    decoding->mode = byte >> 6;
    decoding->reg = byte >> 3 & 7;
    decoding->rm = byte & 7;
    return decoding->mode == 3 || read_memory(decoding);
}

/* Returns the size of the immediate operand in bytes. */
static unsigned immediate_size(const struct decoding *decoding)
{
    uint8_t opcode = decoding->opcode;

    if (decoding->map == MAP_0F3A)
        return 1;
    if (decoding->map == MAP_0F)
        return opcode >> 4 == 8 && !decoding->vector ? 4 : is_in(byte_0f, opcode) ? 1 : 0;
    if (decoding->map != MAP_ONE)
        return 0;
    if (opcode == 0xf6 || opcode == 0xf7)
        return decoding->reg > 1 ? 0 : opcode == 0xf6 ? 1 : decoding->narrow ? 2 : 4;
    if (opcode >= 0xb8 && opcode <= 0xbf)
        return decoding->wide ? 8 : decoding->narrow ? 2 : 4;
    if (opcode >= 0xa0 && opcode <= 0xa3)
        return 8;
    if (opcode == 0xc2)
        return 2;
    if (opcode == 0xc8)
        return 3;
    if (opcode == 0xe8 || opcode == 0xe9)
        return 4;
    if (is_in(long_one, opcode))
        return decoding->narrow ? 2 : 4;
    return is_in(byte_one, opcode) ? 1 : 0;
}

/* ---- The effect of an instruction ------------------------------------------------------------ */

#define BIT(number) (1u << (number))

static int register_of(const struct decoding *decoding)
{
    return (int)(decoding->reg | decoding->high_reg);
}

/* Returns the register in the r/m field of a ModRM byte without an operand in memory. */
static int other_register_of(const struct decoding *decoding)
{
    return (int)(decoding->rm | decoding->high_base);
}

static void move_value(const struct decoding *decoding, bool to_rm)
{
    struct x86_instruction *read = decoding->read;

    if (decoding->memory) {
        read->operation = to_rm ? X86_STORE : X86_LOAD;
        read->from = read->to = register_of(decoding);
        if (to_rm && !decoding->wide)
            read->operation = X86_STORE_OTHER;
        if (!to_rm && !decoding->wide) {
            read->operation = X86_OTHER;
            read->changed = BIT(read->to);
        }
        return;
    }
    read->to = to_rm ? other_register_of(decoding) : register_of(decoding);
    read->from = to_rm ? register_of(decoding) : other_register_of(decoding);
    read->operation = decoding->wide ? X86_MOVE : X86_OTHER;
    read->changed = BIT(read->to);
}

/* Decodes an instruction that adds a constant to a register; negative: it subtracts the
 * constant. */
static void add_constant(const struct decoding *decoding, int to, bool negative)
{
    struct x86_instruction *read = decoding->read;

    read->to = to;
    read->changed = BIT(to);
    if (decoding->wide)
        read->operation = X86_ADD_CONSTANT;
    if (negative)
        read->immediate = -read->immediate;
}

/* Decodes opcodes 00 to 3f: eight arithmetic operations in six forms. */
static void read_arithmetic(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;
    unsigned what = decoding->opcode >> 3, form = decoding->opcode & 7;
    int to = form < 2 ? other_register_of(decoding) : register_of(decoding);

    if (what == 7)
        return; /* a comparison changes nothing */
    if (form >= 4) {
        read->changed = BIT(X86_AX);
        return;
    }
    if (form < 2 && decoding->memory) {
        read->operation = X86_STORE_OTHER;
        return;
    }
    read->changed = BIT(to);
    if (what == 0 && decoding->wide && !decoding->memory && form & 1) {
        read->operation = X86_ADD;
        read->to = to;
        read->from = form < 2 ? register_of(decoding) : other_register_of(decoding);
    }
}

/* Decodes opcodes 80, 81 and 83: arithmetic with a constant. */
static void read_constant_arithmetic(const struct decoding *decoding)
{
    bool adds = (decoding->reg == 0 || decoding->reg == 5) && decoding->opcode != 0x80;

    if (decoding->reg == 7)
        return;
    if (decoding->memory) {
        decoding->read->operation = adds && decoding->wide ? X86_ADD_TO_MEMORY : X86_STORE_OTHER;
        if (adds && decoding->reg == 5)
            decoding->read->immediate = -decoding->read->immediate;
    } else if (adds)
        add_constant(decoding, other_register_of(decoding), decoding->reg == 5);
    else
        decoding->read->changed = BIT(other_register_of(decoding));
}

static void change_operand(const struct decoding *decoding)
{
    if (decoding->memory)
        decoding->read->operation = X86_STORE_OTHER;
    else
        decoding->read->changed |= BIT(other_register_of(decoding));
}

static void read_group_five(const struct decoding *decoding)
{
    if (decoding->reg == 2 || decoding->reg == 3)
        decoding->read->operation = X86_CALL_POINTER;
    else if (decoding->reg == 4 || decoding->reg == 5)
        decoding->read->operation = X86_JUMP_POINTER;
    else if (decoding->reg < 2)
        change_operand(decoding);
}

static void read_pop_or_exchange(const struct decoding *decoding)
{
    uint8_t opcode = decoding->opcode;
    unsigned reg = (opcode & 7) | decoding->high_base;

    if (opcode >= 0x58 && opcode <= 0x5f)
        decoding->read->changed = BIT(reg) | BIT(X86_SP);
    else if (opcode >= 0x50 && opcode <= 0x57)
        decoding->read->changed = BIT(X86_SP);
    else if (reg || opcode != 0x90)
        decoding->read->changed = BIT(reg) | BIT(X86_AX);
}

static void read_set(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;

    read->to = (int)((decoding->opcode & 7) | decoding->high_base);
    read->changed = BIT(read->to);
    if (decoding->opcode >= 0xb8 && !decoding->narrow) {
        read->operation = X86_SET;
        if (!decoding->wide)
            read->immediate = (uint32_t)read->immediate;
    }
}

static void read_store_constant(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;

    if (decoding->memory) {
        read->operation = X86_STORE_OTHER;
    } else {
        read->to = other_register_of(decoding);
        read->changed = BIT(read->to);
        if (decoding->wide && decoding->opcode == 0xc7)
            read->operation = X86_SET;
    }
}

/* Decodes the opcodes of the one-byte map that neither copy a pointer nor jump. */
static void read_rest_of_map_one(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;
    uint8_t opcode = decoding->opcode;

    if (opcode == 0x63 || opcode == 0x69 || opcode == 0x6b)
        read->changed = BIT(register_of(decoding));
    else if (opcode == 0x86 || opcode == 0x87) {
        read->changed = BIT(register_of(decoding));
        change_operand(decoding);
    } else if (opcode == 0x8f || opcode == 0xc0 || opcode == 0xc1 ||
               (opcode >= 0xd0 && opcode <= 0xd3))
        change_operand(decoding);
    else if (opcode == 0xf6 || opcode == 0xf7) {
        if (decoding->reg >= 4)
            read->changed = BIT(X86_AX) | BIT(X86_DX);
        else if (decoding->reg >= 2)
            change_operand(decoding);
    } else if (opcode == 0xfe)
        change_operand(decoding);
    else if (opcode == 0x98 || opcode == 0x99)
        read->changed = BIT(X86_AX) | BIT(X86_DX);
    else if (opcode == 0xc9)
        read->changed = BIT(X86_BP) | BIT(X86_SP);
    else if ((opcode >= 0xa0 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
             (opcode >= 0x6c && opcode <= 0x6f))
        read->changed = BIT(X86_AX) | BIT(X86_CX) | BIT(X86_SI) | BIT(X86_DI);
    else if ((opcode >= 0xe0 && opcode <= 0xe7) || opcode >= 0xec)
        read->changed = BIT(X86_AX) | BIT(X86_CX);
}

static void read_map_one(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;
    uint8_t opcode = decoding->opcode;

    if (opcode < 0x40)
        read_arithmetic(decoding);
    else if ((opcode >= 0x50 && opcode <= 0x5f) || (opcode >= 0x90 && opcode <= 0x97))
        read_pop_or_exchange(decoding);
    else if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
        read->operation = X86_BRANCH;
    else if (opcode == 0x80 || opcode == 0x81 || opcode == 0x83)
        read_constant_arithmetic(decoding);
    else if (opcode == 0x89 || opcode == 0x8b)
        move_value(decoding, opcode == 0x89);
    else if (opcode == 0x88)
        change_operand(decoding);
    else if (opcode == 0x8a)
        read->changed = BIT(register_of(decoding));
    else if (opcode == 0x8d) {
        read->operation = decoding->wide && decoding->memory ? X86_ADDRESS : X86_OTHER;
        read->to = register_of(decoding);
        read->changed = BIT(read->to);
    } else if (opcode >= 0xb0 && opcode <= 0xbf)
        read_set(decoding);
    else if (opcode == 0xc6 || opcode == 0xc7)
        read_store_constant(decoding);
    else if (opcode == 0xc2 || opcode == 0xc3)
        read->operation = X86_RETURN;
    else if (opcode == 0xe8)
        read->operation = X86_CALL;
    else if (opcode == 0xe9 || opcode == 0xeb)
        read->operation = X86_JUMP;
    else if (opcode == 0xcc || opcode == 0xf4)
        read->operation = X86_STOP;
    else if (opcode == 0xff)
        read_group_five(decoding);
    else
        read_rest_of_map_one(decoding);
}

/* Decodes opcodes behind 0f. Most of them use vector registers, so their register numbers are no
 * general registers. */
static void read_map_0f(const struct decoding *decoding)
{
    struct x86_instruction *read = decoding->read;
    uint8_t opcode = decoding->opcode;
    int reg = register_of(decoding);

    if (opcode >> 4 == 8)
        read->operation = X86_BRANCH;
    else if (opcode == 0x0b || opcode == 0xb9)
        read->operation = X86_STOP;
    else if (opcode >> 4 == 4 || opcode == 0x2c || opcode == 0x2d || opcode == 0x50 ||
             opcode == 0xaf || (opcode >= 0xb6 && opcode <= 0xb8) ||
             (opcode >= 0xbc && opcode <= 0xbf) || opcode == 0xc5 || opcode == 0xd7)
        read->changed = BIT(reg);
    else if (opcode >> 4 == 9 || opcode == 0x7e || opcode == 0xa4 || opcode == 0xa5 ||
             opcode == 0xab || opcode == 0xac || opcode == 0xad || opcode == 0xb3 ||
             opcode == 0xba || opcode == 0xbb || opcode == 0xc7 || opcode == 0x1e)
        change_operand(decoding);
    else if (opcode == 0xb0 || opcode == 0xb1 || opcode == 0xc0 || opcode == 0xc1) {
        read->changed = BIT(X86_AX) | BIT(reg);
        change_operand(decoding);
    } else if (opcode >= 0xc8 && opcode <= 0xcf)
        read->changed = BIT((opcode & 7) | decoding->high_base);
    else if (opcode == 0xa2 || opcode == 0x01 || opcode == 0x31 || opcode == 0x05)
        read->changed = BIT(X86_AX) | BIT(X86_BX) | BIT(X86_CX) | BIT(X86_DX) | BIT(11);
    else if (decoding->memory &&
             (opcode == 0x11 || opcode == 0x13 || opcode == 0x17 || opcode == 0x29 ||
              opcode == 0x7f || opcode == 0xd6 || opcode == 0xe7))
        read->operation = X86_STORE_OTHER;
}

/* Decodes opcodes of the maps 0f38 and 0f3a. Few of them write general registers, but all that
 * might are assumed to. */
static void read_other_map(const struct decoding *decoding)
{
    uint8_t opcode = decoding->opcode;

    if (decoding->map == MAP_0F38 && opcode < 0xf0)
        return;
    if (decoding->map == MAP_0F3A && (opcode < 0x14 || opcode > 0x17) && opcode < 0xf0)
        return;
    decoding->read->changed = BIT(register_of(decoding)) | BIT(decoding->vector_register);
    if (!decoding->memory)
        decoding->read->changed |= BIT(other_register_of(decoding));
}

bool x86_instruction_read(const uint8_t *code, size_t left, struct x86_instruction *read)
{
    struct decoding decoding = {.code = code, .left = left, .read = read};
    unsigned size;

    *read = (struct x86_instruction){
        .to = X86_NONE, .from = X86_NONE, .base = X86_NONE, .index = X86_NONE, .scale = 1};
    if (!read_opcode(&decoding) || !read_modrm(&decoding))
        return false;
    size = immediate_size(&decoding);
    if (size == 3)
        decoding.at += 3;
    else if (!next_number(&decoding, size, &read->immediate))
        return false;
    if (decoding.at > left || decoding.at > LONGEST)
        return false;
    if (decoding.map == MAP_ONE)
        read_map_one(&decoding);
    else if (decoding.map == MAP_0F && !decoding.vector)
        read_map_0f(&decoding);
    else
        read_other_map(&decoding);
    read->length = (unsigned)decoding.at;
    return true;
}
