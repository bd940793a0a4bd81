#include "preload/signals/syscall_restart.h"
#include "preload/base/base.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/base/sys.h"
#include "context.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

/* System calls that the oldest kernel headers that libleak is built with do not define. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
/* The kernel's IORING_ENTER_ABS_TIMER, which its older headers do not define. */
#define URING_ABSOLUTE (1u << 5)
/* The kernel's IORING_ENTER_EXT_ARG_REG, which its older headers do not define. */
#define URING_REGISTERED (1u << 6)

/* The largest distance on the stack, in bytes, from a hook in libleak to the system call in
 * libc. */
#define MAX_LIBC_FRAMES 4096

__thread struct syscall_deadline syscall_deadline;

/* ---- Making a system call inside of the handler ---------------------------------------------- */

/* The place to which a nested handler jumps when it has interrupted arch_call_unblocked in an outer
 * handler of the same thread. It must not return there: the kernel then forgets a call that
 * SYS_restart_syscall could continue. */
static __thread struct {
    void *jump[5];
} outer __attribute__((tls_model("initial-exec")));

/* Result of call_unblocked when libleak's signal has interrupted the call. */
#define STOPPED_AGAIN (-512L)

/* Says whether the thread is in arch_call_unblocked. False also if the call has ended with another
 * result than EINTR: then the handler may return. */
static bool in_unblocked_call(const ucontext_t *context)
{
    uintptr_t pc = context_pc(context), end = (uintptr_t)arch_call_unblocked_end;
    return pc - (uintptr_t)arch_call_unblocked < end - (uintptr_t)arch_call_unblocked ||
           (pc == end && context_result(context) == -EINTR);
}

/* Makes a system call with the mask of the interrupted code, so that the program's signals can
 * interrupt it. Returns the call's result, or STOPPED_AGAIN. */
static NOINLINE long call_unblocked(const ucontext_t *context, long number, const long argument[6])
{
    uint64_t mask, all;
    /* This handler may itself have interrupted an outer handler's call. */
    __typeof__(outer) before = outer;
    volatile long result = STOPPED_AGAIN;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    if (!__builtin_setjmp(outer.jump)) /* after the jump back all signals are blocked */
        result = arch_call_unblocked(&mask, number, argument);
    sys_signals_block(&all);
    outer = before;
    return result;
}

/* Continues the interrupted call, whose deadline the kernel has kept, and waits for its result. */
static long continue_call(const ucontext_t *context)
{
    static const long none[6];
    long result;
    do
        result = call_unblocked(context, SYS_restart_syscall, none);
    while (result == STOPPED_AGAIN);
    return result;
}

/* ---- Calling again --------------------------------------------------------------------------- */

/* Says whether a pending signal of the program will be handled when this handler returns, by a
 * handler without SA_RESTART. */
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

static bool contains(const short *list, size_t count, long number)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == number)
            return true;
    return false;
}

static bool is_local(long address)
{
    return *(const sa_family_t *)address == AF_UNIX;
}

/* Says whether connect can be called again while the connection is being made; it goes on waiting
 * then. */
static bool is_repeatable_connect(long address)
{
    sa_family_t family = *(const sa_family_t *)address;
    return is_local(address) || family == AF_INET || family == AF_INET6;
}

/* Says whether the call can be repeated with the same arguments. */
static bool is_repeatable(long number, const ucontext_t *context)
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
#ifdef SYS_ppoll_time64 /* system calls of 32-bit programs with times of 64 bits */
        SYS_ppoll_time64,
        SYS_pselect6_time64,
        SYS_rt_sigtimedwait_time64,
        SYS_semtimedop_time64,
        SYS_recvmmsg_time64,
        SYS_futex_time64,
        SYS_clock_nanosleep_time64,
        SYS_mq_timedreceive_time64,
        SYS_mq_timedsend_time64,
        SYS_io_pgetevents_time64,
