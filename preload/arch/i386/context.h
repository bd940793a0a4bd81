/* context.h (i386) - reads and changes the registers of a thread that a signal has interrupted. */
#ifndef ARCH_CONTEXT_H
#define ARCH_CONTEXT_H

#include "instruction.h"
#include "preload/arch/no_call_arguments.h"

#define X86_PC REG_EIP
#define X86_SP REG_ESP
#define X86_FP REG_EBP
#define X86_AX REG_EAX
#define X86_ARGUMENTS REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP
#define X86_CALL 0x80cd /* int $0x80 */

#include "x86_registers.h"

/* Returns the general registers as an array: edi, esi, ebp, esp, ebx, edx, ecx, eax. Any of them
 * may hold a pointer. */
static inline const uintptr_t *context_registers(const ucontext_t *context, unsigned *count)
{
    *count = REG_EAX - REG_EDI + 1;
    return (const uintptr_t *)&context->uc_mcontext.gregs[REG_EDI];
}

/* Says whether a called function must preserve the register with index i in context_registers(). */
static inline bool context_register_is_kept(unsigned i)
{
    return i <= REG_EBX - REG_EDI && i != REG_ESP - REG_EDI;
}

/* Gets the range of the saved vector registers, which may hold pointers, because code copies memory
 * with them. They follow the state of the old coprocessor, in the format of fxsave; that state
 * contains the size of the range. False: no vector registers were saved. */
static inline bool context_vectors(const ucontext_t *context, uintptr_t *start, uintptr_t *end)
{
    const char *area = (const char *)context->uc_mcontext.fpregs;
    uint16_t has_no_vectors;
    uint32_t magic, size = 512;
    if (!area)
        return false;
    memcpy(&has_no_vectors, area + 110, sizeof has_no_vectors); /* 0: the vector registers follow */
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

/* Number of bytes below sp that a leaf function may use. */
#define CONTEXT_RED_ZONE 0

/* ---- Restarting system calls that a signal has interrupted ------------------------------------
 *
 * A system call is made by int 0x80, either in the code that makes the call or in the vDSO's
 * function, which first tries a faster instruction (sysenter, syscall). The kernel returns from the
 * faster instruction to the code behind the int 0x80, too. */

/* Says whether pc is at a sysenter or syscall that an int 0x80 follows. */
static inline bool context_at_fast_call(uintptr_t pc)
{
    uint16_t code;
    memcpy(&code, (const void *)pc, sizeof code);
    return (code == 0x340f || code == 0x050f) && context_at_call(pc + sizeof code);
}

/* Says whether the signal has interrupted a system call, or came just before or after one. */
static inline bool context_in_call(const ucontext_t *context)
{
    return context_after_call(context) || context_at_call(context_pc(context)) ||
           context_at_fast_call(context_pc(context));
}

/* Says whether an address is just behind a call of the vDSO's function: call *%gs:0x10. It reads
 * nothing but code. */
static inline bool context_is_vdso_call(uintptr_t back)
{
    return memcmp((const char *)back - 7, "\x65\xff\x15\x10\0\0\0", 7) == 0;
}

/* Says whether an address is in the function with which glibc makes system calls of six arguments,
 * just behind its call of the vDSO's function: pop %ebp, %edi, %ebx; ret. */
static inline bool context_is_six_argument_end(uintptr_t back)
{
    return memcmp((const char *)back, "\x5d\x5f\x5b\xc3", 4) == 0;
}

/* Returns the address of an instruction before which the code loads the number of the interrupted
 * system call: the system call itself, or the call of the vDSO's function that makes it, or the
 * call of glibc's function for six arguments, which calls the vDSO's. Each of these two functions
 * has pushed three registers. 0: not known. */
static inline uintptr_t context_call_site(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)context_pc(context);
    uintptr_t back;
    if (memcmp(code, "\x5d\x5a\x59\xc3", 4) != 0) /* pop %ebp, %edx, %ecx; ret */
        return context_pc(context) - CONTEXT_CALL_SIZE;
    memcpy(&back, (const void *)(context_sp(context) + 12), sizeof back);
    if (!context_is_vdso_call(back))
        return 0;
    if (!context_is_six_argument_end(back))
        return back - 7;
    memcpy(&back, (const void *)(context_sp(context) + 12 + 4 + 12), sizeof back);
    return *(const uint8_t *)(back - 5) == 0xe8 ? back - 5 : 0;
}

/* Returns the number of the interrupted system call. The result has overwritten its register, so it
 * is read from the instruction before the call that loads the number. -1: there is no such
 * instruction, or its source is overwritten, too. */
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

/* Returns the number and the first argument of a system call of the hook of syscall(). The number
 * is the hook's own first argument, above four pushed registers and the return address. */
static inline void context_syscall_hook(const ucontext_t *context, long *number, long *first)
{
    *number = ((const long *)context_sp(context))[5];
    *first = context->uc_mcontext.gregs[REG_EBX];
}

/* Returns the value with which setjmp encrypts pointers by xor. */
static inline uintptr_t context_pointer_guard(void)
{
    uintptr_t guard;
    __asm__("mov %%gs:0x18, %0" : "=r"(guard));
    return guard;
}

/* Offset of the dynamic thread vector (TLS) in the thread control block. */
#define CONTEXT_DTV 4

/* ---- Signal frames -------------------------------------------------------------------------- */

/* The flag SA_RESTORER, which libc sets if there is no vDSO. */
#define CONTEXT_RESTORER 0x04000000ul
#define CONTEXT_LIBC_FLAGS                                                                         \
    0ul /* flags that libc adds to every struct sigaction: none, because kernels have a vDSO */

/* Moves the signal frame that the kernel has made on another stack to the interrupted stack, as if
 * the kernel had made it there, and starts the handler. top: upper end of the frame, which consists
 * of the return address, the handler's three arguments (two of them are addresses in the frame),
 * the siginfo and the ucontext. */
#define CONTEXT_FRAMES_MOVE 1
/* Says whether a handler was called with SA_SIGINFO. Without it the handler's only argument is
 * the number of the signal; in the place of "info" is the first saved register, the selector of gs,
 * which is less than 2^16. */
#define CONTEXT_HAS_INFO(info) ((uintptr_t)(info) >> 16)
static inline __attribute__((noreturn)) void
context_move(int number, siginfo_t *info, ucontext_t *context, uintptr_t top, void *handler)
{
    uintptr_t frame = (uintptr_t)context - sizeof(uintptr_t) * 4 - sizeof(siginfo_t);
    uintptr_t to = context_sp(context) - CONTEXT_RED_ZONE - (top - frame);
    to -= (to - frame) % 64; /* the kernel saves vector registers at addresses divisible by 64 */
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
