#include "preload/displace.h"

#define LONGEST 15 /* of an instruction */

enum form {
    UNKNOWN,
    PLAIN,  /* may be moved */
    STACK,  /* likewise, and moves the stack pointer */
    BRANCH, /* a jump to an address that it counts from its end, with a condition or without */
    CALL,   /* likewise; it comes back behind itself */
    LAST,   /* a return: nothing comes behind it */
    STAYS,  /* known by its length alone: a call by a pointer ... */
};

struct instruction {
    enum form form;
    unsigned length;
    unsigned relative; /* where its address stands that counts from its end; 0: it has none */
    unsigned opcode;   /* 0x0fxx: of two bytes */
    bool near;         /* the address is one byte */
};

/* ---- Reading one ---------------------------------------------------------------------------- */

/* Of an operand: in a register, or in memory. */
static void read_operand(const uint8_t *bytes, struct instruction *out)
{
    unsigned byte = bytes[out->length++], mode = byte >> 6, base = byte & 7;
    if (mode == 3)
        return;
    if (mode == 0 && base == 5)
        out->relative = out->length;
    if (base == 4 && (bytes[out->length++] & 7) == 5 && mode == 0)
        out->length += 4;
    out->length += mode == 1 ? 1 : mode == 2 || out->relative ? 4 : 0;
}

static bool is_stack_pointer(uint8_t operand)
{
    return (operand & 0xc7) == 0xc4;
}

/* Behind 0x0f. */
static enum form read_long_opcode(const uint8_t *bytes, struct instruction *out)
{
    unsigned opcode = bytes[out->length++];
    out->opcode = 0x0f00 | opcode;
    if (opcode >= 0x80 && opcode <= 0x8f) {
        out->relative = out->length;
        out->length += 4;
        return BRANCH;
    }
    bool known = (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f) ||
                 memchr("\x10\x11\x1e\x1f\x28\x29\x57\x6e\x6f\x7e\x7f\xaf\xb0\xb1\xb6\xb7\xbc\xbd\xbe\xbf\xc0\xc1\xd6\xef", opcode, 24);
    if (known)
        read_operand(bytes, out);
    return known ? PLAIN : UNKNOWN;
}

/* One operand, and a number whose size the opcode tells. 16 bits: the operand is as small. */
static enum form read_with_number(const uint8_t *bytes, struct instruction *out, bool is_byte,
                                  bool is_short)
{
    read_operand(bytes, out);
    out->length += is_byte ? 1 : is_short ? 2 : 4;
    return PLAIN;
}

/* inc, dec, push; calls and jumps through memory stay. */
static enum form read_group_5(const uint8_t *bytes, struct instruction *out)
{
    unsigned which = bytes[out->length] >> 3 & 7;
    read_operand(bytes, out);
    return which < 2 ? PLAIN : which == 6 ? STACK : which < 6 ? STAYS : UNKNOWN;
}

static enum form read_branch(struct instruction *out, unsigned size)
{
    out->relative = out->length;
    out->near = size == 1;
    out->length += size;
    return BRANCH;
}

static enum form read_opcode(const uint8_t *bytes, struct instruction *out, bool is_short,
                             bool is_wide)
{
    unsigned opcode = bytes[out->length++], operand = bytes[out->length];
    out->opcode = opcode;
    switch (opcode) {
    case 0x0f:
        return read_long_opcode(bytes, out);
    case 0x00 ... 0x0e:
    case 0x10 ... 0x3f: /* add or adc sbb and sub xor cmp */
        if ((opcode & 7) > 5)
            return UNKNOWN;
        if ((opcode & 7) < 4)
            read_operand(bytes, out);
        else
            out->length += opcode & 1 ? (is_short ? 2 : 4) : 1;
        return PLAIN;
    case 0x50 ... 0x5f: /* push, pop */
        return STACK;
    case 0x63: /* movslq */
    case 0x84 ... 0x8b: /* test xchg mov */
    case 0x8d: /* lea */
    case 0xd0 ... 0xd3: /* shifts */
        read_operand(bytes, out);
        return PLAIN;
    case 0x68:
        out->length += 4;
        return STACK;
    case 0x6a:
        out->length++;
        return STACK;
    case 0x69:
    case 0x81:
    case 0xc7:
        read_with_number(bytes, out, false, is_short);
        return opcode == 0x81 && is_stack_pointer(operand) ? STACK : PLAIN;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
        read_with_number(bytes, out, true, is_short);
        return opcode == 0x83 && is_stack_pointer(operand) ? STACK : PLAIN;
    case 0x70 ... 0x7f:
    case 0xeb:
        return read_branch(out, 1);
    case 0xe9:
        return read_branch(out, 4);
    case 0x90:
        return PLAIN;
    case 0x98:
    case 0x99: /* cltq, cqto */
        return PLAIN;
    case 0xa8:
    case 0xb0 ... 0xb7:
        out->length++;
        return PLAIN;
    case 0xa9:
        out->length += is_short ? 2 : 4;
        return PLAIN;
    case 0xb8 ... 0xbf:
        out->length += is_wide ? 8 : is_short ? 2 : 4;
        return PLAIN;
    case 0xc3:
        return LAST;
    case 0xc9: /* leave */
    case 0xcc:
    case 0xf4:
        return STAYS;
    case 0xe8:
        read_branch(out, 4);
        return CALL;
    case 0xf6:
    case 0xf7: /* test, and not neg mul div, which have no number */
        if (operand & 0x30)
            read_operand(bytes, out);
        else
            read_with_number(bytes, out, opcode == 0xf6, is_short);
        return PLAIN;
    case 0xfe:
        read_operand(bytes, out);
        return PLAIN;
    case 0xff:
        return read_group_5(bytes, out);
    default:
        return UNKNOWN;
    }
}