#endif
        SYS_epoll_pwait,
        SYS_pselect6,
        SYS_ppoll,
        SYS_rt_sigsuspend,
        SYS_rt_sigtimedwait,
        SYS_semop,
        SYS_semtimedop,
        SYS_msgrcv,
        SYS_msgsnd,
        SYS_recvfrom,
        SYS_recvmsg,
        SYS_recvmmsg,
        SYS_sendto,
        SYS_sendmsg,
        SYS_sendmmsg,
        SYS_accept,
        SYS_accept4,
        SYS_read,
        SYS_readv,
        SYS_write,
        SYS_writev,
        SYS_io_getevents,
        SYS_futex,
        SYS_mq_timedreceive,
        SYS_mq_timedsend,
        SYS_wait4,
        SYS_waitid,
        SYS_flock,
        SYS_fcntl,
        SYS_clock_nanosleep,
        SYS_nanosleep,
        SYS_io_pgetevents,
        SYS_io_uring_enter,
        SYS_futex_waitv,
        SYS_futex_wait,
    };
    if (number == SYS_connect)
        return is_repeatable_connect(context_argument(context, 1));
    return contains(list, ARRAY_LENGTH(list), number);
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){ns / 1000000000u, ns % 1000000000u};
}

static uint64_t nanoseconds_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static int milliseconds_of(uint64_t ns)
{
    return (ns + 999999) / 1000000;
}

/* Says whether the recorded deadline belongs to this call. A handler that waits, or a wait that was
 * left by longjmp, leaves the deadline of another call behind. */
static bool has_deadline(const ucontext_t *context, long number)
{
    const struct syscall_deadline *deadline = &syscall_deadline;
    return deadline->ns && (number == deadline->number || number == deadline->other_number) &&
           deadline->frame - context_sp(context) < MAX_LIBC_FRAMES;
}

static uint64_t left_of_deadline(void)
{
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
    return syscall_deadline.ns > now ? syscall_deadline.ns - now : 0;
}

static void shorten_deadline(ucontext_t *context)
{
    const struct syscall_deadline *deadline = &syscall_deadline;
    uint64_t left = left_of_deadline();
    if (deadline->timespec)
        *deadline->timespec = timespec_of(left);
    else
        context_set_argument(context, deadline->argument, milliseconds_of(left));
}

/* ---- Calls with a time limit that would begin anew ---------------------------------------------
 *
 * When such a call is interrupted, the handler repeats it and keeps the time. That applies to calls
 * that a program makes without libc's function, and calls on a socket with SO_RCVTIMEO or
 * SO_SNDTIMEO. The time at which the program made the call is not known, so the call lasts up to
 * twice as long, however often it is interrupted. */

struct timed_call {
    long number, argument[6];
    uint64_t left; /* time that is left, in ns */
    /* The result of a call on a socket when its time is over; 0: the call itself determines its
     * result. */
    long late_result;
    /* Index (from 0) of the argument that has the time limit; the next member says in which
     * form. */
    unsigned limit;
    enum { LIMIT_MILLISECONDS, LIMIT_TIMESPEC, LIMIT_WIDE, LIMIT_URING } form;
    struct timespec time;
    struct __kernel_timespec wide; /* the time limit in the form with seconds of 64 bits */
    struct io_uring_getevents_arg uring;
};

static const struct {
    short number;
    uint8_t limit, form;
} timed_calls[] = {
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, 3, LIMIT_MILLISECONDS},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, 3, LIMIT_WIDE},
#endif
#ifdef SYS_ppoll_time64
    {SYS_rt_sigtimedwait_time64, 2, LIMIT_WIDE},
    {SYS_semtimedop_time64, 3, LIMIT_WIDE},
    {SYS_io_pgetevents_time64, 4, LIMIT_WIDE},
