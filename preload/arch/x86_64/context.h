/* context.h (x86_64) - reads and changes the registers of a thread that a signal has
 * interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "instruction.h"

#define X86_PC REG_RIP
#define X86_SP REG_RSP
#define X86_FP REG_RBP
#define X86_AX REG_RAX
#define X86_ARGUMENTS REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9
#define X86_CALL 0x050f /* syscall */

#include "x86_registers.h"

/* Returns the general registers as an array; any of them may hold a pointer. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = REG_RIP;
    return (const uintptr_t *)context->uc_mcontext.gregs;
}

/* Says whether a called function must preserve the register with index i in context_registers(). */
static inline bool context_register_is_kept(unsigned i)
{
    return i == REG_RBX || i == REG_RBP || (i >= REG_R12 && i <= REG_R15);
}

/* Gets the range of the saved vector registers, which may hold pointers, because code copies memory
 * with them. The kernel has stored the size of the range in the saved state. False: no vector
 * registers were saved. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    const char *area = (const char *)context->uc_mcontext.fpregs;
    uint32_t magic, size = 512;
    if (!area)
        return false;
    memcpy(&magic, area + 464, sizeof magic);
    if (magic == 0x46505853) /* FP_XSTATE_MAGIC1 */
        memcpy(&size, area + 468, sizeof size);
    *start = (uintptr_t)area;
    *end = *start + (size < 16384 ? size : 512);
    return true;
}

#define CONTEXT_CALL_ARGUMENTS 6 /* number of arguments in registers */

/* Returns the argument with index i, at the first instruction of a function. */
static inline uintptr_t context_call_argument(const ucontext_t *context, unsigned i)
{
    static const int place[] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};
    return context->uc_mcontext.gregs[place[i]];
}

/* Says whether an instruction pushes a register that a called function must preserve. code: the
 * first two bytes of the instruction. */
static inline bool context_saves_register(const uint8_t code[2])
{
    return code[0] == 0x53 || code[0] == 0x55 ||
           (code[0] == 0x41 && code[1] >= 0x54 && code[1] <= 0x57);
}

#define CONTEXT_BRANCH_MOST 6 /* length of the longest conditional jump */

/* Returns the length of an instruction if it is a conditional jump, else 0. code: its first
 * CONTEXT_BRANCH_MOST bytes. */
static inline unsigned context_branch_length(const uint8_t code[CONTEXT_BRANCH_MOST])
{
    if (code[0] >= 0x70 && code[0] <= 0x7f)
        return 2;
    return code[0] == 0x0f && code[1] >= 0x80 && code[1] <= 0x8f ? 6 : 0;
}

/* Number of bytes below sp that a leaf function may use. */
#define CONTEXT_RED_ZONE 128

/* ---- Restarting system calls that a signal has interrupted ----------------------------------- */

/* Says whether the signal has interrupted a system call, or came just before or after one. */
static inline bool context_in_call(const ucontext_t *context)
{
    return context_after_call(context) || context_at_call(context_pc(context));
}

/* Returns the value that an instruction (from) has loaded before a system call. sp: the stack
 * pointer at that instruction. -1: its source has been overwritten. */
static inline long context_loaded(const ucontext_t *context, const struct instruction_number *from,
                                  uintptr_t sp)
{
    static const signed char place[16] = {-1,      -1,      REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                          REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, -1,
                                          REG_R12, REG_R13, REG_R14, REG_R15};
    if (!from->found || (from->reg >= 0 && place[from->reg] < 0))
        return -1;
    if (from->reg < 0)
        return (long)from->number;
    uintptr_t value = context->uc_mcontext.gregs[place[from->reg]];
    if (from->in_memory) {
        if (place[from->reg] == REG_RSP)
            value = sp;
        memcpy(&value, (const void *)(value + from->distance), sizeof value);
    }
    return (long)(uint32_t)value;
}

/* Returns the number of the system call that glibc's __syscall_cancel_arch makes. It is read from
 * the code that calls that function, because the register is overwritten. */
static inline long context_cancel_number(const ucontext_t *context)
{
    const uint8_t *back;
    memcpy(&back, (const void *)context_sp(context), sizeof back);
    if (back[-5] != 0xe8) /* call */
        return -1;
    struct instruction_number from = instruction_find_value(back - 5, INSTRUCTION_CANCEL_NUMBER);
    return context_loaded(context, &from, context_sp(context) + sizeof back);
}

/* Returns the number of the interrupted system call. The result has overwritten its register, so it
 * is read from the instruction before the call that loads the number. -1: there is no such
 * instruction, or its source is overwritten, too. */
static inline long context_call_number(const ucontext_t *context)
{
    const uint8_t *call = (const uint8_t *)context_pc(context) - CONTEXT_CALL_SIZE;
    if (instruction_is_cancel(call))
        return context_cancel_number(context);
    struct instruction_number from = instruction_find_number(call);
    return context_loaded(context, &from, context_sp(context));
}

/* Returns the number and the first argument of a system call of the hook of syscall(), which has
 * stored the number below sp. */
static inline void context_syscall_hook(const ucontext_t *context, long *number, long *first)
{
    *number = ((const long *)context_sp(context))[-1];
    *first = context->uc_mcontext.gregs[REG_RDI];
}

/* Returns the value with which setjmp encrypts pointers by xor. */
static inline uintptr_t context_pointer_guard(void)
{
    uintptr_t guard;
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return guard;
}

/* Offset of the dynamic thread vector (TLS) in the thread control block. */
#define CONTEXT_DTV 8

/* ---- Signal frames -------------------------------------------------------------------------- */

#define CONTEXT_RESTORER 0x04000000ul /* the flag SA_RESTORER, which libc sets in every action */
#define CONTEXT_LIBC_FLAGS CONTEXT_RESTORER /* flags that libc adds to every struct sigaction */

/* Moves the signal frame that the kernel has made on another stack to the interrupted stack, as if
 * the kernel had made it there, and starts the handler. top: upper end of the frame. */
#define CONTEXT_FRAMES_MOVE 1
/* On this CPU the kernel passes the addresses of siginfo and context to every handler, also without
 * SA_SIGINFO. */
#define CONTEXT_HAS_INFO(info) true
static inline __attribute__((noreturn)) void
context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top, void *handler)
{
    /* The frame begins with the return address of the handler. */
    uintptr_t frame = (uintptr_t)context - sizeof(uintptr_t);
    uintptr_t to = context_sp(context) - CONTEXT_RED_ZONE - (top - frame);
    to -= (to - frame) % 64; /* the kernel saves vector registers at addresses divisible by 64 */
    memcpy((void *)to, (const void *)frame, top - frame);
    ucontext_t *moved = (ucontext_t *)(to + sizeof(uintptr_t));
    if (context->uc_mcontext.fpregs)
        moved->uc_mcontext.fpregs =
            (fpregset_t)((uintptr_t)context->uc_mcontext.fpregs - frame + to);
    __asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\txor %%eax, %%eax\n\tjmp *%1"
                     :
                     : "r"(to), "r"(handler), "D"(number), "S"((uintptr_t)info - frame + to),
                       "d"(moved)
                     : "memory");
    __builtin_unreachable();
}

#endif
