/* x86_registers.h - reads and changes the registers of an interrupted thread, on 32-bit and 64-bit
 * x86. context.h of x86_64 and of i386 defines the following names, and then includes this file:
 *
 *     X86_PC X86_SP X86_FP X86_AX   indices of these registers in gregs
 *     X86_ARGUMENTS                 indices of the registers with the arguments of a system call
 *     X86_CALL                      the system call instruction, which has two bytes
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

/* ---- Restarting system calls that a signal has interrupted ----------------------------------- */

#define CONTEXT_RESTARTS 1
#define CONTEXT_CALL_SIZE 2

static inline bool context_at_call(uintptr_t pc)
{
    uint16_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return code == X86_CALL;
}

/* Says whether pc is just behind a system call instruction. It reads only the program's code. */
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

/* Makes the thread repeat the system call. first: the first argument, used on CPUs where the result
 * overwrites it. */
static inline void context_call_again(ucontext_t *context, long number, long first)
{
    (void)first;
    context->uc_mcontext.gregs[X86_AX] = number;
    context->uc_mcontext.gregs[X86_PC] -= CONTEXT_CALL_SIZE;
}
#define CONTEXT_NEEDS_FIRST 0

/* Makes the thread skip a system call instruction to which the kernel has set pc back, as if the
 * call had failed. */
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

/* ---- Threads
 * ---------------------------------------------------------------------------------- */

/* Says whether memory is a thread control block, which contains its own address twice. */
static inline bool context_is_block(const uintptr_t *block)
{
    return block[0] == (uintptr_t)block && block[2] == (uintptr_t)block;
}

/* ---- Single-stepping ------------------------------------------------------------------------- */

/* Makes each instruction raise SIGTRAP after the handler has returned, or ends that. */
#define CONTEXT_CAN_STEP 1
static inline void context_set_step(ucontext_t *context, bool step)
{
    const greg_t trap_flag = 0x100;
    greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
    *flags = step ? *flags | trap_flag : *flags & ~trap_flag;
}

/* ---- Faults
 * ------------------------------------------------------------------------------------ */

/* Returns the kind of access that caused a page fault (enum leak_access). */
static inline unsigned context_access(const ucontext_t *context)
{
    uintptr_t error = context->uc_mcontext.gregs[REG_ERR];
    if (context->uc_mcontext.gregs[REG_TRAPNO] != 14)
        return 0;
    return error & 16 ? 3 : error & 2 ? 2 : 1;
}

/* Is 1 because after a call of an address that is no code, the return address is the last word on
 * the stack. */
#define CONTEXT_CALLER_ON_STACK 1
static inline uintptr_t context_link(const ucontext_t *context)
{
    (void)context;
    return 0;
}

#endif
