#include "preload/interpose/displace.h"
#include "instruction.h"

/* Says whether a relative jump is unconditional. */
static bool is_unconditional(const struct instruction *instruction)
{
    return instruction->opcode == 0xeb || instruction->opcode == 0xe9;
}

struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address)
{
    struct instruction next = instruction_read(code, left);
    struct displace_step step = {.unknown = next.form == INSN_UNKNOWN, .length = next.length};
    if (next.form == INSN_CALL || next.form == INSN_BRANCH)
        step.to = instruction_target(&next, code, address);
    if (next.form == INSN_CALL)
        step.flow = FLOW_CALL;
    else if (next.form == INSN_BRANCH)
        step.flow = is_unconditional(&next) ? FLOW_JUMP : FLOW_IF;
    else if (next.form == INSN_RETURN)
        step.flow = FLOW_END;
    else if (next.form == INSN_FIXED && next.opcode == 0xff)
        step.flow = FLOW_POINTER;
    return step;
}

/* ---- Moving instructions --------------------------------------------------------------------- */

static bool put_distance(struct displaced *out, unsigned length, unsigned relative, uintptr_t from,
                         uintptr_t to)
{
    int64_t distance = (intptr_t)(to - (from + length));
    int32_t near = (int32_t)distance;
    memcpy(out->copy + out->copied + relative, &near, sizeof near);
    out->copied += length;
    return near == distance;
}

/* Moves a jump. The copy of a short jump is a near jump, which has a larger range. */
static bool move_branch(const struct instruction *instruction, uintptr_t target, uintptr_t to,
                        struct displaced *out)
{
    uint8_t *copy = out->copy + out->copied;
    bool always = is_unconditional(instruction);
    if (always)
        copy[0] = 0xe9;
    else {
        copy[0] = 0x0f;
        copy[1] = 0x80 | (instruction->opcode & 0xf);
    }
    return put_distance(out, always ? 5 : 6, always ? 1 : 2, to + out->copied, target);
}

/* Moves a call. The called function must return to the original function and not to the copy, which
 * no unwinder knows. So the copy pushes the return address (64 bits in two halves) and jumps to the
 * called function. */
static bool move_call(const struct instruction *instruction, uintptr_t at, uintptr_t target,
                      uintptr_t to, struct displaced *out)
{
    uint8_t *copy = out->copy + out->copied;
    uintptr_t back = at + instruction->length;
    uint32_t low = (uint32_t)back;
    unsigned pushed = 5;
    copy[0] = 0x68; /* push $low */
    memcpy(copy + 1, &low, sizeof low);
#ifdef __x86_64__
    uint32_t high = back >> 32;
    memcpy(copy + 5, "\xc7\x44\x24\x04", 4); /* movl $high,4(%rsp) */
    memcpy(copy + 9, &high, sizeof high);
    pushed = 13;
#endif
    copy[pushed] = 0xe9;
    out->copied += pushed;
    return put_distance(out, 5, 1, to + out->copied, target);
}

/* Says whether the thread has a shadow stack: then the CPU does not accept a return address that
 * was pushed. */
static bool has_shadow_stack(void)
{
    uintptr_t pointer = 0; /* stays 0 in 32-bit programs, which have no shadow stack on Linux */
#ifdef __x86_64__
    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing on a CPU without shadow stacks */
#endif
    return pointer != 0;
}

static bool move_instruction(const struct instruction *instruction, const uint8_t *bytes,
                             uintptr_t at, uintptr_t to, struct displaced *out)
{
    if (instruction->form == INSN_BRANCH)
        return move_branch(instruction, instruction_target(instruction, bytes, at), to, out);
    if (instruction->form == INSN_CALL)
        return move_call(instruction, at, instruction_target(instruction, bytes, at), to, out);
    memcpy(out->copy + out->copied, bytes, instruction->length);
    if (instruction->relative)
        return put_distance(out, instruction->length, instruction->relative, to + out->copied,
                            instruction_target(instruction, bytes, at));
    out->copied += instruction->length;
    return true;
}

/* ---- Refusing functions that cannot be changed ----------------------------------------------- */

/* Says whether bytes are padding that compilers and assemblers put between functions. */
static bool is_padding(const struct displace_function *function, unsigned at, unsigned end)
{
    while (at < end) {
        struct instruction next = instruction_read(function->code + at, function->room - at);
        if (function->code[at] == 0xcc)
            next = (struct instruction){.form = INSN_PLAIN, .length = 1, .opcode = 0x90};
        if (next.form != INSN_PLAIN || (next.opcode != 0x90 && next.opcode != 0x0f1f))
            return false;
        at += next.length;
    }
    return true;
}

