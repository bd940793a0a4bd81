/* stack.c (generic) - what other CPUs have in stack.S: calls on another stack, and the hook of
 * syscall(). */
#include "preload/base/base.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* The state of a call on another stack. It lies at the upper end of that stack, because the
 * first stack may be small. */
struct call_on {
    ucontext_t here, there;
    void (*function)(void *);
    void *argument;
};

static void make_call(unsigned upper, unsigned lower)
{
    const struct call_on *call = (const void *)((uintptr_t)upper << 16 << 16 | lower);
    call->function(call->argument);
}

void arch_call_on(void *stack_end, void (*function)(void *), void *argument)
{
    struct call_on *call = (struct call_on *)((uintptr_t)stack_end & -(uintptr_t)64) - 1;
    /* makecontext needs the start of the stack, which is not known here; only the end of the
     * stack is used, so any lower address serves. */
    char *low = (char *)call - 4096;
    call->function = function;
    call->argument = argument;
    getcontext(&call->there);
    call->there.uc_stack = (stack_t){.ss_sp = low, .ss_size = (size_t)((char *)call - low)};
    call->there.uc_link = &call->here;
    makecontext(&call->there, (void (*)(void))make_call, 2, (unsigned)((uintptr_t)call >> 16 >> 16),
                (unsigned)(uintptr_t)call);
    swapcontext(&call->here, &call->there);
}

const char arch_call_unblocked_end[1], arch_syscall_hook_end[1];

long arch_call_unblocked(const uint64_t *mask, long number, const long arguments[6])
{
    arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, 0, sizeof *mask, 0, 0);
    return arch_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
}

__attribute__((weak)) long hook_restricting_syscall(long number, long a, long b, long c, long d,
                                                    long e) HIDDEN; /* weak: unit tests lack it */

EXPORT long syscall(long number, ...);
EXPORT long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < ARRAY_LENGTH(a); i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_seccomp || (number == SYS_prctl && a[0] == PR_SET_SECCOMP))
        return hook_restricting_syscall(number, a[0], a[1], a[2], a[3], a[4]);
    long result = arch_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if ((unsigned long)result < -4095ul)
        return result;
    errno = (int)-result;
    return -1;
}
