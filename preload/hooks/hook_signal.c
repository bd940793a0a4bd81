/* hook_signal.c - hooks of functions that install signal handlers, change signal masks, or wait
 * with a mask.
 *
 * Handlers: the kernel is given a trampoline, the program sees its own handler
 * (signal_trampoline.h). Everything else is done by libc, which also sets errno.
 *
 * Masks: the signals that libleak reserves stay unblocked, and the program does not see that. These
 * are the signal that stops threads, and with start_at= the signal of a fault (start_breakpoint.h):
 * while that is blocked, the fault would kill the process. Worker threads often block all signals
 * for ever, and then could not be stopped for a leak check. So the reserved numbers are removed
 * from every mask on its way to the kernel, and added again to what the program reads.
 *
 * Waits: a relative deadline is recorded, in case the wait has to be repeated (syscall_restart.h).
 */
#include "preload/hooks/hooks.h"
#include "preload/signals/altstack.h"
#include "preload/signals/signal_trampoline.h"
#include "preload/process/resource_hooks.h"
#include "preload/signals/stop_the_world.h"
#include "preload/signals/syscall_restart.h"
#include "preload/base/sys.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- The reserved signals -------------------------------------------------------------------- */

#define RESERVED 2

static int reserved_signal(unsigned i)
{
    return i ? trampoline_reserved_fault() : world_signal();
}

static void remove_reserved(sigset_t *set)
{
    for (unsigned i = 0; i < RESERVED; i++)
        if (reserved_signal(i))
            sigdelset(set, reserved_signal(i));
}

/* ---- Signal handlers ------------------------------------------------------------------------- */

/* The program's action for the signal that stops threads. */
static struct sigaction program_action;

static int change_own_action(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = program_action;
    if (action) {
        program_action = *action;
        bool handled = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
        world_set_program_handler(handled ? action->sa_sigaction : NULL,
                                  action->sa_handler == SIG_IGN);
    }
    if (old)
        *old = before;
    return 0;
}

static int change_action(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours;
    real_functions_find();
    if (number == world_signal() && number)
        return change_own_action(action, old);
    struct trampoline_default was = trampoline_get_default(number);
    if (action) {
        ours = *action;
        remove_reserved(&ours.sa_mask);
        trampoline_wrap_action(number, &ours);
    }
    int result = real.sigaction(number, action ? &ours : NULL, old);
    if (result == 0 && old) {
        trampoline_unwrap_default(old, was);
        trampoline_unwrap_action(old);
    }
    return result;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return change_action(number, action, old);
}

EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return change_action(number, action, old);
}

/* Defines the hook of signal or a similar old function that sets a signal handler. These functions
 * differ in the flags that libc chooses; each returns the previous handler. */
#define SIGNAL(name, original)                                                                     \
    EXPORT sighandler_t name(int number, sighandler_t handler);                                    \
    EXPORT sighandler_t name(int number, sighandler_t handler)                                     \
    {                                                                                              \
        real_functions_find();                                                                     \
        if (number == world_signal() && number) {                                                  \
            struct sigaction action = {.sa_handler = handler}, old;                                \
            change_own_action(&action, &old);                                                      \
            return old.sa_handler;                                                                 \
        }                                                                                          \
        sighandler_t old = real.original(number, trampoline_get(number, handler));                 \
        if (old != SIG_ERR)                                                                        \
            trampoline_complete_action(number);                                                    \
        return trampoline_get_handler(old);                                                        \
    }

SIGNAL(signal, signal)
SIGNAL(ssignal, signal)
SIGNAL(bsd_signal, bsd_signal)
SIGNAL(sysv_signal, sysv_signal)
SIGNAL(__sysv_signal, sysv_signal)
SIGNAL(sigset, sigset)

/* Sets the alternate signal stack. The program does not see the alternate stack that libleak itself
 * has set (altstack.h). */
EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    real_functions_find();
    return altstack_set(stack, old);
}

/* ---- Signal masks ---------------------------------------------------------------------------- */

