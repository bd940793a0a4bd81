/* context.h (aarch64) - reads and changes the registers of a thread that a signal has
 * interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "preload/arch/no_call_arguments.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static inline uintptr_t context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uintptr_t context_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static inline uintptr_t context_fp(const ucontext_t *context)
{
    return context->uc_mcontext.regs[29];
}

/* Returns the general registers as an array; any of them may hold a pointer. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = 31;
    return (const uintptr_t *)context->uc_mcontext.regs;
}

/* Says whether a called function must preserve the register with index i in context_registers(). */
static inline bool context_register_is_kept(unsigned i)
{
    return i >= 19 && i <= 29;
}

/* Gets the range of the saved vector registers, which may hold pointers, because code copies memory
 * with them. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    *start = (uintptr_t)context->uc_mcontext.__reserved;
    *end = *start + sizeof context->uc_mcontext.__reserved;
    return true;
}

#define CONTEXT_RED_ZONE 0

/* ---- Restarting system calls that a signal has interrupted ----------------------------------- */

#define CONTEXT_RESTARTS 1
#define CONTEXT_CALL_SIZE 4 /* size in bytes of the system call instruction, svc 0 */

static inline bool context_at_call(uintptr_t pc)
{
    uint32_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return code == 0xd4000001;
}

static inline bool context_after_call(const ucontext_t *context)
{
    return context_at_call(context_pc(context) - CONTEXT_CALL_SIZE);
}

/* Says whether the signal has interrupted a system call, or came just before or after one. */
static inline bool context_in_call(const ucontext_t *context)
{
    return context_after_call(context) || context_at_call(context_pc(context));
}

static inline long context_result(const ucontext_t *context)
{
    return context->uc_mcontext.regs[0];
}

static inline void context_set_result(ucontext_t *context, long result)
{
    context->uc_mcontext.regs[0] = result;
}

static inline long context_call_number(const ucontext_t *context)
{
    return context->uc_mcontext.regs[8];
}

static inline void context_syscall_hook(const ucontext_t *context, long *number, long *first)
{
    *number = context->uc_mcontext.regs[8];
    *first = context->uc_mcontext.regs[9];
}

/* Makes the thread repeat the system call. first: the first argument, which the result has
 * overwritten. */
static inline void context_call_again(ucontext_t *context, long number, long first)
{
    (void)number;
    context->uc_mcontext.regs[0] = first;
    context->uc_mcontext.pc -= CONTEXT_CALL_SIZE;
}
#define CONTEXT_NEEDS_FIRST 1

static inline void context_fail_call(ucontext_t *context, long error)
{
    context->uc_mcontext.regs[0] = error;
    context->uc_mcontext.pc += CONTEXT_CALL_SIZE;
}

static inline long context_argument(const ucontext_t *context, unsigned i)
{
    return context->uc_mcontext.regs[i];
}

static inline void context_set_argument(ucontext_t *context, unsigned i, long value)
{
    context->uc_mcontext.regs[i] = value;
}

/* Returns the value with which setjmp encrypts pointers; 0: on this CPU it is a variable of the
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

#define CONTEXT_DTV 0

/* ---- Single-stepping ------------------------------------------------------------------------- */

#define CONTEXT_CAN_STEP 0 /* only a debugger can make a thread execute step by step */
static inline void context_set_step(ucontext_t *context, bool step)
{
    (void)context, (void)step;
}

/* ---- Signal frames -------------------------------------------------------------------------- */

#define CONTEXT_RESTORER 0ul
#define CONTEXT_LIBC_FLAGS 0ul /* flags that libc adds to every struct sigaction: none */

/* Returns the kind of access that caused a fault (enum leak_access). The kernel stores the CPU's
 * syndrome register in a record behind the saved registers. */
static inline unsigned context_access(const ucontext_t *context)
{
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof context->uc_mcontext.__reserved;
    uint32_t head[2]; /* magic number and size of a record */
    uint64_t syndrome;
    for (; at + 16 <= end; at += head[1]) {
        memcpy(head, at, sizeof head);
        if (head[1] < sizeof head || head[0] == 0)
            return 0;
        if (head[0] != 0x45535201) /* ESR_MAGIC */
            continue;
        memcpy(&syndrome, at + 8, sizeof syndrome);
        uint64_t class = syndrome >> 26 & 0x3f;
        if (class == 0x20) /* the fault came from fetching an instruction in user mode */
            return 3;
        return class == 0x24 ? (syndrome >> 6 & 1 ? 2 : 1) : 0;
    }
    return 0;
}

#define CONTEXT_CALLER_ON_STACK 0
static inline uintptr_t context_link(const ucontext_t *context)
{
    return context->uc_mcontext.regs[30];
}

/* Adds "distance" to the address in the record EXTRA of a moved signal frame. That record points to
 * records that did not fit into the ucontext; they follow it, and have moved, too. */
static inline void context_move_extra(ucontext_t *moved, uintptr_t distance)
{
    unsigned char *at = (unsigned char *)moved->uc_mcontext.__reserved;
    unsigned char *end = at + sizeof moved->uc_mcontext.__reserved;
    uint32_t head[2]; /* magic number and size of a record */
    uint64_t address;
    for (; at + 16 <= end; at += head[1]) {
        memcpy(head, at, sizeof head);
        if (head[1] < sizeof head || head[0] == 0)
            return;
        if (head[0] != 0x45585401) /* EXTRA_MAGIC */
            continue;
        memcpy(&address, at + 8, sizeof address);
        address += distance;
        memcpy(at + 8, &address, sizeof address);
    }
}

extern const char arch_signal_return[] __attribute__((visibility("hidden")));

/* Moves the signal frame that the kernel has made on another stack to the interrupted stack, as if
 * the kernel had made it there, and starts the handler. top: upper end of the frame. */
#define CONTEXT_FRAMES_MOVE 1
/* Says whether the kernel has passed siginfo and context to a handler, which it does only with
 * SA_SIGINFO. Assumed to be true: libleak adds SA_SIGINFO to every action, if also an instant late
 * after a call of signal(). */
#define CONTEXT_HAS_INFO(info) true
static inline __attribute__((noreturn)) void
context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top, void *handler)
{
    /* The frame begins with the siginfo. */
    uintptr_t frame = (uintptr_t)context - sizeof(siginfo_t);
    uintptr_t size = (top & ~(uintptr_t)15) - frame;
    uintptr_t to = (context_sp(context) - size) & ~(uintptr_t)15;
    memcpy((void *)to, (const void *)frame, size);
    ucontext_t *moved = (ucontext_t *)(to + sizeof(siginfo_t));
    context_move_extra(moved, to - frame);
    register uintptr_t x0 __asm__("x0") = (uintptr_t)number;
    register uintptr_t x1 __asm__("x1") = (uintptr_t)info - frame + to;
    register uintptr_t x2 __asm__("x2") = (uintptr_t)moved;
    register uintptr_t x16 __asm__("x16") = (uintptr_t)handler;
    register uintptr_t x9 __asm__("x9") = to;
    /* The frame record {fp, lr} at the end of the frame. */
    register uintptr_t x10 __asm__("x10") = to + size - 2 * sizeof(uintptr_t);
    register uintptr_t x11 __asm__("x11") = (uintptr_t)arch_signal_return;
    __asm__ volatile("mov sp, x9\n\tmov x29, x10\n\tmov x30, x11\n\tbr x16"
                     :
                     : "r"(x0), "r"(x1), "r"(x2), "r"(x16), "r"(x9), "r"(x10), "r"(x11)
                     : "memory");
    __builtin_unreachable();
}

#endif
