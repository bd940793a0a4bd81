/* context.h (i386) - the registers of a thread that a signal has interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "instruction.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static inline uintptr_t context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EIP];
}

static inline uintptr_t context_sp(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_ESP];
}

static inline uintptr_t context_fp(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EBP];
}

/* The registers that may hold a pointer, as an array: edi, esi, ebp, esp, ebx, edx, ecx, eax. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = REG_EAX - REG_EDI + 1;
    return (const uintptr_t *)&context->uc_mcontext.gregs[REG_EDI];
}

/* Does a function that is called leave this register of that array as it was? */
static inline bool context_register_is_kept(unsigned i)
{
    return i <= REG_EBX - REG_EDI && i != REG_ESP - REG_EDI;
}

/* The vector registers, in which code copies pointers: behind the state of the old coprocessor, in
 * the format of fxsave, with the size of what the kernel saved. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    const char *area = (const char *)context->uc_mcontext.fpregs;
    uint16_t has_no_vectors;
    uint32_t magic, size = 512;
    if (!area)
        return false;
    memcpy(&has_no_vectors, area + 110, sizeof has_no_vectors); /* 0: they follow */
    if (has_no_vectors)
        return false;
    area += 112;
    memcpy(&magic, area + 464, sizeof magic);
    if (magic == 0x46505853) /* FP_XSTATE_MAGIC1 */
        memcpy(&size, area + 480, sizeof size);
    *start = (uintptr_t)area;
    *end = *start + (size < 16384 ? size : 512);
    return true;
}

/* Bytes below sp that a leaf function may use. */
#define CONTEXT_RED_ZONE 0

/* ---- System calls that a signal has interrupted ------------------------------------------------
 *
 * int 0x80 stands in the code that makes the call, or in the vDSO's function, which tries a faster
 * instruction first; the kernel returns from that, too, behind the int 0x80 that follows it. */

#define CONTEXT_CALL_SIZE 2 /* int $0x80: cd 80 */

static inline bool context_at_call(uintptr_t pc)
{
    uint16_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return code == 0x80cd;
}

/* sysenter or syscall, with int 0x80 behind it. */
static inline bool context_at_fast_call(uintptr_t pc)
{
    uint16_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return (code == 0x340f || code == 0x050f) && context_at_call(pc + sizeof code);
}

/* Is pc just after a system call instruction? Only code is read for that. */
static inline bool context_after_call(const ucontext_t *context)
{
    return context_at_call(context_pc(context) - CONTEXT_CALL_SIZE);
}

/* In the kernel, or just before or after the system call. */
static inline bool context_in_call(const ucontext_t *context)
{
    return context_after_call(context) || context_at_call(context_pc(context)) ||
           context_at_fast_call(context_pc(context));
}

static inline long context_result(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EAX];
}

static inline void context_set_result(ucontext_t *context, long result)
{
    context->uc_mcontext.gregs[REG_EAX] = result;
}

/* Is that address just after a call of the vDSO's function: call *%gs:0x10? Only code is read. */
static inline bool context_is_vdso_call(uintptr_t back)
{
    return memcmp((const char *)back - 7, "\x65\xff\x15\x10\0\0\0", 7) == 0;
}

/* Where the code of the program makes the call. In the vDSO three registers have been pushed. */
static inline uintptr_t context_call_site(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)context_pc(context);
    uintptr_t back;
    if (memcmp(code, "\x5d\x5a\x59\xc3", 4) != 0) /* pop %ebp, %edx, %ecx; ret */
        return context_pc(context) - CONTEXT_CALL_SIZE;
    memcpy(&back, (const void *)(context_sp(context) + 12), sizeof back);
    return context_is_vdso_call(back) ? back - 7 : 0;
}

/* The number of the system call. The result has overwritten it: mostly an instruction before loads
 * it. -1: none does, or its register is overwritten, too. */
static inline long context_call_number(const ucontext_t *context)
{
    static const signed char place[8] = {-1, -1, -1, REG_EBX, -1, -1, REG_ESI, REG_EDI};
    uintptr_t site = context_call_site(context);
    if (!site)
        return -1;
    struct instruction_number from = instruction_find_number((const uint8_t *)site);
    if (!from.found || (from.reg >= 0 && (from.reg > 7 || place[from.reg] < 0)))
        return -1;
    return from.reg < 0 ? (long)from.number : context->uc_mcontext.gregs[place[from.reg]];
}

/* What the hook of syscall() has kept of a system call that overwrote it: its own first argument,
 * above four pushed registers and the return address. */
