#include "preload/signals/syscall_restart.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/sys.h"
#include "context.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#define FRAMES_OF_LIBC 4096 /* between the hook and the system call */

__thread struct resume_deadline resume_deadline;

/* This thread's handler that goes on with a system call. One that interrupts it never returns: the
 * kernel forgets such a call when a handler does. */
static __thread struct {
    void *jump[5];
} outer __attribute__((tls_model("initial-exec")));

/* With a result the call is over, and the handler may return. */
static bool in_continued_call(const ucontext_t *context)
{
    uintptr_t pc = context_pc(context), end = (uintptr_t)arch_continue_call_end;
    return pc - (uintptr_t)arch_continue_call < end - (uintptr_t)arch_continue_call ||
           (pc == end && context_result(context) == -EINTR);
}

/* As long as it takes, with the program's own signals let in. */
static NOINLINE long continue_call(const ucontext_t *context)
{
    uint64_t mask, all;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    __builtin_setjmp(outer.jump); /* whoever comes back here has all signals blocked */
    long result = arch_continue_call(&mask);
    sys_signals_block(&all);
    return result;
}

/* Is there a signal of the program's that will be handled as soon as we return, and that does not
 * let a system call be begun again? */
static bool program_interrupts(const ucontext_t *context)
{
    struct sys_sigaction action;
    uint64_t mask, pending = sys_signals_pending();
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    for (pending &= ~mask; pending; pending &= pending - 1) {
        int number = __builtin_ctzll(pending) + 1;
        if (sys_sigaction(number, NULL, &action) >= 0 && action.handler > (uintptr_t)SIG_IGN &&
            !(action.flags & SA_RESTART))
            return true;
    }
    return false;
}

/* Called again with the same arguments these do what they would have done. */
static bool may_be_called_again(long number)
{
    static const short list[] = {
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
#ifdef SYS_select
        SYS_select,
#endif
#ifdef SYS_pause
        SYS_pause,
#endif
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
        SYS_epoll_pwait,    SYS_pselect6,     SYS_ppoll,  SYS_rt_sigsuspend,   SYS_rt_sigtimedwait,
        SYS_semop,          SYS_semtimedop,   SYS_msgrcv, SYS_msgsnd,          SYS_recvfrom,
        SYS_recvmsg,        SYS_recvmmsg,     SYS_sendto, SYS_sendmsg,         SYS_sendmmsg,
        SYS_accept,         SYS_accept4,      SYS_read,   SYS_readv,           SYS_write,
        SYS_writev,         SYS_io_getevents, SYS_futex,  SYS_mq_timedreceive, SYS_mq_timedsend,
        SYS_wait4,          SYS_waitid,       SYS_flock,  SYS_fcntl,           SYS_clock_nanosleep,
        SYS_nanosleep,
#ifdef SYS_io_uring_enter
        SYS_io_uring_enter,
#endif
    };
    for (size_t i = 0; i < ARRAY_LENGTH(list); i++)
        if (list[i] == number)
            return true;
    return false;
}

/* Is that deadline about this call? A handler that waits, or a wait left by longjmp, leaves one of
 * another call behind. */
static bool is_noted(const ucontext_t *context, long number)
{
    const struct resume_deadline *deadline = &resume_deadline;
    return deadline->ns && (number == deadline->number || number == deadline->other_number) &&
           deadline->frame - context_sp(context) < FRAMES_OF_LIBC;
}

static void shorten(ucontext_t *context, long number)
{
    const struct resume_deadline *deadline = &resume_deadline;
    if (!is_noted(context, number))
        return;
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
    uint64_t left = deadline->ns > now ? deadline->ns - now : 0;
    if (deadline->timespec)
        *deadline->timespec = (struct timespec){left / 1000000000u, left % 1000000000u};
    else
        context_set_argument(context, deadline->argument, (left + 999999) / 1000000);
}

/* Receives, or sends: with a time limit that the socket has, and which begins anew with the call.
 */
static int direction_of(long number)
{
    static const short receives[] = {SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_read,
                                     SYS_readv,    SYS_accept,  SYS_accept4};
    static const short sends[] = {SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_write, SYS_writev};
    for (size_t i = 0; i < ARRAY_LENGTH(receives); i++)
        if (receives[i] == number)
            return POLLIN;
    for (size_t i = 0; i < ARRAY_LENGTH(sends); i++)
        if (sends[i] == number)
            return POLLOUT;
    return 0;
}

/* When the call began nobody knows; so it may take up to twice its time, but not for ever, however
 * often it is interrupted: the wait is made here, and the kernel keeps its deadline. True: the time
 * is over, and that is what the call answers. */
static bool socket_waits_in_vain(ucontext_t *context, int fd, int direction)
{
    uint64_t mask, all, limit = sys_socket_timeout(fd, direction == POLLIN);
    if (!limit)
        return false;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    sys_signals_restore(&mask);
    /* Another look may interrupt this wait; a handler of the program's ends it. */
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), end = now + limit;
    uint32_t handled = load_relaxed(&handlers_entered);
    int ready;
    do {
        ready = sys_poll(fd, direction, now < end ? end - now : 0);
        now = sys_clock_ns(CLOCK_MONOTONIC);
    } while (ready == -EINTR && load_relaxed(&handlers_entered) == handled);
    sys_signals_block(&all);
    if (ready == 0)
        context_set_result(context, -EAGAIN);
    return ready == 0 || ready == -EINTR;
}

static void call_again(ucontext_t *context, const struct resume_call *call, long number)
{
    if (!may_be_called_again(number))
        return;
    int direction = direction_of(number);
    long first = CONTEXT_NEEDS_FIRST ? call->first : context_argument(context, 0);
    if (direction && socket_waits_in_vain(context, first, direction))
        return;
    shorten(context, number);
    context_call_again(context, number, call->first);
}

static long number_of(const ucontext_t *context, const struct resume_call *call)
{
    long number = context_call_number(context);
    if (number < 0 || CONTEXT_NEEDS_FIRST)
        number = call->pc == context_pc(context) ? call->number : -1;
    return number;
}

/* The kernel has kept their deadlines. It forgets one only when a handler returns: of a call that
 * was left by longjmp it would still go on with that, whatever is asked for now. */
static bool kernel_can_continue(long number)
{
#ifdef SYS_poll
    if (number == SYS_poll)
        return true;
#endif
    return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_futex ||
           number == SYS_ppoll;
}

void resume(ucontext_t *context, const struct resume_call *call)
{
    uintptr_t pc = context_pc(context);
    if (in_continued_call(context))
        __builtin_longjmp(outer.jump, 1);
    if (context_result(context) == -EINTR && context_after_call(context)) {
        uint32_t handled = load_relaxed(&handlers_entered);
        long number = number_of(context, call);
        long result = kernel_can_continue(number) ? continue_call(context) : -EINTR;
        if (result != -EINTR)
            context_set_result(context, result);
        else if (load_relaxed(&handlers_entered) == handled && !program_interrupts(context))
            call_again(context, call, number);
    } else if (program_interrupts(context) && context_at_call(pc)) {
        context_fail_call(context, -EINTR);
    }
}