#endif
    {SYS_epoll_pwait, 3, LIMIT_MILLISECONDS},
    {SYS_rt_sigtimedwait, 2, LIMIT_TIMESPEC},
    {SYS_semtimedop, SYS_SEMTIMEDOP_LIMIT, LIMIT_TIMESPEC},
    {SYS_io_getevents, 4, LIMIT_TIMESPEC},
    {SYS_io_pgetevents, 4, LIMIT_TIMESPEC},
};

static uint64_t nanoseconds_of_wide(const struct __kernel_timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Says whether the call is one of those that share the number SYS_ipc with semtimedop, but is not
 * semtimedop. */
static bool is_other_ipc(const struct timed_call *call)
{
#ifdef SYS_IPC_SEMTIMEDOP
    return call->number == SYS_ipc && call->argument[0] != SYS_IPC_SEMTIMEDOP;
#else
    return call->number < 0;
#endif
}

static bool has_limit(struct timed_call *call)
{
    if (is_other_ipc(call))
        return false;
    for (size_t i = 0; i < ARRAY_LENGTH(timed_calls); i++) {
        if (timed_calls[i].number != call->number)
            continue;
        call->limit = timed_calls[i].limit;
        call->form = timed_calls[i].form;
        long limit = call->argument[call->limit];
        if (call->form == LIMIT_MILLISECONDS)
            call->left = (int)limit > 0 ? (uint64_t)limit * 1000000 : 0;
        else if (limit)
            call->left = call->form == LIMIT_WIDE
                             ? nanoseconds_of_wide((const struct __kernel_timespec *)limit)
                             : nanoseconds_of((const struct timespec *)limit);
        return call->left != 0;
    }
    return false;
}

/* Says whether a hook has recorded the deadline, but the kernel reads the limit from a copy that
 * libc made: glibc's functions for 32-bit programs copy it. */
static bool has_copied_limit(struct timed_call *call)
{
    if (!syscall_deadline.timespec || !has_limit(call) || call->form == LIMIT_MILLISECONDS ||
        call->argument[call->limit] == (long)syscall_deadline.timespec)
        return false;
    call->left = left_of_deadline();
    return true;
}

/* Says whether io_uring_enter was called with a time limit. The limit is in a structure to which an
 * argument points. */
static bool has_uring_limit(struct timed_call *call)
{
    const struct io_uring_getevents_arg *given = (const void *)call->argument[4];
    unsigned flags = call->argument[3];
    if (call->number != SYS_io_uring_enter || !(flags & IORING_ENTER_EXT_ARG) ||
        flags & (URING_ABSOLUTE | URING_REGISTERED) || !given || !given->ts)
        return false;
    call->uring = *given;
    call->left = nanoseconds_of_wide((const struct __kernel_timespec *)(uintptr_t)given->ts);
    call->limit = 4;
    call->form = LIMIT_URING;
    return true;
}

/* Says whether the call is on a socket that has a time limit. late_result gets the value that such
 * a call returns when the time is over. */
static bool has_socket_limit(struct timed_call *call)
{
    static const short receives[] = {SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_read,
                                     SYS_readv,    SYS_accept,  SYS_accept4};
    static const short sends[] = {SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
                                  SYS_write,  SYS_writev,  SYS_connect};
    bool receiving = contains(receives, ARRAY_LENGTH(receives), call->number);
    if (!receiving && !contains(sends, ARRAY_LENGTH(sends), call->number))
        return false;
    call->left = sys_socket_timeout(call->argument[0], receiving);
    call->late_result = -EAGAIN;
    if (call->number == SYS_connect && !is_local(call->argument[1]))
        call->late_result = -EINPROGRESS;
    return call->left != 0;
}

static void set_limit(struct timed_call *call, uint64_t left)
{
    long *limit = &call->argument[call->limit];
    call->time = timespec_of(left);
    call->wide = (struct __kernel_timespec){left / 1000000000u, left % 1000000000u};
    call->uring.ts = (uintptr_t)&call->wide;
    if (call->late_result)
        return;
    *limit = call->form == LIMIT_MILLISECONDS ? milliseconds_of(left)
             : call->form == LIMIT_TIMESPEC   ? (long)&call->time
             : call->form == LIMIT_WIDE       ? (long)&call->wide
                                              : (long)&call->uring;
}

/* Repeats the call until it is over, or until a handler of the program has run. Returns its
 * result. */
static long make_timed_call(const ucontext_t *context, struct timed_call *call)
{
    uint64_t now = sys_clock_ns(CLOCK_MONOTONIC), end = now + call->left;
    uint32_t handled = load_relaxed(&trampoline_thread.entered);
    long result;
    do {
        set_limit(call, now < end ? end - now : 0);
        result = call_unblocked(context, call->number, call->argument);
        now = sys_clock_ns(CLOCK_MONOTONIC);
        if (result == STOPPED_AGAIN && call->late_result && now >= end)
            result = call->late_result;
        /* A handler of the program has run, or a pending signal will start one. The call is not
         * repeated: that signal would be handled before the repeated call, and so would not
         * interrupt it. */
        if (result == STOPPED_AGAIN &&
            (load_relaxed(&trampoline_thread.entered) != handled || program_interrupts(context)))
            result = -EINTR;
    } while (result == STOPPED_AGAIN);
    return result;
}

static void repeat_call(ucontext_t *context, long number, long first)
{
    struct timed_call call = {.number = number, .argument = {first}};
    if (!is_repeatable(number, context))
        return;
    for (unsigned i = 1; i < 6; i++)
        call.argument[i] = context_argument(context, i);
    bool recorded = has_deadline(context, number);
    if (recorded ? has_copied_limit(&call)
                 : (has_limit(&call) || has_uring_limit(&call) || has_socket_limit(&call)))
        return context_set_result(context, make_timed_call(context, &call));
    if (recorded)
        shorten_deadline(context);
    context_call_again(context, number, first);
}

/* Determines the number of the interrupted call, and its first argument, which some CPUs overwrite.
 * -1: the number is not known. */
static long interrupted_number(const ucontext_t *context, const struct syscall_interrupted *call,
                               long *first)
{
    long number = context_call_number(context);
    *first = CONTEXT_NEEDS_FIRST ? call->first : context_argument(context, 0);
    if (context_pc(context) == (uintptr_t)arch_syscall_hook_end)
        context_syscall_hook(context, &number, first);
    else if (number < 0 || CONTEXT_NEEDS_FIRST)
        number =
            call->pc == context_pc(context) && call->sp == context_sp(context) ? call->number : -1;
    return number;
}

/* Says whether SYS_restart_syscall can continue the call: the kernel keeps the deadline of a few
 * calls. It forgets one only when a handler returns, so for any other call SYS_restart_syscall
 * might continue a call that was left by longjmp. */
static bool kernel_can_continue(long number)
{
#ifdef SYS_poll
    if (number == SYS_poll)
        return true;
#endif
    /* The kernel has continued the call once before if the number is SYS_restart_syscall. */
    return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_futex ||
           number == SYS_ppoll || number == SYS_restart_syscall;
}

void syscall_restart(ucontext_t *context, const struct syscall_interrupted *call)
{
    uintptr_t pc = context_pc(context);
    if (!CONTEXT_RESTARTS)
        return;
    if (in_unblocked_call(context))
        __builtin_longjmp(outer.jump, 1);
    if (context_result(context) == -EINTR && context_after_call(context)) {
        uint32_t handled = load_relaxed(&trampoline_thread.entered);
        long first, number = interrupted_number(context, call, &first);
        long result = kernel_can_continue(number) ? continue_call(context) : -EINTR;
        if (result != -EINTR)
            context_set_result(context, result);
        else if (load_relaxed(&trampoline_thread.entered) == handled &&
                 !program_interrupts(context))
            repeat_call(context, number, first);
    } else if (program_interrupts(context) && context_at_call(pc)) {
        context_fail_call(context, -EINTR);
    }
}
