/* displace.h - moves the first instructions of a function elsewhere, so that a jump to a hook fits
 * in their place.
 *
 *     function:  landing pad | jump to the hook   | the rest
 *     copy:                    moved instructions, and a jump back to the rest
 *
 * After this change, a call of the function enters the hook as if the hook had been called, and a
 * call of the copy runs the original function. A landing pad (endbr64, bti) stays in place for
 * indirect calls, and so do nops and a jump over nops, which the program may rewrite while it runs.
 *
 * Only a short list of instructions that compilers write at the beginning of functions is moved,
 * with pc-relative operands adjusted. If a function begins with other instructions, it is left
 * unchanged, and the reason is returned in words. The displace.c of each CPU knows how to move
 * instructions and what they do to the control flow; displace_flow.c follows the control flow for
 * all CPUs. The functions have no state: they read bytes and write bytes.
 */
#ifndef PRELOAD_INTERPOSE_DISPLACE_H
#define PRELOAD_INTERPOSE_DISPLACE_H

#include "preload/base/base.h"

#define DISPLACE_COPY 64     /* largest size in bytes of the copy of a function's beginning */
#define DISPLACE_FAR_JUMP 16 /* size in bytes of a jump that reaches every address */

struct displace_function {
    const uint8_t *code; /* the bytes of the function */
    uintptr_t address;   /* the address at which these bytes run */
    size_t size;
    size_t room; /* size of the function and of the padding behind it, up to the next function */
    uintptr_t low, high; /* range of readable code around the function; both 0: none */
};

struct displaced {
    unsigned skip;  /* number of bytes at the beginning of the function that stay in place */
    unsigned taken; /* number of bytes behind the skipped ones that are moved: at least ARCH_JUMP */
    unsigned copied; /* number of bytes used in "copy" */
    uint8_t copy[DISPLACE_COPY];
};

/* Makes the copy of a function in *out, to be placed at the address "to", and computes which bytes
 * the jump to the hook may overwrite. Returns NULL, or in words why the function cannot be
 * changed. */
const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out);

/* Says whether the function, or one that it calls, calls or jumps through a pointer or into another
 * object. If it does not, the compiler knew which registers the function preserves, and its callers
 * may rely on that (-fipa-ra); a hook preserves fewer registers, so such a function must not be
 * changed. */
bool displace_leads_out(const struct displace_function *function);

enum displace_flow {
    FLOW_ON, /* the next instruction runs after this one */
    FLOW_CALL,
    FLOW_IF, /* a conditional jump */
    FLOW_JUMP,
    FLOW_POINTER, /* an indirect call or jump, whose target is unknown */
    FLOW_END,     /* a return */
};

struct displace_step {
    enum displace_flow flow;
    /* The instruction could not be decoded. Where the next one begins is not known, either. */
    bool unknown;
    unsigned length;
    uintptr_t to; /* target address of a call or jump */
};

/* Decodes the instruction at "code", which runs at "address". left: number of bytes that can be
 * read. */
struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address);

/* Says whether an instruction of the function jumps into the part that is to be moved, so that the
 * function must not be changed. If keeps_stack is false, the moved part allocates stack, and a jump
 * to its first byte is allowed: it is a tail call of the function to itself, after the stack was
 * freed. */
bool displace_is_loop(const struct displace_function *function, const struct displaced *out,
                      bool keeps_stack);

/* Writes to "out" a jump of ARCH_JUMP bytes that leads from one address to another. False: the
 * addresses are too far apart, nothing was written. */
bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out);
/* Writes a jump to any address to "out". It changes no register that a caller or the function may
 * rely on. */
void displace_far_jump(uintptr_t to, uint8_t *out);

#endif
