#include "preload/interpose/displace.h"

#include <sys/auxv.h>

#ifndef HWCAP2_BTI
#define HWCAP2_BTI (1 << 17)
#endif

#define FAR (128l << 20) /* range of a branch in bytes, in either direction */

static bool matches(uint32_t instruction, uint32_t mask, uint32_t value)
{
    return (instruction & mask) == value;
}

static bool is_bti(uint32_t instruction)
{
    return matches(instruction, 0xffffff3f, 0xd503241f);
}

/* Recognizes paciasp and pacibsp, which are also landing pads for indirect calls. */
static bool is_signing(uint32_t instruction)
{
    return matches(instruction, 0xffffffbf, 0xd503233f);
}

static bool is_return(uint32_t instruction)
{
    return instruction == 0xd65f03c0;
}

static bool reads_system_register(uint32_t instruction)
{
    return matches(instruction, 0xfff00000, 0xd5300000);
}

static bool is_jump(uint32_t instruction)
{
    return matches(instruction, 0xfc000000, 0x14000000);
}

static bool is_call(uint32_t instruction)
{
    return matches(instruction, 0xfc000000, 0x94000000);
}

/* Recognizes blr and br. */
static bool is_indirect(uint32_t instruction)
{
    return matches(instruction, 0xfedff000, 0xd61f0000);
}

/* Recognizes b.cond, cbz, cbnz, tbz and tbnz. */
static bool is_condition(uint32_t instruction)
{
    return matches(instruction, 0xff000010, 0x54000000) ||
           matches(instruction, 0x7e000000, 0x34000000);
}

static bool is_bit_condition(uint32_t instruction)
{
    return matches(instruction, 0x7e000000, 0x36000000);
}

/* Recognizes adr and adrp. */
static bool is_address(uint32_t instruction)
{
    return matches(instruction, 0x1f000000, 0x10000000);
}

/* Says whether an instruction can be moved unchanged: it does not depend on its address and only
 * works with registers and memory. Branches, calls and instructions that raise exceptions cannot be
 * moved unchanged; hints can. */
static bool is_plain(uint32_t instruction)
{
    return is_return(instruction) || reads_system_register(instruction) ||
           !(is_address(instruction) ||
             matches(instruction, 0x3b000000, 0x18000000) || /* load of a literal */
             (matches(instruction, 0x1c000000, 0x14000000) &&
              !matches(instruction, 0xfffff01f, 0xd503201f)) ||
             matches(instruction, 0x18000000, 0)); /* udf, unallocated encodings and SVE */
}

/* Recognizes stp ..., [sp, #-n]!, sub sp, sp, #n and str x, [sp, #-n]!, which move the stack
 * pointer down. */
static bool moves_stack(uint32_t instruction)
{
    return matches(instruction, 0xffc003e0, 0xa98003e0) ||
           matches(instruction, 0xff8003ff, 0xd10003ff) ||
           matches(instruction, 0xffe00fe0, 0xf8000fe0);
}

/* Returns a field of bits of an instruction as a signed number. */
static int64_t read_distance(uint32_t instruction, unsigned from, unsigned bits)
{
    return (int64_t)((uint64_t)instruction << (64 - from - bits)) >> (64 - bits);
}

/* Returns the distance from a branch to its target, in instructions; 0: it is no branch. */
static int64_t branch_distance(uint32_t instruction)
{
    return is_jump(instruction) || is_call(instruction) ? read_distance(instruction, 0, 26)
           : is_condition(instruction)                  ? read_distance(instruction, 5, 19)
           : is_bit_condition(instruction)              ? read_distance(instruction, 5, 14)
                                                        : 0;
}

static uint32_t instruction_at(const struct displace_function *function, size_t index)
{
    uint32_t instruction;
    memcpy(&instruction, function->code + 4 * index, sizeof instruction);
    return instruction;
}

struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address)
{
    struct displace_step step = {.length = 4};
    uint32_t instruction = 0;
    memcpy(&instruction, code, left < 4 ? left : 4);
    if (is_call(instruction))
        step.flow = FLOW_CALL;
    else if (is_jump(instruction))
        step.flow = FLOW_JUMP;
    else if (is_condition(instruction) || is_bit_condition(instruction))
        step.flow = FLOW_IF;
    else if (is_indirect(instruction))
        step.flow = FLOW_POINTER;
    else if (is_return(instruction))
        step.flow = FLOW_END;
    step.to = address + 4 * branch_distance(instruction);
    return step;
}

/* ---- Moving instructions --------------------------------------------------------------------- */

