/* hook_mask.c - the signals that libleak keeps for itself stay open, and nobody sees that they do:
 * the one that is sent, and with start_at= that of a fault (breakpoint.h), which would kill.
 *
 * Worker threads often block every signal, once and for all: then they could not be held for a
 * look. So our number is taken out of every mask on its way to the kernel, and is put back into
 * what the program reads. Waiting for signals with a mask, or until one comes, is the same; and who
 * waits with a relative deadline has it written down, for when the wait is begun again
 * (syscall_restart.h).
 */
#include "preload/signals/signal_trampoline.h"
#include "preload/process/resource_hooks.h"
#include "preload/signals/stop_the_world.h"
#include "preload/interpose/real_functions.h"
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

#define KEPT 2

/* This thread has blocked our number, or so it thinks. */
static __thread bool seen_blocked[KEPT] __attribute__((tls_model("initial-exec")));

static int kept(unsigned i)
{
    return i ? handlers_kept_fault() : park_signal();
}

/* A copy without our numbers; NULL stays NULL. */
static const sigset_t *without(const sigset_t *set, sigset_t *copy)
{
    if (!set)
        return set;
    *copy = *set;
    for (unsigned i = 0; i < KEPT; i++)
        if (kept(i))
            sigdelset(copy, kept(i));
    return copy;
}

static void note_blocked(unsigned i, int how, const sigset_t *set, sigset_t *old)
{
    bool before = seen_blocked[i], named = set && sigismember(set, kept(i)) == 1;
    if (set)
        seen_blocked[i] = how == SIG_SETMASK ? named
                          : how == SIG_BLOCK ? before || named
                                             : before && !named;
    if (old && before)
        sigaddset(old, kept(i));
}

static int change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how,
                       const sigset_t *set, sigset_t *old)
{
    sigset_t copy, given; /* set may be old as well */
    if (set)
        given = *set;
    int result = change(how, without(set, &copy), old);
    for (unsigned i = 0; i < KEPT && result == 0; i++)
        if (kept(i))
            note_blocked(i, how, set ? &given : NULL, old);
    return result;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    real_find();
    return change_mask(real.sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    real_find();
    return change_mask(real.pthread_sigmask, how, set, old);
}

EXPORT int sigsuspend(const sigset_t *mask)
{
    sigset_t copy;
    real_find();
    return real.sigsuspend(without(mask, &copy));
}

EXPORT int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t copy;
    real_find();
    int made = real.signalfd(fd, without(mask, &copy), flags);
    if (resource_is_tracked(LEAK_RESOURCE_FD) && made >= 0 && made != fd) {
        struct frame caller = CALLER_FRAME();
        resource_hook_opened(&caller, made, LEAK_SORT_SIGNALFD, NULL);
    }
    return made;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask)
{
    sigset_t copy;
    real_find();
    return real.ppoll(fds, count, timeout, without(mask, &copy));
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask, size_t size);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask, size_t size)
{
    sigset_t copy;
    real_find();
    return real.__ppoll_chk(fds, count, timeout, without(mask, &copy), size);
}

EXPORT int pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                   const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t copy;
    real_find();
    return real.pselect(count, read, write, except, timeout, without(mask, &copy));
}

/* ---- With a deadline that the kernel does not keep ------------------------------------------ */

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

static struct resume_deadline begin_note(uintptr_t frame, long number, long other_number)
{
    struct resume_deadline before = resume_deadline;
    resume_deadline.ns = 0;
    resume_deadline.frame = frame;
    resume_deadline.number = number;
    resume_deadline.other_number = other_number;
    return before;
}

static void note_milliseconds(int timeout, unsigned argument)
{
    resume_deadline.argument = argument;
    resume_deadline.timespec = NULL;
    resume_deadline.ns =
        timeout > 0 ? sys_clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout * 1000000u : 0;
}

/* The kernel reads it from the copy, which may be shortened. */
static void note_timespec(const struct timespec *timeout, struct timespec *copy)
{
    if (!timeout)
        return;
    *copy = *timeout;
    resume_deadline.timespec = copy;
    resume_deadline.ns = sys_clock_ns(CLOCK_MONOTONIC) + nanoseconds(timeout);
}

/* A handler of the program's may wait inside a wait: the outer one's is put back. */
#define WITH_DEADLINE(number, other_number, note, call)                                            \
    ({                                                                                             \
        struct resume_deadline before_ =                                                           \
            begin_note((uintptr_t)__builtin_frame_address(0), number, other_number);               \
        note;                                                                                      \
        int result_ = call;                                                                        \
        resume_deadline = before_;                                                                 \
        result_;                                                                                   \
    })

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
    real_find();
    return WITH_DEADLINE(EPOLL_WAIT, SYS_epoll_pwait, note_milliseconds(timeout, 3),
                         real.epoll_wait(fd, events, most, timeout));
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout,
                       const sigset_t *mask)
{
    sigset_t copy;
    real_find();
    return WITH_DEADLINE(SYS_epoll_pwait, SYS_epoll_pwait, note_milliseconds(timeout, 3),
                         real.epoll_pwait(fd, events, most, timeout, without(mask, &copy)));
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask);
EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
                        const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t copy;
    struct timespec left;
    real_find();
    if (!real.epoll_pwait2) { /* glibc before 2.35 */
        errno = ENOSYS;
        return -1;
    }
    return WITH_DEADLINE(
        EPOLL_PWAIT2, EPOLL_PWAIT2, note_timespec(timeout, &left),
        real.epoll_pwait2(fd, events, most, timeout ? &left : NULL, without(mask, &copy)));
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t copy;
    struct timespec left;
    real_find();
    return WITH_DEADLINE(SYS_rt_sigtimedwait, SYS_rt_sigtimedwait, note_timespec(timeout, &left),
                         real.sigtimedwait(without(set, &copy), info, timeout ? &left : NULL));
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t copy;
    real_find();
    return real.sigwaitinfo(without(set, &copy), info);
}

EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;
    real_find();
    return real.sigwait(without(set, &copy), number);
}

EXPORT int semtimedop(int id, struct sembuf *operations, size_t count,
                      const struct timespec *timeout)
{
    struct timespec left;
    real_find();
    return WITH_DEADLINE(SYS_semtimedop, SYS_semtimedop, note_timespec(timeout, &left),
                         real.semtimedop(id, operations, count, timeout ? &left : NULL));
}