/* bytes: LONGEST and more can be read. */
static struct instruction read_instruction(const uint8_t *bytes, size_t left)
{
    struct instruction out = {0};
    uint8_t window[2 * LONGEST + 2] = {0};
    bool is_short = false, is_wide = false;
    memcpy(window, bytes, left < LONGEST ? left : LONGEST);
    for (; out.length < 4 && memchr("\x66\x64\x65\x2e\xf0\xf2\xf3", window[out.length], 7);
         out.length++)
        is_short |= window[out.length] == 0x66;
    unsigned prefixes = out.length;
    if ((window[out.length] & 0xf0) == 0x40)
        is_wide = window[out.length++] & 8;
    bool is_high = out.length > prefixes && window[prefixes] & 1; /* %r12 looks like %rsp */
    out.form = read_opcode(window, &out, is_short, is_wide);
    if (is_high && out.form == STACK && (out.opcode == 0x81 || out.opcode == 0x83))
        out.form = PLAIN;
    /* A prefix on a jump means something else. */
    if (out.length > left || out.length > LONGEST ||
        ((out.form == BRANCH || out.form == CALL) && prefixes) ||
        (out.form == LAST && out.length > 1))
        out.form = UNKNOWN;
    return out;
}

static uintptr_t aim(const struct instruction *instruction, const uint8_t *bytes, uintptr_t at)
{
    int32_t distance;
    if (instruction->near)
        distance = (int8_t)bytes[instruction->relative];
    else
        memcpy(&distance, bytes + instruction->relative, sizeof distance);
    return at + instruction->length + distance;
}

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

/* It comes back to the function, and not to the copy: nobody could walk a stack with that in it. So the
 * address behind it is pushed, in two halves, and what it calls is jumped to. */
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
        return move_branch(instruction, aim(instruction, bytes, at), to, out);
    if (instruction->form == CALL)
        return move_call(instruction, at, aim(instruction, bytes, at), to, out);
    memcpy(out->copy + out->copied, bytes, instruction->length);
    if (instruction->relative)
        return put_distance(out, instruction->length, instruction->relative, to + out->copied,
                            aim(instruction, bytes, at));
    out->copied += instruction->length;
    return true;
}

/* ---- Refusing ------------------------------------------------------------------------------- */

/* What compilers and assemblers fill up with between functions. */
static bool is_padding(const struct displace_function *function, unsigned at, unsigned end)
{
    while (at < end) {
        struct instruction next = read_instruction(function->code + at, function->room - at);
        if (function->code[at] == 0xcc)
            next = (struct instruction){.form = PLAIN, .length = 1, .opcode = 0x90};
        if (next.form != PLAIN || (next.opcode != 0x90 && next.opcode != 0x0f1f))
            return false;
        at += next.length;
    }
    return true;
}

/* before: who jumps to where the function begins may do so: it has given back the stack that it took,
 * and calls the function anew. */
static bool is_within(const struct displace_function *function, const struct displaced *out,
                      bool before, uintptr_t target)
{
    uintptr_t offset = target - function->address - out->skip;
    return offset < out->taken && (offset || !before);
}

/* Instruction by instruction; from where that is not understood on, byte by byte, and what looks like a
 * jump is one. */
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
    walk->next = read_instruction(walk->function->code + walk->at, walk->end - walk->at);
    walk->lost |= walk->next.form == UNKNOWN;
    return true;
}

static uintptr_t walk_aim(const struct walk *walk)
{
    return aim(&walk->next, walk->function->code + walk->at, walk->function->address + walk->at);
}

#define AWAY 512 /* bytes of what a function goes on in elsewhere: its unlikely part may come back */

static bool cold_jumps_into(const struct displace_function *function, const struct displaced *out,
                            uintptr_t cold)
{
    struct displace_function there = {
        .code = function->code + (cold - function->address), .address = cold};
    struct walk part = {&there, 0, function->high - cold < AWAY ? function->high - cold : AWAY, {0}, false};
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
    struct instruction next = read_instruction(bytes, function->size - at);
    if (next.form == STAYS || next.form == UNKNOWN || (next.form == CALL && has_shadow_stack()))
        return "it begins with code that cannot be moved";
    if (next.form == BRANCH)
        moving->aim[moving->branches++] = aim(&next, bytes, function->address + at);
    if (!move(&next, bytes, function->address + at, to, out))
        return "what it refers to is too far away";
    moving->keeps_stack &= next.form != STACK;
    moving->ended = next.form == LAST || next.form == CALL || next.opcode == 0xeb || next.opcode == 0xe9;
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

bool displace_calls(const struct displace_function *function)
{
    struct walk body = {function, 0, function->size, {0}, false};
    while (walk(&body))
        if ((body.next.form == STAYS && body.next.opcode == 0xff) ||
            ((body.next.form == CALL || body.next.form == BRANCH) &&
             walk_aim(&body) - function->address >= function->size))
            return true;
    return false;
}

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
