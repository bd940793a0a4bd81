/* x86_registers.h - the registers of an interrupted thread, as far as both x86 CPUs, of 32 and of 64
 * bits, have the same under other names. context.h of both names them, and includes this:
 *
 *     X86_PC X86_SP X86_FP X86_AX   indices of gregs        X86_ARGUMENTS   those of a system call
 *     X86_CALL                      the instruction that makes one, two bytes
 */
#ifndef ARCH_X86_REGISTERS_H
#define ARCH_X86_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static inline uintptr_t context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[X86_PC];
}

static inline uintptr_t context_sp(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[X86_SP];
}

static inline uintptr_t context_fp(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[X86_FP];
}

/* ---- System calls that a signal has interrupted ---------------------------------------------- */

#define CONTEXT_RESTARTS 1
#define CONTEXT_CALL_SIZE 2

static inline bool context_at_call(uintptr_t pc)
{
    uint16_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return code == X86_CALL;
}

/* Is pc just after a system call instruction? Only code is read for that. */
static inline bool context_after_call(const ucontext_t *context)
{
    return context_at_call(context_pc(context) - CONTEXT_CALL_SIZE);
}

static inline long context_result(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[X86_AX];
}

static inline void context_set_result(ucontext_t *context, long result)
{
    context->uc_mcontext.gregs[X86_AX] = result;
}

/* Restarts the system call. first: its first argument, which some CPUs overwrite. */
static inline void context_call_again(ucontext_t *context, long number, long first)
{
    (void)first;
    context->uc_mcontext.gregs[X86_AX] = number;
    context->uc_mcontext.gregs[X86_PC] -= CONTEXT_CALL_SIZE;
}
#define CONTEXT_NEEDS_FIRST 0

/* The kernel has set pc back to the system call instruction: skips it, as if the call had failed.
 */
static inline void context_fail_call(ucontext_t *context, long error)
{
    context->uc_mcontext.gregs[X86_AX] = error;
    context->uc_mcontext.gregs[X86_PC] += CONTEXT_CALL_SIZE;
}

static inline long context_argument(const ucontext_t *context, unsigned i)
{
    static const int place[] = {X86_ARGUMENTS};
    return context->uc_mcontext.gregs[place[i]];
}

static inline void context_set_argument(ucontext_t *context, unsigned i, long value)
{
    static const int place[] = {X86_ARGUMENTS};
    context->uc_mcontext.gregs[place[i]] = value;
}

/* ---- Threads ---------------------------------------------------------------------------------- */

/* Is this a thread control block? It points to itself twice. */
static inline bool context_is_block(const uintptr_t *block)
{
    return block[0] == (uintptr_t)block && block[2] == (uintptr_t)block;
}

/* ---- Single steps ---------------------------------------------------------------------------- */

/* Makes each instruction raise SIGTRAP after the handler has returned, or ends that. */
#define CONTEXT_CAN_STEP 1
static inline void context_set_step(ucontext_t *context, bool step)
{
    const greg_t trap_flag = 0x100;
    greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
    *flags = step ? *flags | trap_flag : *flags & ~trap_flag;
}

/* ---- Faults ------------------------------------------------------------------------------------ */

/* The kind of access of a page fault: enum leak_access. */
static inline unsigned context_access(const ucontext_t *context)
{
    uintptr_t error = context->uc_mcontext.gregs[REG_ERR];
    if (context->uc_mcontext.gregs[REG_TRAPNO] != 14)
        return 0;
    return error & 16 ? 3 : error & 2 ? 2 : 1;
}

/* After a call of an address that is no code, the return address is the last word on the stack. */
#define CONTEXT_CALLER_ON_STACK 1
static inline uintptr_t context_link(const ucontext_t *context)
{
    (void)context;
    return 0;
}

#endif
