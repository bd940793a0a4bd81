/* displace.h - the first instructions of a function, moved, so that a jump of ours fits in their
 * place.
 *
 *     function:  landing pad | jump to us      | the rest
 *     copy:                    what was there, and a jump back to the rest
 *
 * Whoever calls the function comes to us as if he had called us; whoever calls the copy gets the
 * function as it was. A landing pad (endbr64, bti) stays where calls by pointer look for it.
 *
 * Only what functions begin with is moved: a short list of instructions, those among them corrected
 * that count from where they stand. All else is refused, in words. What is moved and how, and what
 * an instruction does to the flow, each CPU knows (its own displace.c); what follows from the flow
 * is the same for all (displace_flow.c). Pure: bytes come in, bytes go out.
 */
#ifndef PRELOAD_INTERPOSE_DISPLACE_H
#define PRELOAD_INTERPOSE_DISPLACE_H

#include "preload/base/base.h"

#define DISPLACE_COPY 64     /* bytes of a copy, at most */
#define DISPLACE_FAR_JUMP 16 /* of a jump that reaches every address */

struct displace_function {
    const uint8_t *code; /* what stands there */
    uintptr_t address;
    size_t size;
    size_t room;         /* with the padding behind it, up to the next one */
    uintptr_t low, high; /* code around it that can be read as well; 0: none */
};

struct displaced {
    unsigned skip;   /* bytes that stay at the beginning */
    unsigned taken;  /* bytes behind it that are moved: no fewer than ARCH_JUMP */
    unsigned copied; /* bytes of copy */
    uint8_t copy[DISPLACE_COPY];
};

/* NULL: done; else why the function must be left as it is. to: where the copy will stand. */
const char *displace_plan(const struct displace_function *function, uintptr_t to,
                          struct displaced *out);

/* Does it, or what it calls, go on by a pointer, or in another object? Of a function that does not,
 * compilers know which registers it leaves as they are, and code that was compiled together with it
 * counts on that; our hooks leave fewer. */
bool displace_leads_out(const struct displace_function *function);

enum displace_flow {
    FLOW_ON, /* to what comes next */
    FLOW_CALL,
    FLOW_IF, /* on, or elsewhere */
    FLOW_JUMP,
    FLOW_POINTER, /* who knows: a call or jump by a pointer */
    FLOW_END,     /* a return: nothing comes behind it */
};

struct displace_step {
    enum displace_flow flow;
    bool unknown; /* not understood: nor is what comes behind it, then */
    unsigned length;
    uintptr_t to; /* of calls and jumps */
};

/* One instruction, of which left bytes can be read. */
struct displace_step displace_read(const uint8_t *code, size_t left, uintptr_t address);

/* Does anything of the function jump into what is moved? To where it begins it may, once it has
 * given back the stack that was taken there: it calls the function anew. */
bool displace_is_loop(const struct displace_function *function, const struct displaced *out,
                      bool keeps_stack);

/* A jump of ARCH_JUMP bytes; false: it is too far. */
bool displace_jump(uintptr_t from, uintptr_t to, uint8_t *out);
/* Changes no register that a function's caller or the function may rely on. */
void displace_far_jump(uintptr_t to, uint8_t *out);

#endif
