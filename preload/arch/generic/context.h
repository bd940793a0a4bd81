/* context.h (generic) - reads the registers of a thread that a signal has interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "arch.h"
#include "preload/arch/no_call_arguments.h"

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

/* Returns the general registers as an array; any of them may hold a pointer. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = CPU_CONTEXT_COUNT;
    return CPU_CONTEXT(context) + CPU_CONTEXT_FIRST;
}

/* Says whether a called function must preserve the register with index i in context_registers(). */
static inline bool context_register_is_kept(unsigned i)
{
    return CPU_CONTEXT_IS_KEPT(i + CPU_CONTEXT_FIRST);
}

/* Gets the range of the other saved registers: floating point and vector registers, which may hold
 * pointers, because code copies memory with them. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    *start = (uintptr_t)(CPU_CONTEXT(context) + CPU_CONTEXT_FIRST + CPU_CONTEXT_COUNT);
    *end = (uintptr_t)(&context->uc_mcontext + 1);
    return true;
}

#define CONTEXT_RED_ZONE CPU_RED_ZONE

/* ---- Restarting system calls that a signal has interrupted ----------------------------------- */

/* Is 0 because libleak repeats no system calls on this CPU. The kernel repeats those that it can
 * (SA_RESTART), and the others fail with EINTR. */
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

/* ---- Threads
 * ---------------------------------------------------------------------------------- */

/* Returns the value with which setjmp encrypts pointers; 0: on most CPUs it is a variable of the
 * loader. */
static inline uintptr_t context_pointer_guard(void)
{
    return 0;
}

/* Says whether memory is a thread control block. Always false: on this CPU nothing in a block
 * identifies it. */
static inline bool context_is_block(const uintptr_t *block)
{
    (void)block;
    return false;
}

/* ---- Single-stepping ------------------------------------------------------------------------- */

#define CONTEXT_CAN_STEP 0 /* only a debugger can make a thread execute step by step */
static inline void context_set_step(ucontext_t *context, bool step)
{
    (void)context, (void)step;
}

/* ---- Signal frames -------------------------------------------------------------------------- */

#define CONTEXT_RESTORER CPU_RESTORER /* the flag SA_RESTORER, if libc sets it in every action */
#define CONTEXT_LIBC_FLAGS CONTEXT_RESTORER /* flags that libc adds to every struct sigaction */

/* Returns the kind of access that caused a fault; 0: it is not known here. */
static inline unsigned context_access(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* Says whether, after a call of an address that is no code, the return address is on the stack:
 * this depends on where the CPU's call instruction puts it. */
#define CONTEXT_CALLER_ON_STACK (!ARCH_LINK_REGISTER)
static inline uintptr_t context_link(const ucontext_t *context)
{
    return ARCH_LINK_REGISTER ? CPU_CONTEXT(context)[CPU_CONTEXT_LINK] : 0;
}

/* Is 0 because signal frames are not moved here, so a handler of the program runs on the stack on
 * which libleak's signal was delivered. */
#define CONTEXT_FRAMES_MOVE 0
/* On riscv64 and x86_64 the kernel passes the addresses of siginfo and context to every handler,
 * also without SA_SIGINFO. */
#define CONTEXT_HAS_INFO(info) true
static inline void context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top,
                                void *handler)
{
    (void)number, (void)info, (void)context, (void)top, (void)handler;
}

#endif
