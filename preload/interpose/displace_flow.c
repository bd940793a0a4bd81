#include "preload/interpose/displace.h"

#define UNKNOWN_SIZE 512 /* number of bytes that are read of a function whose size is not known */
/* Largest depth of nested calls that are followed; what deeper calls do is not examined. */
#define CALL_DEPTH 4
/* Largest number of instructions that are decoded to follow calls; the rest is not examined. */
#define STEP_BUDGET 4096

/* Visits a function instruction by instruction. Behind an instruction that cannot be decoded it
 * tries every byte as the start of an instruction, so everything that may be a jump counts as
 * one. */
struct walk {
    const struct displace_function *function;
    size_t at, end;
    struct displace_step next;
    bool lost;
};

static bool decode_next(struct walk *walk)
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

/* Returns the code at an address near the function, up to UNKNOWN_SIZE bytes, as far as it can be
 * read. Size 0 in the result: it cannot be read. */
static struct displace_function code_near(const struct displace_function *function,
                                          uintptr_t address)
{
    struct displace_function there = *function;
    uintptr_t left = function->high - address;
    bool can_be_read = address - function->low < function->high - function->low;
    there.code += address - function->address;
    there.address = address;
    there.size = !can_be_read ? 0 : left < UNKNOWN_SIZE ? left : UNKNOWN_SIZE;
    return there;
}

/* ---- Jumps into the moved part --------------------------------------------------------------- */

/* Says whether a jump leads into the bytes that will be replaced. may_begin: a jump to the first of
 * these bytes is allowed, because it is a tail call of the function to itself. */
static bool is_within(const struct displace_function *function, const struct displaced *out,
                      bool may_begin, uintptr_t target)
{
    uintptr_t offset = target - function->address - out->skip;
    return offset < out->taken && (offset || !may_begin);
}

/* Says whether the code at "cold" jumps into the moved part. "cold" is the target of a jump out of
 * the function: the compiler may have placed a rarely executed (cold) part of the function
 * there. */
static bool cold_jumps_into(const struct displace_function *function, const struct displaced *out,
                            uintptr_t cold)
{
    struct displace_function there = code_near(function, cold);
    struct walk part = {.function = &there, .end = there.size};
    while (decode_next(&part))
        if (is_jump(&part.next) && is_within(function, out, true, part.next.to))
            return true;
    return false;
}

static bool part_jumps_into(struct walk *part, const struct displaced *out, bool may_begin)
{
    while (decode_next(part))
        if (is_jump(&part->next) && (is_within(part->function, out, may_begin, part->next.to) ||
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

/* ---- Calls and jumps to code that is not known ----------------------------------------------- */

static bool may_lead_out(const struct displace_function *around, uintptr_t address, unsigned deep,
                         unsigned *steps);

/* Says whether the code of a function calls or jumps through a pointer or into another object.
 * is_whole: the size of the function is known; if it is not, the code is read up to the first
 * return or jump that no conditional jump skips. */
static bool leads_out(const struct displace_function *function, bool is_whole, unsigned deep,
                      unsigned *steps)
{
    struct walk body = {.function = function, .end = function->size};
    uintptr_t furthest = is_whole ? function->size : 0;
    bool ended = false;
    while (!ended && *steps && decode_next(&body)) {
        enum displace_flow flow = body.next.flow;
        bool leads = flow == FLOW_CALL || is_jump(&body.next);
        uintptr_t to = body.next.to - function->address;
        bool within = to < function->size &&
                      (is_whole || flow == FLOW_IF || (flow == FLOW_JUMP && to <= body.at));
        if (flow == FLOW_POINTER ||
            (leads && !within && may_lead_out(function, body.next.to, deep, steps)))
            return true;
        if (leads && within && flow != FLOW_CALL && to > furthest)
            furthest = to;
        ended = (flow == FLOW_JUMP || flow == FLOW_END) && body.at + body.next.length > furthest;
        --*steps;
    }
    return false;
}

static bool may_lead_out(const struct displace_function *around, uintptr_t address, unsigned deep,
                         unsigned *steps)
{
    struct displace_function there = code_near(around, address);
    return !there.size || (deep && leads_out(&there, false, deep - 1, steps));
}

bool displace_leads_out(const struct displace_function *function)
{
    unsigned steps = STEP_BUDGET;
    return leads_out(function, true, CALL_DEPTH, &steps);
}
