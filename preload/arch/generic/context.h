/* context.h (generic) - the registers of a thread that a signal has interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "arch.h"

#include <signal.h>

static inline uintptr_t context_pc(const ucontext_t *context)
{
    return CPU_CONTEXT(context)[CPU_CONTEXT_PC];
}

static inline uintptr_t context_sp(const ucontext_t *context)
{
    return CPU_CONTEXT(context)[CPU_CONTEXT_SP];
}

static inline uintptr_t context_fp(const ucontext_t *context)
{
    return CPU_CONTEXT(context)[CPU_CONTEXT_FP];
}

/* The registers that may hold a pointer, as an array. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = CPU_CONTEXT_COUNT;
    return CPU_CONTEXT(context) + CPU_CONTEXT_FIRST;
}

/* Does a function that is called leave this register of that array as it was? */
static inline bool context_register_is_kept(unsigned i)
{
    return CPU_CONTEXT_IS_KEPT(i + CPU_CONTEXT_FIRST);
}

/* The rest of them: floating point and vector registers, in which code copies pointers. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    *start = (uintptr_t)(CPU_CONTEXT(context) + CPU_CONTEXT_FIRST + CPU_CONTEXT_COUNT);
    *end = (uintptr_t)(&context->uc_mcontext + 1);
    return true;
}

#define CONTEXT_RED_ZONE CPU_RED_ZONE

/* ---- System calls that a signal has interrupted ---------------------------------------------- */

/* libleak repeats no system calls here: the kernel repeats those that it can (SA_RESTART), and the
 * others fail with EINTR. */
#define CONTEXT_RESTARTS 0
#define CONTEXT_NEEDS_FIRST 1

static inline bool context_at_call(uintptr_t pc)
{
    (void)pc;
    return false;
}

static inline bool context_after_call(const ucontext_t *context)
{
    (void)context;
    return false;
}

static inline bool context_in_call(const ucontext_t *context)
{
    (void)context;
    return false;
}

static inline long context_result(const ucontext_t *context)
{
    (void)context;
    return 0;
}

static inline void context_set_result(ucontext_t *context, long result)
{
    (void)context, (void)result;
}

static inline long context_call_number(const ucontext_t *context)
{
    (void)context;
    return -1;
}

static inline void context_syscall_hook(const ucontext_t *context, long *number, long *first)
{
    (void)context, (void)number, (void)first;
}

static inline void context_call_again(ucontext_t *context, long number, long first)
{
    (void)context, (void)number, (void)first;
}

static inline void context_fail_call(ucontext_t *context, long error)
{
    (void)context, (void)error;
}

static inline long context_argument(const ucontext_t *context, unsigned i)
{
    (void)context, (void)i;
    return 0;
}

static inline void context_set_argument(ucontext_t *context, unsigned i, long value)
{
    (void)context, (void)i, (void)value;
}

/* ---- Threads ---------------------------------------------------------------------------------- */

/* Most CPUs keep it in a variable of the loader. */
static inline uintptr_t context_pointer_guard(void)
{
    return 0;
}

/* Here a thread control block cannot be recognised. */
static inline bool context_is_block(const uintptr_t *block)
{
    (void)block;
    return false;
}

/* ---- Single steps ---------------------------------------------------------------------------- */

#define CONTEXT_CAN_STEP 0 /* only a debugger can */
static inline void context_set_step(ucontext_t *context, bool step)
{
    (void)context, (void)step;
}

/* ---- Signal frames -------------------------------------------------------------------------- */

#define CONTEXT_RESTORER CPU_RESTORER /* SA_RESTORER where libc sets it in every action */

/* The kind of access of a fault: not known. */
static inline unsigned context_access(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* After a call of an address that is no code, the return address is where every call puts it. */
#define CONTEXT_CALLER_ON_STACK (!ARCH_LINK_REGISTER)
static inline uintptr_t context_link(const ucontext_t *context)
{
    return ARCH_LINK_REGISTER ? CPU_CONTEXT(context)[CPU_CONTEXT_LINK] : 0;
}

/* A handler of the program runs on the signal stack where libleak's signal was delivered. */
#define CONTEXT_FRAMES_MOVE 0
static inline void context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top,
                                void *handler)
{
    (void)number, (void)info, (void)context, (void)top, (void)handler;
}

#endif
