/* displace.h - moves the first instructions of a function elsewhere, so that a jump to a hook fits
 * in their place.
 *
 *     function:  landing pad | jump to the hook   | the rest
 *     copy:                    moved instructions, and a jump back to the rest
 *
 * A call of the function enters the hook as if the hook had been called; a call of the copy runs
 * the original function. A landing pad (endbr64, bti) stays in place for indirect calls, and so do
 * nops, and a jump over nops, which the program may rewrite while it runs.
 *
 * Only a short list of instructions that compilers write at the beginning of functions is moved,
 * with pc-relative operands adjusted. Anything else is refused, with a reason in words. Each CPU's
 * own displace.c knows how instructions are moved and what they do to the control flow; what
 * follows from the control flow is the same for all CPUs (displace_flow.c). Pure: bytes in, bytes
 * out.
 */
#ifndef PRELOAD_INTERPOSE_DISPLACE_H
#define PRELOAD_INTERPOSE_DISPLACE_H

#include "preload/base/base.h"

#define DISPLACE_COPY 64     /* maximal size of a copy, in bytes */
#define DISPLACE_FAR_JUMP 16 /* size of a jump that reaches every address */

struct displace_function {
    const uint8_t *code; /* its bytes */
    uintptr_t address;   /* where they run */
    size_t size;
    size_t room;         /* size with the padding up to the next function */
    uintptr_t low, high; /* readable code around it; 0: none */
};

struct displaced {
    unsigned skip;   /* bytes that stay at the beginning */
    unsigned taken;  /* bytes behind them that are moved: at least ARCH_JUMP */
    unsigned copied; /* bytes of copy */
    uint8_t copy[DISPLACE_COPY];
};

/* Plans the change of a function. Returns NULL if it is done, else the reason why the function
 * cannot be changed. to: address of the copy. */
const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out);

/* Does the function, or one that it calls, continue through a pointer or in another object? Of a
 * function that does not, the compiler knows which registers it preserves, and code compiled with
 * it relies on that (-fipa-ra); a hook preserves fewer. */
bool displace_leads_out(const struct displace_function *function);

enum displace_flow {
    FLOW_ON, /* to the next instruction */
    FLOW_CALL,
    FLOW_IF, /* a conditional jump */
    FLOW_JUMP,
    FLOW_POINTER, /* an indirect call or jump: the target is unknown */
    FLOW_END,     /* a return */
};

struct displace_step {
    enum displace_flow flow;
    bool unknown; /* not decoded; then the instructions behind it are not reliable either */
    unsigned length;
    uintptr_t to; /* of calls and jumps */
};

/* Decodes one instruction, of which left bytes can be read. */
struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address);

/* Does an instruction of the function jump into the moved part? Its first byte is a legal target
 * when keeps_stack is false: then the moved part allocates stack, and a jump to its beginning,
 * after the stack was freed, is a tail call of the function itself. */
bool displace_is_loop(const struct displace_function *function, const struct displaced *out,
                      bool keeps_stack);

/* A jump of ARCH_JUMP bytes; false: the distance is too large. */
bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out);
/* A jump to any address. Changes no register that a caller or the function may rely on. */
void displace_far_jump(uintptr_t to, uint8_t *out);

#endif