/* Element i: in this thread the program has blocked reserved signal i. In truth it stays unblocked,
 * but the program is shown that it is blocked. */
static __thread bool seen_blocked[RESERVED] __attribute__((tls_model("initial-exec")));

/* Returns a copy of a signal set without the reserved signals; NULL for NULL. It reads only the
 * bytes that the kernel uses, because the memory of the program's set may end behind them. */
static const sigset_t *without_reserved(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return set;
    *copy = (sigset_t){0};
    memcpy(copy, set, sizeof(uint64_t));
    remove_reserved(copy);
    return copy;
}

/* Returns a copy of a signal set without the reserved signals, for functions where only the kernel
 * reads the set: an invalid pointer is returned unchanged, so that the kernel reports the error. */
static const sigset_t *unread_without_reserved(const sigset_t *set, sigset_t *copy)
{
    return set && hook_can_read(set) ? without_reserved(set, copy) : set;
}

static void note_blocked(unsigned i, int how, const sigset_t *set, sigset_t *old)
{
    bool before = seen_blocked[i], named = set && sigismember(set, reserved_signal(i)) == 1;
    if (set)
        seen_blocked[i] = how == SIG_SETMASK ? named
                          : how == SIG_BLOCK ? before || named
                                             : before && !named;
    if (old && before)
        sigaddset(old, reserved_signal(i));
}

static int change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how,
                       const sigset_t *set, sigset_t *old)
{
    sigset_t copy, given; /* both are copied first, because set and old may be one variable */
    if (set)
        given = *set;
    int result = change(how, without_reserved(set, &copy), old);
    for (unsigned i = 0; i < RESERVED && result == 0; i++)
        if (reserved_signal(i))
            note_blocked(i, how, set ? &given : NULL, old);
    return result;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    real_functions_find();
    return change_mask(real.sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    real_functions_find();
    return change_mask(real.pthread_sigmask, how, set, old);
}

EXPORT int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t copy;
    real_functions_find();
    int made = real.signalfd(fd, unread_without_reserved(mask, &copy), flags);
    if (resource_is_tracked(LEAK_RESOURCE_FD) && made >= 0 && made != fd) {
        struct frame caller = CALLER_FRAME();
        resource_hook_opened(&caller, made, LEAK_SORT_SIGNALFD, NULL);
    }
    return made;
}

/* Defines the hook of a wait with a signal mask. The wait has no deadline, or the kernel keeps the
 * deadline when the call is repeated. */
#define WAIT(name, parameters, mask, arguments)                                                    \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        sigset_t copy;                                                                             \
        real_functions_find();                                                                     \
        const sigset_t *seen = unread_without_reserved(mask, &copy);                               \
        return real.name arguments;                                                                \
    }

WAIT(sigsuspend, (const sigset_t *mask), mask, (seen))
WAIT(sigwaitinfo, (const sigset_t *set, siginfo_t *info), set, (seen, info))
WAIT(sigwait, (const sigset_t *set, int *number), set, (seen, number))
WAIT(ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask),
     mask, (fds, count, time, seen))
WAIT(__ppoll_chk,
     (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask,
      size_t size),
     mask, (fds, count, time, seen, size))
WAIT(pselect,
     (int count, fd_set *read, fd_set *write, fd_set *except, const struct timespec *time,
      const sigset_t *mask),
     mask, (count, read, write, except, time, seen))

/* The hooks for 32-bit programs with _TIME_BITS=64. syscall_restart.c shortens the waits of these
 * calls by the system calls that glibc makes for them, so no deadline is recorded. */
#if UINTPTR_MAX == UINT32_MAX
WAIT(__ppoll64, (struct pollfd * fds, nfds_t count, const void *time, const sigset_t *mask), mask,
     (fds, count, time, seen))
WAIT(__pselect64,
     (int count, void *read, void *write, void *except, const void *time, const sigset_t *mask),
     mask, (count, read, write, except, time, seen))