static void put_instruction(struct displaced *out, uint32_t instruction)
{
    memcpy(out->copy + out->copied, &instruction, sizeof instruction);
    out->copied += sizeof instruction;
}

static bool put_jump(struct displaced *out, uintptr_t to, uintptr_t target)
{
    bool near = displace_jump(to + out->copied, target, out->copy + out->copied);
    out->copied += ARCH_JUMP;
    return near;
}

/* Moves a conditional branch, whose range is short: in the copy it leads over the jump back to the
 * function, to a jump to its target. */
static bool move_condition(uint32_t instruction, uintptr_t from, uintptr_t to,
                           struct displaced *out)
{
    uint32_t field = is_condition(instruction) ? 0x7ffff << 5 : 0x3fff << 5;
    put_instruction(out, (instruction & ~field) | 2 << 5);
    return put_jump(out, to, from + 4) &&
           put_jump(out, to, from + 4 * branch_distance(instruction));
}

/* Moves adr or adrp: the copy loads the address from a word behind it (ldr x, .+8). */
static bool move_address(uint32_t instruction, uintptr_t from, uintptr_t to, struct displaced *out)
{
    int64_t way =
        (int64_t)((uint64_t)read_distance(instruction, 5, 19) << 2 | (instruction >> 29 & 3));
    bool pages = instruction >> 31;
    uintptr_t value = pages ? (from & ~0xffful) + ((uintptr_t)way << 12) : from + way;
    put_instruction(out, 0x58000000 | 2 << 5 | (instruction & 0x1f));
    bool near = put_jump(out, to, from + 4);
    memcpy(out->copy + out->copied, &value, sizeof value);
    out->copied += sizeof value;
    return near;
}

static bool move_instruction(uint32_t instruction, uintptr_t from, uintptr_t to,
                             struct displaced *out)
{
    if (is_jump(instruction))
        return put_jump(out, to, from + 4 * branch_distance(instruction));
    if (is_condition(instruction) || is_bit_condition(instruction))
        return move_condition(instruction, from, to, out);
    if (is_address(instruction))
        return move_address(instruction, from, to, out);
    put_instruction(out, instruction);
    return is_return(instruction) || put_jump(out, to, from + 4);
}

static bool may_move(uint32_t instruction)
{
    return is_plain(instruction) || is_address(instruction) ||
           (branch_distance(instruction) && !is_call(instruction));
}

#define NOP 0xd503201f

static size_t end_of_nops(const struct displace_function *function, size_t index)
{
    while (4 * index < function->size && instruction_at(function, index) == NOP)
        index++;
    return index;
}

/* Returns the number of instructions at the beginning of a function that stay in place: a landing
 * pad, and what the program itself rewrites while it runs: nops (-fpatchable-function-entry), or a
 * jump over nops (XRay). */
static size_t fixed_beginning(const struct displace_function *function)
{
    bool has_pad = function->size >= 4 && is_bti(instruction_at(function, 0));
    size_t index = end_of_nops(function, has_pad);
    if (4 * index >= function->size || !is_jump(instruction_at(function, index)))
        return index;
    size_t after = index + branch_distance(instruction_at(function, index));
    return after > index + 1 && end_of_nops(function, index + 1) == after ? after : index;
}

const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out)
{
    size_t index = fixed_beginning(function);
    *out = (struct displaced){.skip = 4 * index, .taken = ARCH_JUMP};
    if (function->size < 4 * (index + 1))
        return "it is too short";
    uint32_t moved = instruction_at(function, index);
    if (!may_move(moved))
        return "it begins with code that cannot be moved";
    if (is_signing(moved) && !index && getauxval(AT_HWCAP2) & HWCAP2_BTI)
        return "calls by a pointer must land on its first instruction";
    if (displace_is_loop(function, out, !moves_stack(moved)))
        return "its beginning is a loop";
    if (!move_instruction(moved, function->address + out->skip, to, out))
        return "what it refers to is too far away";
    return NULL;
}

bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out)
{
    int64_t way = to - from;
    uint32_t branch = 0x14000000 | (way >> 2 & 0x3ffffff);
    memcpy(out, &branch, sizeof branch);
    return way >= -FAR && way < FAR;
}

/* Writes a jump to any address. It uses x16, which stubs of the linker may change between a call
 * and the function. */
void displace_far_jump(uintptr_t to, uint8_t *out)
{
    static const uint32_t code[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    memcpy(out, code, sizeof code);
    memcpy(out + sizeof code, &to, sizeof to);
}
