#include "instruction.h"

#define LONGEST 15 /* largest length of an instruction in bytes */

#ifdef __x86_64__
#define IS_64_BIT true
#else
/* i386, for which the Makefile compiles this file, too: it has no REX prefixes and no pc-relative
 * operands */
#define IS_64_BIT false
#endif

static bool is_rex(uint8_t byte)
{
    return IS_64_BIT && (byte & 0xf0) == 0x40;
}

/* Reads the ModRM byte and what follows it: an operand in a register or in memory. */
static void read_operand(const uint8_t *bytes, struct instruction *out)
{
    unsigned byte = bytes[out->length++], mode = byte >> 6, base = byte & 7;
    if (mode == 3)
        return;
    if (mode == 0 && base == 5 && IS_64_BIT)
        out->relative = out->length;
    if (base == 4 && (bytes[out->length++] & 7) == 5 && mode == 0)
        out->length += 4;
    out->length += mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
}

static bool is_stack_pointer(uint8_t operand)
{
    return (operand & 0xc7) == 0xc4;
}

/* Reads the second byte of an opcode, after 0x0f. */
static enum instruction_form read_long_opcode(const uint8_t *bytes, struct instruction *out)
{
    unsigned opcode = bytes[out->length++];
    out->opcode = 0x0f00 | opcode;
    if (opcode >= 0x80 && opcode <= 0x8f) {
        out->relative = out->length;
        out->length += 4;
        return INSN_BRANCH;
    }
    bool known = (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f) ||
                 memchr("\x10\x11\x1e\x1f\x28\x29\x57\x6e\x6f\x7e\x7f\xaf\xb0\xb1\xb6\xb7\xbc\xbd"
                        "\xbe\xbf\xc0\xc1\xd6\xef",
                        opcode, 24);
    if (known)
        read_operand(bytes, out);
    return known ? INSN_PLAIN : INSN_UNKNOWN;
}

/* Reads an operand and an immediate number. The size of the number follows from the opcode
 * (is_byte) and from the operand-size prefix (is_short). */
static enum instruction_form read_with_number(const uint8_t *bytes, struct instruction *out,
                                              bool is_byte, bool is_short)
{
    read_operand(bytes, out);
    out->length += is_byte ? 1 : is_short ? 2 : 4;
    return INSN_PLAIN;
}

/* Reads inc, dec or push. The indirect calls and jumps with the same opcode cannot be moved. */
static enum instruction_form read_group_5(const uint8_t *bytes, struct instruction *out)
{
    unsigned which = bytes[out->length] >> 3 & 7;
    read_operand(bytes, out);
    return which < 2 ? INSN_PLAIN : which == 6 ? INSN_STACK : which < 6 ? INSN_FIXED : INSN_UNKNOWN;
}

static enum instruction_form read_branch(struct instruction *out, unsigned size)
{
    out->relative = out->length;
    out->is_short = size == 1;
    out->length += size;
    return INSN_BRANCH;
}

static enum instruction_form read_opcode(const uint8_t *bytes, struct instruction *out,
                                         bool is_short, bool is_wide)
{
    unsigned opcode = bytes[out->length++], operand = bytes[out->length];
    out->opcode = opcode;
    switch (opcode) {
    case 0x0f:
        return read_long_opcode(bytes, out);
    case 0x00 ... 0x0e:
    case 0x10 ... 0x3f: /* add, or, adc, sbb, and, sub, xor, cmp */
        if ((opcode & 7) > 5)
            return INSN_UNKNOWN;
        if ((opcode & 7) < 4)
            read_operand(bytes, out);
        else
            out->length += opcode & 1 ? (is_short ? 2 : 4) : 1;
        return INSN_PLAIN;
    case 0x40 ... 0x4f: /* inc, dec */
        return IS_64_BIT ? INSN_UNKNOWN : INSN_PLAIN;
    case 0x50 ... 0x5f: /* push, pop */
        return INSN_STACK;
    case 0x63:          /* movslq */
    case 0x84 ... 0x8b: /* test xchg mov */
    case 0x8d:          /* lea */
    case 0xd0 ... 0xd3: /* shifts */
        read_operand(bytes, out);
        return INSN_PLAIN;
    case 0x68:
        out->length += 4;
        return INSN_STACK;
    case 0x6a:
        out->length++;
        return INSN_STACK;
    case 0x69:
    case 0x81:
    case 0xc7:
        read_with_number(bytes, out, false, is_short);
        return opcode == 0x81 && is_stack_pointer(operand) ? INSN_STACK : INSN_PLAIN;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
        read_with_number(bytes, out, true, is_short);
        return opcode == 0x83 && is_stack_pointer(operand) ? INSN_STACK : INSN_PLAIN;
    case 0x70 ... 0x7f:
    case 0xeb:
        return read_branch(out, 1);
    case 0xe9:
        return read_branch(out, 4);
    case 0x90:
        return INSN_PLAIN;
    case 0x98:
    case 0x99: /* cltq, cqto */
        return INSN_PLAIN;
    case 0xa1: /* mov between eax and an address */
    case 0xa3:
        out->length += 4;
        return IS_64_BIT ? INSN_UNKNOWN : INSN_PLAIN;
    case 0xa8:
    case 0xb0 ... 0xb7:
        out->length++;
        return INSN_PLAIN;
    case 0xa9:
        out->length += is_short ? 2 : 4;
        return INSN_PLAIN;
    case 0xb8 ... 0xbf:
        out->length += is_wide ? 8 : is_short ? 2 : 4;
        return INSN_PLAIN;
    case 0xc3:
        return INSN_RETURN;
    case 0xc9: /* leave */
    case 0xcc:
    case 0xf4:
        return INSN_FIXED;
    case 0xe8:
        read_branch(out, 4);
        return INSN_CALL;
    case 0xf6:
    case 0xf7: /* test has an immediate; neg, mul and div have none */
        if (operand & 0x30)
            read_operand(bytes, out);
        else
            read_with_number(bytes, out, opcode == 0xf6, is_short);
        return INSN_PLAIN;
    case 0xfe:
        read_operand(bytes, out);
        return INSN_PLAIN;
    case 0xff:
        return read_group_5(bytes, out);
    default:
        return INSN_UNKNOWN;
    }
}

