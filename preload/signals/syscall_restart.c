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

#define MAX_LIBC_FRAMES 4096 /* bytes of stack between the hook and the system call */

__thread struct syscall_deadline syscall_deadline;

/* This thread's handler that continues a system call. A handler that interrupts it must not return,
 * for the kernel then forgets the call: it jumps back here. */
static __thread struct {
    void *jump[5];
} outer __attribute__((tls_model("initial-exec")));

/* Behind the call with another result than EINTR the call is over, and the handler may return. */
static bool in_continued_call(const ucontext_t *context)
{
    uintptr_t pc = context_pc(context), end = (uintptr_t)arch_continue_call_end;
    return pc - (uintptr_t)arch_continue_call < end - (uintptr_t)arch_continue_call ||
           (pc == end && context_result(context) == -EINTR);
}

/* Waits for the result, with the program's signals unblocked. */
static NOINLINE long continue_call(const ucontext_t *context)
{
    uint64_t mask, all;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    __builtin_setjmp(outer.jump); /* reached again with all signals blocked */
    long result = arch_continue_call(&mask);
    sys_signals_block(&all);
    return result;
}

/* Will a pending signal of the program be handled on return, by a handler without SA_RESTART? */
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

/* Calls that can be repeated with the same arguments. */
static bool is_repeatable(long number)
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

/* Is the recorded deadline that of this call? A handler that waits, or a wait left by longjmp,
 * leaves the deadline of another call behind. */
static bool has_deadline(const ucontext_t *context, long number)
{
    const struct syscall_deadline *deadline = &syscall_deadline;
    return deadline->ns && (number == deadline->number || number == deadline->other_number) &&
           deadline->frame - context_sp(context) < MAX_LIBC_FRAMES;
}

static void shorten_deadline(ucontext_t *context, long number)
{
    const struct syscall_deadline *deadline = &syscall_deadline;
    if (!has_deadline(context, number))
        return;
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
    uint64_t left = deadline->ns > now ? deadline->ns - now : 0;
    if (deadline->timespec)
        *deadline->timespec = (struct timespec){left / 1000000000u, left % 1000000000u};
    else
        context_set_argument(context, deadline->argument, (left + 999999) / 1000000);
}

/* POLLIN, POLLOUT: the call is subject to the time limit of a socket (SO_RCVTIMEO, SO_SNDTIMEO),
 * which would begin anew with a repeated call. 0: it is not. */
static int socket_direction(long number)
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

/* It is not known when the call began. To bound its duration by twice the limit, however often it
 * is interrupted, the wait is made here, where the kernel keeps the deadline. True: the call must
 * not be repeated: the time is over, which is the result of the call, or a handler of the program
 * has run. */
static bool wait_for_socket(ucontext_t *context, int fd, int direction)
{
    uint64_t mask, all, limit = sys_socket_timeout(fd, direction == POLLIN);
    if (!limit)
        return false;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    sys_signals_restore(&mask);
    /* Another stop may interrupt this wait; a handler of the program ends it. */
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), end = now + limit;
    uint32_t handled = load_relaxed(&trampoline_thread.entered);
    int ready;
    do {
        ready = sys_poll(fd, direction, now < end ? end - now : 0);
        now = sys_clock_ns(CLOCK_MONOTONIC);
    } while (ready == -EINTR && load_relaxed(&trampoline_thread.entered) == handled);
    sys_signals_block(&all);
    if (ready == 0)
        context_set_result(context, -EAGAIN);
    return ready == 0 || ready == -EINTR;
}

static void repeat_call(ucontext_t *context, const struct syscall_interrupted *call, long number)
{
    if (!is_repeatable(number))
        return;
    int direction = socket_direction(number);
    long first = CONTEXT_NEEDS_FIRST ? call->first : context_argument(context, 0);
    if (direction && wait_for_socket(context, first, direction))
        return;
    shorten_deadline(context, number);
    context_call_again(context, number, call->first);
}

static long interrupted_number(const ucontext_t *context, const struct syscall_interrupted *call)
{
    long number = context_call_number(context);
    if (number < 0 || CONTEXT_NEEDS_FIRST)
        number = call->pc == context_pc(context) ? call->number : -1;
    return number;
}

/* The calls whose deadline the kernel keeps. It forgets a deadline only when a handler returns: for
 * any other call restart_syscall might continue one that was left by longjmp. */
static bool kernel_can_continue(long number)
{
#ifdef SYS_poll
    if (number == SYS_poll)
        return true;
#endif
    /* restart_syscall: the kernel has continued the call once before. */
    return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_futex ||
           number == SYS_ppoll || number == SYS_restart_syscall;
}

void syscall_restart(ucontext_t *context, const struct syscall_interrupted *call)
{
    uintptr_t pc = context_pc(context);
    if (in_continued_call(context))
        __builtin_longjmp(outer.jump, 1);
    if (context_result(context) == -EINTR && context_after_call(context)) {
        uint32_t handled = load_relaxed(&trampoline_thread.entered);
        long number = interrupted_number(context, call);
        long result = kernel_can_continue(number) ? continue_call(context) : -EINTR;
        if (result != -EINTR)
            context_set_result(context, result);
        else if (load_relaxed(&trampoline_thread.entered) == handled &&
                 !program_interrupts(context))
            repeat_call(context, call, number);
    } else if (program_interrupts(context) && context_at_call(pc)) {
        context_fail_call(context, -EINTR);
    }
}
