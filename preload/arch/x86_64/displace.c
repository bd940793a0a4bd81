#include "preload/displace.h"
#include "instruction.h"

/* ---- Moving --------------------------------------------------------------------------------- */

static bool put_distance(struct displaced *out, unsigned length, unsigned relative, uintptr_t from,
                         uintptr_t to)
{
    int64_t distance = to - (from + length);
    int32_t near = (int32_t)distance;
    memcpy(out->copy + out->copied + relative, &near, sizeof near);
    out->copied += length;
    return near == distance;
}

/* A short jump becomes a long one. */
static bool move_branch(const struct instruction *instruction, uintptr_t target, uintptr_t to,
                        struct displaced *out)
{
    uint8_t *copy = out->copy + out->copied;
    bool always = instruction->opcode == 0xeb || instruction->opcode == 0xe9;
    if (always)
        copy[0] = 0xe9;
    else {
        copy[0] = 0x0f;
        copy[1] = 0x80 | (instruction->opcode & 0xf);
    }
    return put_distance(out, always ? 5 : 6, always ? 1 : 2, to + out->copied, target);
}

/* It comes back to the function, and not to the copy: nobody could walk a stack with that in it. So
 * the address behind it is pushed, in two halves, and what it calls is jumped to. */
static bool move_call(const struct instruction *instruction, uintptr_t at, uintptr_t target,
                      uintptr_t to, struct displaced *out)
{
    uint8_t *copy = out->copy + out->copied;
    uintptr_t back = at + instruction->length;
    uint32_t low = (uint32_t)back, high = back >> 32;
    copy[0] = 0x68; /* pushq $low */
    memcpy(copy + 1, &low, sizeof low);
    memcpy(copy + 5, "\xc7\x44\x24\x04", 4); /* movl $high,4(%rsp) */
    memcpy(copy + 9, &high, sizeof high);
    copy[13] = 0xe9;
    out->copied += 13;
    return put_distance(out, 5, 1, to + out->copied, target);
}

/* Where the CPU keeps return addresses a second time, one that was pushed is none. */
static bool has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing where there is none */
    return pointer != 0;
}

static bool move(const struct instruction *instruction, const uint8_t *bytes, uintptr_t at,
                 uintptr_t to, struct displaced *out)
{
    if (instruction->form == BRANCH)
        return move_branch(instruction, instruction_aim(instruction, bytes, at), to, out);
    if (instruction->form == CALL)
        return move_call(instruction, at, instruction_aim(instruction, bytes, at), to, out);
    memcpy(out->copy + out->copied, bytes, instruction->length);
    if (instruction->relative)
        return put_distance(out, instruction->length, instruction->relative, to + out->copied,
                            instruction_aim(instruction, bytes, at));
    out->copied += instruction->length;
    return true;
}

/* ---- Refusing ------------------------------------------------------------------------------- */

/* What compilers and assemblers fill up with between functions. */
static bool is_padding(const struct displace_function *function, unsigned at, unsigned end)
{
    while (at < end) {
        struct instruction next = instruction_read(function->code + at, function->room - at);
        if (function->code[at] == 0xcc)
            next = (struct instruction){.form = PLAIN, .length = 1, .opcode = 0x90};
        if (next.form != PLAIN || (next.opcode != 0x90 && next.opcode != 0x0f1f))
            return false;
        at += next.length;
    }
    return true;
}

/* before: who jumps to where the function begins may do so: it has given back the stack that it
 * took, and calls the function anew. */
static bool is_within(const struct displace_function *function, const struct displaced *out,
                      bool before, uintptr_t target)
{
    uintptr_t offset = target - function->address - out->skip;
    return offset < out->taken && (offset || !before);
}

/* Instruction by instruction; from where that is not understood on, byte by byte, and what looks
 * like a jump is one. */
struct walk {
    const struct displace_function *function;
    size_t at, end;
    struct instruction next;
    bool lost;
};

static bool walk(struct walk *walk)
{
    walk->at += walk->lost ? 1 : walk->next.length;
    if (walk->at >= walk->end)
        return false;
    walk->next = instruction_read(walk->function->code + walk->at, walk->end - walk->at);
    walk->lost |= walk->next.form == UNKNOWN;
    return true;
}

static uintptr_t walk_aim(const struct walk *walk)
{
    return instruction_aim(&walk->next, walk->function->code + walk->at,
                           walk->function->address + walk->at);
}

#define AWAY 512 /* bytes that are read of code whose size is not known */

/* What a function goes on in elsewhere: its unlikely part may come back. */
static bool cold_jumps_into(const struct displace_function *function, const struct displaced *out,
                            uintptr_t cold)
{
    struct displace_function there = {.code = function->code + (cold - function->address),
                                      .address = cold};
    struct walk part = {
        &there, 0, function->high - cold < AWAY ? function->high - cold : AWAY, {0}, false};
    bool found = false;
    while (cold - function->low < function->high - function->low && !found && walk(&part))
        found = part.next.form == BRANCH && is_within(function, out, true, walk_aim(&part));
    return found;
}