struct instruction instruction_read(const uint8_t *bytes, size_t left)
{
    struct instruction out = {0};
    uint8_t window[2 * LONGEST + 2] = {0};
    bool is_short = false, is_wide = false;
    memcpy(window, bytes, left < LONGEST ? left : LONGEST);
    for (; out.length < 4 && memchr("\x66\x64\x65\x2e\xf0\xf2\xf3", window[out.length], 7);
         out.length++)
        is_short |= window[out.length] == 0x66;
    unsigned prefixes = out.length;
    if (is_rex(window[out.length]))
        is_wide = window[out.length++] & 8;
    /* With this bit of the REX prefix the number of %rsp means %r12, so the stack pointer is not
     * changed. */
    bool is_high = out.length > prefixes && window[prefixes] & 1;
    out.form = read_opcode(window, &out, is_short, is_wide);
    if (is_high && out.form == INSN_STACK && (out.opcode == 0x81 || out.opcode == 0x83))
        out.form = INSN_PLAIN;
    /* A jump or call with a prefix is not decoded, because the prefix changes its meaning. */
    if (out.length > left || out.length > LONGEST ||
        ((out.form == INSN_BRANCH || out.form == INSN_CALL) && prefixes) ||
        (out.form == INSN_RETURN && out.length > 1))
        out.form = INSN_UNKNOWN;
    return out;
}

uintptr_t instruction_target(const struct instruction *instruction, const uint8_t *bytes,
                             uintptr_t at)
{
    int32_t distance;
    if (instruction->is_short)
        distance = (int8_t)bytes[instruction->relative];
    else
        memcpy(&distance, bytes + instruction->relative, sizeof distance);
    return at + instruction->length + distance;
}

/* ---- Finding the number of a system call ----------------------------------------------------- */

/* The instruction that loads the number of a system call is searched in this many bytes before the
 * system call. */
#define NUMBER_FAR 64

struct move {
    bool known;
    unsigned to;   /* number of the register that is written; MEMORY: memory is written */
    unsigned form; /* opcode */
    const uint8_t *operand;
    unsigned rex;
};
#define MEMORY 16
#define STACK_POINTER 4 /* numbers of rsp and, in the next line, rbp as instructions encode them */
#define STACK_FRAME 5

/* Finds the register that an instruction writes. It knows only the instructions that compilers
 * use to load arguments. */
static struct move read_move(const uint8_t *bytes)
{
    struct move move = {0};
    /* skips the prefix %fs or %gs of thread-local variables */
    bytes += *bytes == (IS_64_BIT ? 0x64 : 0x65);
    if (is_rex(*bytes))
        move.rex = *bytes++;
    move.form = *bytes;
    move.operand = bytes + 1;
    unsigned operand = *move.operand;
    unsigned middle = (operand >> 3 & 7) | (move.rex & 4) << 1;
    unsigned last = operand >> 6 == 3 ? (operand & 7) | (move.rex & 1) << 3 : MEMORY;
    move.known = true;
    switch (move.form) {
    case 0x8b: /* mov */
    case 0x8d: /* lea */
    case 0x33: /* xor */
        move.to = middle;
        break;
    case 0x89: /* mov */
    case 0x31: /* xor */
    case 0xc7: /* mov of a number */
    case 0x80: /* and, xor ... with a number */
    case 0x81:
    case 0x83:
        move.to = last;
        break;
    case 0xb8 ... 0xbf: /* mov of a number */
        move.to = (move.form & 7) | (move.rex & 1) << 3;
        break;
    default:
        move.known = false;
    }
    return move;
}