WAIT(__sigtimedwait64, (const sigset_t *set, siginfo_t *info, const void *time), set,
     (seen, info, time))
WAIT(__epoll_pwait2_time64,
     (int fd, void *events, int most, const void *time, const sigset_t *mask), mask,
     (fd, events, most, time, seen))
#endif

/* ---- Waits with a deadline that the kernel does not keep ------------------------------------- */

#ifdef SYS_epoll_wait
#define EPOLL_WAIT SYS_epoll_wait
#else
#define EPOLL_WAIT SYS_epoll_pwait
#endif
#ifdef SYS_epoll_pwait2
#define EPOLL_PWAIT2 SYS_epoll_pwait2
#else
#define EPOLL_PWAIT2 441
#endif

static uint64_t nanoseconds(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static struct syscall_deadline begin_deadline(uintptr_t frame, long number, long other_number)
{
    struct syscall_deadline before = syscall_deadline;
    syscall_deadline.ns = 0;
    syscall_deadline.frame = frame;
    syscall_deadline.number = number;
    syscall_deadline.other_number = other_number;
    return before;
}

static void set_milliseconds(int timeout, unsigned argument)
{
    syscall_deadline.argument = argument;
    syscall_deadline.timespec = NULL;
    syscall_deadline.ns =
        timeout > 0 ? sys_clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout * 1000000u : 0;
}

/* Records the deadline of a wait. Returns the timeout that the kernel is given: "copy", which
 * syscall_restart.c may shorten if the wait must be repeated. NULL and an invalid pointer are
 * returned unchanged. */
static const struct timespec *set_timespec(const struct timespec *timeout, struct timespec *copy)
{
    if (!timeout || !hook_can_read(timeout))
        return timeout;
    *copy = *timeout;
    syscall_deadline.timespec = copy;
    syscall_deadline.ns = sys_clock_ns(CLOCK_MONOTONIC) + nanoseconds(timeout);
    return copy;
}

/* Defines the hook of a wait with a timeout. note: the statement that records the deadline; it may
 * put the timeout into the variable "left", from which the kernel then reads it. */
#define TIMED(name, parameters, number, other_number, note, arguments)                             \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        sigset_t copy UNUSED;                                                                      \
        struct timespec left UNUSED;                                                               \
        real_functions_find();                                                                     \
        if (!real.name) { /* glibc before 2.35 lacks epoll_pwait2 */                               \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        struct syscall_deadline outer =                                                            \
            begin_deadline((uintptr_t)__builtin_frame_address(0), number, other_number);           \
        note;                                                                                      \
        int result = real.name arguments;                                                          \
        syscall_deadline = outer; /* of a wait that a signal handler interrupted */                \
        return result;                                                                             \
    }

TIMED(epoll_wait, (int fd, struct epoll_event *events, int most, int timeout), EPOLL_WAIT,
      SYS_epoll_pwait, set_milliseconds(timeout, 3), (fd, events, most, timeout))
TIMED(epoll_pwait,
      (int fd, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
      SYS_epoll_pwait, SYS_epoll_pwait, set_milliseconds(timeout, 3),
      (fd, events, most, timeout, unread_without_reserved(mask, &copy)))
TIMED(epoll_pwait2,
      (int fd, struct epoll_event *events, int most, const struct timespec *timeout,
       const sigset_t *mask),
      EPOLL_PWAIT2, EPOLL_PWAIT2, timeout = set_timespec(timeout, &left),
      (fd, events, most, timeout, unread_without_reserved(mask, &copy)))
TIMED(sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
      SYS_rt_sigtimedwait, SYS_rt_sigtimedwait, timeout = set_timespec(timeout, &left),
      (unread_without_reserved(set, &copy), info, timeout))
TIMED(semtimedop, (int id, struct sembuf *operations, size_t count, const struct timespec *timeout),
      SYS_semtimedop, SYS_semtimedop, timeout = set_timespec(timeout, &left),
      (id, operations, count, timeout))
