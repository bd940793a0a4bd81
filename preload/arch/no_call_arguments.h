/* no_call_arguments.h - for CPUs on which block_trail.c does not look for the arguments of a call,
 * and step_over.c not for loops: arguments are not passed in registers, or the CPU cannot execute
 * step by step. context.h of such a CPU
 * includes it; that of x86_64 defines the same names. */
#ifndef ARCH_NO_CALL_ARGUMENTS_H
#define ARCH_NO_CALL_ARGUMENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define CONTEXT_CALL_ARGUMENTS 1

static inline uintptr_t context_call_argument(const ucontext_t *context, unsigned i)
{
    (void)context, (void)i;
    return 0;
}

static inline bool context_saves_register(const uint8_t code[2])
{
    (void)code;
    return true;
}

#define CONTEXT_BRANCH_MOST 1

static inline unsigned context_branch_length(const uint8_t code[CONTEXT_BRANCH_MOST])
{
    (void)code;
    return 0;
}

#endif
