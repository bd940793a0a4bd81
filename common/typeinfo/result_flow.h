/* result_flow.h - follows the result of a call through the code behind it, to find the
 * variables, members and parameters that it reaches, which have types.
 *
 * It executes a function symbolically: a register or a word of the frame contains the result, a
 * pointer to a known type, or something unknown. The code before the call is executed once in a
 * straight line, since addresses may be computed there. From the call on, both ways of a branch
 * are followed, each instruction once, up to a limit. If the file has no x86-64 code, only
 * variables count that are in the result register just after the call.
 */
#ifndef COMMON_TYPEINFO_RESULT_FLOW_H
#define COMMON_TYPEINFO_RESULT_FLOW_H

#include "common/typeinfo/program_code.h"

enum flow_target {
    FLOW_VARIABLE, /* a variable, local or global, to which the result is assigned */
    FLOW_MEMBER,
    FLOW_PARAMETER,   /* a parameter of a function, inlined or not, to which the result is passed */
    FLOW_CONSTRUCTOR, /* a constructor that gets the result as `this`, or a function that stores the
                       * structure that it returns in the block */
    FLOW_RETURNED,    /* the result type of the function that returns the result to its caller */
    FLOW_CALLED,      /* the result type of the function that was called to allocate the block */
};

/* A variable, member, parameter or function result of a pointer type that the result reaches. */
struct flow_use {
    enum flow_target target;
    Dwarf_Die type;   /* type that the pointer points to */
    const char *name; /* name of the variable, member or function; NULL = none. Belongs to libdw */
};

#define FLOW_USES_MOST 32
#define FLOW_CALLS_MOST 16

/* A call that gets the result as an argument. */
struct flow_call {
    uint64_t from;     /* address of the call instruction */
    uint64_t function; /* address of the called function */
};

struct result_flow {
    struct flow_call calls[FLOW_CALLS_MOST]; /* in the order in which the code reaches them */
    size_t call_count;
    struct flow_use uses[FLOW_USES_MOST]; /* in the order in which the code reaches them */
    size_t count;
    bool returned; /* the function returns the result to its caller */
    bool pointer;  /* the function that was called returns a pointer, by its debug information */
    bool given_inside; /* the function returns, passes on or stores an address inside of the
                        * block, so a header may be in front of it */
};

struct result_call {
    uint64_t back; /* return address of the call */
    int64_t ahead; /* offset in the block of the address that the program uses; with new T[n] it
                    * is behind the number of elements */
    /* The call does not return the result but stores it where the first argument points, as
     * posix_memalign does; works only for a word of the frame. */
    bool by_pointer;
};

void result_flow_find(struct program_code *code, const struct result_call *of,
                      struct result_flow *flow);

#endif
