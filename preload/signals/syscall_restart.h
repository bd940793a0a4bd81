/* syscall_restart.h - continues the system call of a thread that was stopped by libleak's signal.
 *
 * The kernel itself restarts most system calls (SA_RESTART). The others would fail with EINTR, and
 * the program, which knows of no signal, would take that for an error. Calls whose deadline the
 * kernel keeps (poll, nanosleep, futex) are continued inside of the handler, by restart_syscall.
 * The rest is called again if it is on a list of calls that may be repeated: never close. A
 * relative deadline is then shortened by the time that has passed, if a hook has recorded it
 * (hook_signal.c); otherwise the handler itself makes the call, and keeps the time from then on.
 *
 * The number of the call, which its result may have overwritten, is known from the code before it,
 * from the hook of syscall() (stack.S), or from /proc, which is read before the signal is sent, or
 * was read when libleak was attached. The call fails with EINTR only if the thread entered it after
 * /proc was read, from code that is not recognised.
 *
 * A signal of the program that arrives during the stop still interrupts the call, and EINTR is
 * correct. */
#ifndef PRELOAD_SIGNALS_SYSCALL_RESTART_H
#define PRELOAD_SIGNALS_SYSCALL_RESTART_H

#include "preload/base/base.h"

#include <ucontext.h>

/* The system call of a thread before the signal was sent, as /proc/self/task/TID/syscall says.
 * attach/library.c has a copy of this structure. */
struct syscall_interrupted {
    long number, first; /* number: -1 if it is not known; first: the first argument */
    /* Address behind the call, and the stack pointer; the rest is valid only if the thread is still
     * there. */
    uintptr_t pc, sp;
};

/* Continues the interrupted call; the last thing that a signal handler does. It does not return if
 * an outer handler of the same thread has to continue. */
void syscall_restart(ucontext_t *context, const struct syscall_interrupted *call);

/* Describes the relative deadline of a system call. A hook sets it before the call and sets ns to 0
 * afterwards. argument: index (from 0) of the argument that is the deadline in milliseconds.
 * timespec: address of the deadline if it is a timespec, otherwise NULL. */
struct syscall_deadline {
    uint64_t ns;               /* the deadline by CLOCK_MONOTONIC; 0: none */
    long number, other_number; /* the two system calls that the hook may make */
    /* Stack frame of the hook; the stack pointer of the call is a little below it. */
    uintptr_t frame;
    unsigned argument;
    struct timespec *timespec;
};
extern __thread struct syscall_deadline syscall_deadline __attribute__((tls_model("initial-exec")));

#endif
