#include "preload/interpose/displace.h"

#define AWAY 512   /* bytes that are read of code whose size is not known */
#define DEEP 4     /* calls that are followed */
#define STEPS 4096 /* instructions that are read for it */

/* Instruction by instruction; from where that is not understood on, byte by byte, and what looks
 * like a jump is one. */
struct walk {
    const struct displace_function *function;
    size_t at, end;
    struct displace_step next;
    bool lost;
};

static bool walk(struct walk *walk)
{
    const struct displace_function *function = walk->function;
    walk->at += walk->lost ? 1 : walk->next.length;
    if (walk->at >= walk->end)
        return false;
    walk->next = displace_read(function->code + walk->at, walk->end - walk->at,
                               function->address + walk->at);
    walk->lost |= walk->next.unknown;
    return true;
}

static bool is_jump(const struct displace_step *step)
{
    return step->flow == FLOW_JUMP || step->flow == FLOW_IF;
}

/* Code near a function, as much of it as can be read; size 0: none. */
static struct displace_function code_near(const struct displace_function *function,
                                          uintptr_t address)
{
    struct displace_function there = *function;
    uintptr_t left = function->high - address;
    bool can_be_read = address - function->low < function->high - function->low;
    there.code += address - function->address;
    there.address = address;
    there.size = !can_be_read ? 0 : left < AWAY ? left : AWAY;
    return there;
}

/* ---- Into what is moved --------------------------------------------------------------------- */

/* before: who jumps to where the function begins may do so: it has given back the stack that it
 * took, and calls the function anew. */
static bool is_within(const struct displace_function *function, const struct displaced *out,
                      bool before, uintptr_t target)
{
    uintptr_t offset = target - function->address - out->skip;
    return offset < out->taken && (offset || !before);
}

/* What a function goes on in elsewhere: its unlikely part may come back. */
static bool cold_jumps_into(const struct displace_function *function, const struct displaced *out,
                            uintptr_t cold)
{
    struct displace_function there = code_near(function, cold);
    struct walk part = {.function = &there, .end = there.size};
    while (walk(&part))
        if (is_jump(&part.next) && is_within(function, out, true, part.next.to))
            return true;
    return false;
}

static bool part_jumps_into(struct walk *part, const struct displaced *out, bool before)
{
    while (walk(part))
        if (is_jump(&part->next) && (is_within(part->function, out, before, part->next.to) ||
                                     cold_jumps_into(part->function, out, part->next.to)))
            return true;
    return false;
}

bool displace_is_loop(const struct displace_function *function, const struct displaced *out,
                      bool keeps_stack)
{
    size_t end = out->skip + out->taken;
    struct walk moved = {
        .function = function, .at = out->skip, .end = end < function->size ? end : function->size};
    struct walk rest = {.function = function, .at = end, .end = function->size};
    return part_jumps_into(&moved, out, false) || part_jumps_into(&rest, out, !keeps_stack);
}

/* ---- Out ------------------------------------------------------------------------------------ */

static bool is_unknown(const struct displace_function *around, uintptr_t address, unsigned deep,
                       unsigned *steps);

/* A function whose size is not known ends with the return or jump that no condition jumps over. */
static bool leads_out(const struct displace_function *function, bool is_whole, unsigned deep,
                      unsigned *steps)
{
    struct walk body = {.function = function, .end = function->size};
    uintptr_t furthest = is_whole ? function->size : 0;
    bool ended = false;
    while (!ended && *steps && walk(&body)) {
        enum displace_flow flow = body.next.flow;
        bool leads = flow == FLOW_CALL || is_jump(&body.next);
        uintptr_t to = body.next.to - function->address;
        bool within = to < function->size &&
                      (is_whole || flow == FLOW_IF || (flow == FLOW_JUMP && to <= body.at));
        if (flow == FLOW_POINTER ||
            (leads && !within && is_unknown(function, body.next.to, deep, steps)))
            return true;
        if (leads && within && flow != FLOW_CALL && to > furthest)
            furthest = to;
        ended = (flow == FLOW_JUMP || flow == FLOW_END) && body.at + body.next.length > furthest;
        --*steps;
    }
    return false;
}

static bool is_unknown(const struct displace_function *around, uintptr_t address, unsigned deep,
                       unsigned *steps)
{
    struct displace_function there = code_near(around, address);
    return !there.size || (deep && leads_out(&there, false, deep - 1, steps));
}

bool displace_leads_out(const struct displace_function *function)
{
    unsigned steps = STEPS;
    return leads_out(function, true, DEEP, &steps);
}