static inline void context_syscall_hook(const ucontext_t *context, long *number, long *first)
{
    *number = ((const long *)context_sp(context))[5];
    *first = context->uc_mcontext.gregs[REG_EBX];
}

/* Restarts the system call. first: its first argument, which some CPUs overwrite. */
static inline void context_call_again(ucontext_t *context, long number, long first)
{
    (void)first;
    context->uc_mcontext.gregs[REG_EAX] = number;
    context->uc_mcontext.gregs[REG_EIP] -= CONTEXT_CALL_SIZE;
}
#define CONTEXT_NEEDS_FIRST 0

/* The kernel has set pc back to the system call instruction: skips it, as if the call had failed.
 */
static inline void context_fail_call(ucontext_t *context, long error)
{
    context->uc_mcontext.gregs[REG_EAX] = error;
    context->uc_mcontext.gregs[REG_EIP] += CONTEXT_CALL_SIZE;
}

static inline int context_place_of_argument(unsigned i)
{
    static const int place[] = {REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP};
    return place[i];
}

static inline long context_argument(const ucontext_t *context, unsigned i)
{
    return context->uc_mcontext.gregs[context_place_of_argument(i)];
}

static inline void context_set_argument(ucontext_t *context, unsigned i, long value)
{
    context->uc_mcontext.gregs[context_place_of_argument(i)] = value;
}

/* The value with which setjmp encrypts pointers by xor. */
static inline uintptr_t context_pointer_guard(void)
{
    uintptr_t guard;
    __asm__("mov %%gs:0x18, %0" : "=r"(guard));
    return guard;
}

/* Is this a thread control block? It points to itself twice. */
static inline bool context_is_block(const uintptr_t *block)
{
    return block[0] == (uintptr_t)block && block[2] == (uintptr_t)block;
}

/* The offset of the dynamic thread vector in the thread control block. */
#define CONTEXT_DTV 4

/* ---- Single steps ---------------------------------------------------------------------------- */

/* After the return from the handler each instruction raises SIGTRAP, or no longer does. */
#define CONTEXT_CAN_STEP 1
static inline void context_set_step(ucontext_t *context, bool step)
{
    const greg_t trap_flag = 0x100;
    greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
    *flags = step ? *flags | trap_flag : *flags & ~trap_flag;
}

/* ---- Signal frames -------------------------------------------------------------------------- */

#define CONTEXT_RESTORER 0x04000000ul /* SA_RESTORER: libc sets it where there is no vDSO */

/* The kind of access of a page fault: enum leak_access. */
static inline unsigned context_access(const ucontext_t *context)
{
    uintptr_t error = context->uc_mcontext.gregs[REG_ERR];
    if (context->uc_mcontext.gregs[REG_TRAPNO] != 14)
        return 0;
    return error & 16 ? 3 : error & 2 ? 2 : 1;
}

/* After a call of an address that is no code, the return address is the last word pushed. */
#define CONTEXT_CALLER_ON_STACK 1
static inline uintptr_t context_link(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* Moves the signal frame that the kernel has made, up to top, to the interrupted stack, as if the
 * kernel had made it there, and starts the handler. The frame: return address, the handler's three
 * arguments, of which two are addresses in the frame, siginfo, ucontext. */
#define CONTEXT_FRAMES_MOVE 1
static inline __attribute__((noreturn)) void
context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top, void *handler)
{
    uintptr_t frame = (uintptr_t)context - sizeof(uintptr_t) * 4 - sizeof(siginfo_t);
    uintptr_t to = context_sp(context) - CONTEXT_RED_ZONE - (top - frame);
    to -= (to - frame) % 64; /* vector registers are saved at multiples of 64 */
    memcpy((void *)to, (const void *)frame, top - frame);
    ucontext_t *moved = (ucontext_t *)((uintptr_t)context - frame + to);
    uintptr_t *argument = (uintptr_t *)to + 1;
    argument[0] = (uintptr_t)number;
    argument[1] = (uintptr_t)info - frame + to;
    argument[2] = (uintptr_t)moved;
    if (context->uc_mcontext.fpregs)
        moved->uc_mcontext.fpregs =
            (fpregset_t)((uintptr_t)context->uc_mcontext.fpregs - frame + to);
    __asm__ volatile("mov %0, %%esp\n\txor %%ebp, %%ebp\n\tjmp *%1"
                     :
                     : "r"(to), "r"(handler), "a"(argument[0]), "d"(argument[1])
                     : "memory");
    __builtin_unreachable();
}

#endif