static bool rest_jumps_into(const struct displace_function *function, const struct displaced *out,
                            bool before)
{
    struct walk rest = {function, out->skip + out->taken, function->size, {0}, false};
    while (walk(&rest))
        if (rest.next.form == BRANCH && (is_within(function, out, before, walk_aim(&rest)) ||
                                         cold_jumps_into(function, out, walk_aim(&rest))))
            return true;
    return false;
}

static bool has_landing_pad(const struct displace_function *function)
{
    return function->size >= 4 && memcmp(function->code, "\xf3\x0f\x1e\xfa", 4) == 0;
}

/* Where its branches lead is written down: it may be into what is moved. */
struct moving {
    uintptr_t aim[ARCH_JUMP];
    unsigned branches;
    bool ended, keeps_stack;
};

static const char *move_next(const struct displace_function *function, uintptr_t to,
                             struct displaced *out, struct moving *moving)
{
    unsigned at = out->skip + out->taken;
    const uint8_t *bytes = function->code + at;
    if (at >= function->size)
        return "it is too short";
    struct instruction next = instruction_read(bytes, function->size - at);
    if (next.form == STAYS || next.form == UNKNOWN || (next.form == CALL && has_shadow_stack()))
        return "it begins with code that cannot be moved";
    if (next.form == BRANCH)
        moving->aim[moving->branches++] = instruction_aim(&next, bytes, function->address + at);
    if (!move(&next, bytes, function->address + at, to, out))
        return "what it refers to is too far away";
    moving->keeps_stack &= next.form != STACK;
    moving->ended =
        next.form == LAST || next.form == CALL || next.opcode == 0xeb || next.opcode == 0xe9;
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

static bool is_loop(const struct displace_function *function, const struct displaced *out,
                    const struct moving *moving)
{
    for (unsigned i = 0; i < moving->branches; i++)
        if (is_within(function, out, false, moving->aim[i]) ||
            cold_jumps_into(function, out, moving->aim[i]))
            return true;
    return rest_jumps_into(function, out, !moving->keeps_stack);
}

const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out)
{
    struct moving moving = {.keeps_stack = true};
    const char *why = NULL;
    *out = (struct displaced){.skip = has_landing_pad(function) ? 4 : 0};
    while (!why && !moving.ended && out->taken < ARCH_JUMP)
        why = move_next(function, to, out, &moving);
    if (why)
        return why;
    if (!take_padding(function, out))
        return "it is too short";
    if (is_loop(function, out, &moving))
        return "its beginning is a loop";
    if (moving.ended)
        return NULL;
    if (!displace_jump(to + out->copied, function->address + out->skip + out->taken,
                       out->copy + out->copied))
        return "what it refers to is too far away";
    out->copied += ARCH_JUMP;
    return NULL;
}

/* ---- What compilers know of it -------------------------------------------------------------- */

#define DEEP 4     /* calls that are followed */
#define STEPS 4096 /* instructions that are read for it */

static bool is_unknown(const struct displace_function *around, uintptr_t aim, unsigned deep,
                       unsigned *steps);

/* A function whose size is not known ends with the return or jump that no condition jumps over. */
static bool leads_out(const struct displace_function *function, bool is_whole, unsigned deep,
                      unsigned *steps)
{
    struct walk body = {function, 0, function->size, {0}, false};
    uintptr_t furthest = is_whole ? function->size : 0;
    bool ended = false;
    while (!ended && *steps && walk(&body)) {
        enum instruction_form form = body.next.form;
        bool always = form == LAST || body.next.opcode == 0xeb || body.next.opcode == 0xe9;
        uintptr_t to = form == CALL || form == BRANCH ? walk_aim(&body) - function->address : 0;
        bool within =
            to < function->size && (is_whole || (form != CALL && (!always || to <= body.at)));
        if (form == BRANCH && within && to > furthest)
            furthest = to;
        if ((form == STAYS && body.next.opcode == 0xff) ||
            (!within && is_unknown(function, function->address + to, deep, steps)))
            return true;
        ended = always && body.at + body.next.length > furthest;
        --*steps;
    }
    return false;
}

static bool is_unknown(const struct displace_function *around, uintptr_t aim, unsigned deep,
                       unsigned *steps)
{
    struct displace_function there = *around;
    if (aim - around->low >= around->high - around->low)
        return true;
    there.code += aim - around->address;
    there.address = aim;
    there.size = around->high - aim < AWAY ? around->high - aim : AWAY;
    return deep && leads_out(&there, false, deep - 1, steps);
}

bool displace_leads_out(const struct displace_function *function)
{
    unsigned steps = STEPS;
    return leads_out(function, true, DEEP, &steps);
}

/* ---- Jumps of ours -------------------------------------------------------------------------- */

bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out)
{
    int64_t distance = to - (from + ARCH_JUMP);
    int32_t near = (int32_t)distance;
    out[0] = 0xe9;
    memcpy(out + 1, &near, sizeof near);
    return near == distance;
}

void displace_far_jump(uintptr_t to, uint8_t *out)
{
    memcpy(out, "\xff\x25\x00\x00\x00\x00", 6); /* jmp *0(%rip) */
    memcpy(out + 6, &to, sizeof to);
}