#ifdef __x86_64__
#define LANDING_PAD "\xf3\x0f\x1e\xfa" /* endbr64 */
#else
#define LANDING_PAD "\xf3\x0f\x1e\xfb" /* endbr32 */
#endif

static bool has_landing_pad(const struct displace_function *function)
{
    return function->size >= 4 && memcmp(function->code, LANDING_PAD, 4) == 0;
}

static unsigned end_of_nops(const struct displace_function *function, unsigned at)
{
    while (at < function->size) {
        const uint8_t *code = function->code + at;
        struct instruction next = instruction_read(code, function->size - at);
        bool is_short =
            next.opcode == 0x90 && (next.length == 1 || (next.length == 2 && code[0] == 0x66));
        if (next.form != INSN_PLAIN || (!is_short && next.opcode != 0x0f1f))
            break;
        at += next.length;
    }
    return at;
}

/* Returns the size of the beginning of a function that stays in place: a landing pad, and what the
 * program itself rewrites while it runs: nops (-fpatchable-function-entry), or a short jump over
 * nops (XRay). */
static unsigned fixed_beginning(const struct displace_function *function)
{
    unsigned at = end_of_nops(function, has_landing_pad(function) ? 4 : 0);
    if (at + 2 >= function->size || function->code[at] != 0xeb)
        return at;
    unsigned after = at + 2 + function->code[at + 1];
    return after > at + 2 && end_of_nops(function, at + 2) >= after ? after : at;
}

struct move_state {
    bool ended, keeps_stack;
};

static const char *move_next(const struct displace_function *function, uintptr_t to,
                             struct displaced *out, struct move_state *state)
{
    unsigned at = out->skip + out->taken;
    const uint8_t *bytes = function->code + at;
    if (at >= function->size)
        return "it is too short";
    struct instruction next = instruction_read(bytes, function->size - at);
    if (next.form == INSN_FIXED || next.form == INSN_UNKNOWN ||
        (next.form == INSN_CALL && has_shadow_stack()))
        return "it begins with code that cannot be moved";
    if (!move_instruction(&next, bytes, function->address + at, to, out))
        return "what it refers to is too far away";
    state->keeps_stack &= next.form != INSN_STACK;
    state->ended = next.form == INSN_RETURN || next.form == INSN_CALL || is_unconditional(&next);
    out->taken += next.length;
    return NULL;
}

static bool take_padding(const struct displace_function *function, struct displaced *out)
{
    bool enough = out->taken >= ARCH_JUMP ||
                  (out->skip + ARCH_JUMP <= function->room &&
                   is_padding(function, out->skip + out->taken, out->skip + ARCH_JUMP));
    if (out->taken < ARCH_JUMP)
        out->taken = ARCH_JUMP;
    return enough;
}

const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out)
{
    struct move_state state = {.keeps_stack = true};
    const char *why = NULL;
    *out = (struct displaced){.skip = fixed_beginning(function)};
    while (!why && !state.ended && out->taken < ARCH_JUMP)
        why = move_next(function, to, out, &state);
    if (why)
        return why;
    if (!take_padding(function, out))
        return "it is too short";
    if (displace_is_loop(function, out, state.keeps_stack))
        return "its beginning is a loop";
    if (state.ended)
        return NULL;
    if (!displace_jump(to + out->copied, function->address + out->skip + out->taken,
                       out->copy + out->copied))
        return "what it refers to is too far away";
    out->copied += ARCH_JUMP;
    return NULL;
}

/* ---- Writing jumps --------------------------------------------------------------------------- */

bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out)
{
    int64_t distance = (intptr_t)(to - (from + ARCH_JUMP));
    int32_t near = (int32_t)distance;
    out[0] = 0xe9;
    memcpy(out + 1, &near, sizeof near);
    return near == distance;
}

void displace_far_jump(uintptr_t to, uint8_t *out)
{
#ifdef __x86_64__
    memcpy(out, "\xff\x25\x00\x00\x00\x00", 6); /* jmp *0(%rip) */
    memcpy(out + 6, &to, sizeof to);
#else
    out[0] = 0x68; /* push $to; ret */
    memcpy(out + 1, &to, sizeof to);
    out[5] = 0xc3;
#endif
}