/* Recognizes mov distance(%rsp), %reg and mov distance(%rbp), %reg. */
static bool is_stack_load(const struct move *move)
{
    unsigned operand = *move->operand, size = operand >> 6;
    return IS_64_BIT && move->form == 0x8b && (size == 1 || size == 2) && !(move->rex & 3) &&
           ((operand & 7) == STACK_FRAME ||
            ((operand & 7) == STACK_POINTER && move->operand[1] == 0x24));
}

static struct instruction_number read_stack_load(const struct move *move)
{
    unsigned operand = *move->operand;
    const uint8_t *at = move->operand + 1 + ((operand & 7) == STACK_POINTER);
    struct instruction_number number = {.found = true, .reg = operand & 7, .in_memory = true};
    if (operand >> 6 == 1)
        number.distance = (int8_t)*at;
    else
        memcpy(&number.distance, at, sizeof number.distance);
    return number;
}

/* Returns where the value comes from that an instruction writes to a register. reg: number of the
 * register, below 8. */
static struct instruction_number read_number(const struct move *move, unsigned reg)
{
    struct instruction_number number = {.found = true, .reg = -1};
    unsigned operand = *move->operand, last = (operand & 7) | (move->rex & 1) << 3;
    if (is_stack_load(move))
        return read_stack_load(move);
    if (move->form == 0xb8 + reg && !(move->rex & 8)) /* mov $number, %eax */
        memcpy(&number.number, move->operand, sizeof number.number);
    else if (move->form == 0xc7) /* mov $number, %rax */
        memcpy(&number.number, move->operand + 1, sizeof number.number);
    else if (move->form == 0x89) /* mov %reg, %eax */
        number.reg = (operand >> 3 & 7) | (move->rex & 4) << 1;
    else if (move->form == 0x8b && operand >> 6 == 3)
        number.reg = last;
    else
        number.found = (move->form == 0x31 || move->form == 0x33) &&
                       operand == (0xc0 | reg << 3 | reg) && !move->rex;
    return number;
}

/* Says whether an instruction changes the register or memory from which a value was loaded
 * before. */
static bool is_changed(const struct instruction_number *from, const struct move *move)
{
    return (from->reg >= 0 && move->to == (unsigned)from->reg) ||
           (from->in_memory && move->to == MEMORY);
}

/* Says whether the instruction at "bytes" writes the register, and no later instruction before the
 * call does. If so, *out says where the value comes from. */
static bool leads_to_call(const uint8_t *bytes, const uint8_t *call, unsigned reg,
                          struct instruction_number *out)
{
    for (const uint8_t *at = bytes; at < call;) {
        struct instruction instruction = instruction_read(at, call - at);
        struct move move = read_move(at);
        if (instruction.form == INSN_UNKNOWN || !move.known || (move.to == reg) != (at == bytes) ||
            instruction.length > (size_t)(call - at))
            return false;
        if (at == bytes)
            *out = read_number(&move, reg);
        else if (is_changed(out, &move))
            return false;
        at += instruction.length;
    }
    return out->found;
}

struct instruction_number instruction_find_value(const uint8_t *call, unsigned reg)
{
    struct instruction_number number = {0};
    size_t most = (uintptr_t)call % 4096 < NUMBER_FAR ? (uintptr_t)call % 4096 : NUMBER_FAR;
    for (size_t back = 2; back < most; back++) {
        /* A REX prefix in front would belong to the instruction and change its registers. */
        bool has_prefix = is_rex(call[-(ptrdiff_t)back - 1]);
        if (!has_prefix && leads_to_call(call - back, call, reg, &number))
            return number;
    }
    return (struct instruction_number){0};
}

struct instruction_number instruction_find_number(const uint8_t *call)
{
    return instruction_find_value(call, 0);
}

bool instruction_is_cancel(const uint8_t *call)
{
    /* The code of __syscall_cancel_arch: mov %rsi,%rax (the number); then five arguments move up by
     * one, and the last two come from the stack. */
    static const uint8_t code[] = {0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7, 0x48, 0x89, 0xce, 0x4c,
                                   0x89, 0xc2, 0x4d, 0x89, 0xca, 0x4c, 0x8b, 0x44, 0x24, 0x08,
                                   0x4c, 0x8b, 0x4c, 0x24, 0x10, 0x4c, 0x89, 0x5c, 0x24, 0x08};
    return (uintptr_t)call % 4096 >= sizeof code &&
           memcmp(call - sizeof code, code, sizeof code) == 0;
}
