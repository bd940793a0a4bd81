/* result_flow.h - follows the result of a call through the code behind it: which typed variables,
 * members and parameters does it reach?
 *
 * It executes a function symbolically: a register or a word of the frame contains the result, a
 * pointer to a known type, or something unknown. The code before the call is read once in a straight
 * line, because addresses may be computed before; from the call on both ways of a branch are
 * followed, each instruction once, up to a limit. Where the file has no code of this CPU only
 * variables count that are in the register of results just after the call.
 */
#ifndef COMMON_TYPEINFO_RESULT_FLOW_H
#define COMMON_TYPEINFO_RESULT_FLOW_H

#include "common/typeinfo/program_code.h"

enum flow_target {
    FLOW_VARIABLE, /* local, global, or a member: what the result was assigned to */
    FLOW_MEMBER,
    FLOW_PARAMETER,   /* of a function that it is passed to, inlined or not */
    FLOW_CONSTRUCTOR, /* which it is passed to as this, or a function whose result is stored there */
    FLOW_RETURNED,    /* the result type of the function that returns it */
    FLOW_CALLED,      /* the result type of the function that was called */
};

/* Something with a pointer type that the result reaches. */
struct flow_use {
    enum flow_target target;
    Dwarf_Die type;   /* what the pointer points to */
    const char *name; /* of the variable, member or function; NULL = none. Belongs to libdw */
};

#define FLOW_USES_MOST 32

struct result_flow {
    struct flow_use uses[FLOW_USES_MOST]; /* in the order in which the code reaches them */
    size_t count;
    bool returned;     /* the function returns the result */
    bool given_inside; /* an address in the block is returned, passed on or stored: what is in front
                          of it may be a header */
};

struct result_call {
    uint64_t back; /* the return address of the call */
    int64_t
        ahead; /* so far into the block is what the program uses, as behind the count of new T[n] */
    bool by_pointer; /* the result is not returned but stored where the first argument points, as
                        posix_memalign does; only if that is a word of the frame */
};

void result_flow_find(struct program_code *code, const struct result_call *of,
                      struct result_flow *flow);

#endif
