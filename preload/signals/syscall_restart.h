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
 * from the hook of syscall() (stack.S), or from /proc, where it was read before the signal was
 * sent: a thread that ran then, and has entered since a call that code of its own makes in a way
 * that is not recognised, gets EINTR.
 *
 * A signal of the program that arrives meanwhile still interrupts: then EINTR is correct.
 */
#ifndef PRELOAD_SIGNALS_SYSCALL_RESTART_H
#define PRELOAD_SIGNALS_SYSCALL_RESTART_H

#include "preload/base/base.h"

#include <ucontext.h>

/* The thread's system call before the signal was sent: /proc/self/task/TID/syscall. */
struct syscall_interrupted {
    long number, first; /* first: argument; number -1: not known */
    uintptr_t pc;       /* the record is valid only if the thread still is there */
};

/* The last call of a signal handler. May not return: then an outer handler of the same thread
 * continues. */
void syscall_restart(ucontext_t *context, const struct syscall_interrupted *call);

/* Set by a hook before a system call with a relative deadline, ns = 0 afterwards. argument: index
 * of the argument that holds milliseconds. timespec: the kernel reads the deadline from there. */
struct syscall_deadline {
    uint64_t ns;               /* CLOCK_MONOTONIC, 0 = none */
    long number, other_number; /* of the system calls that the hook may make */
    uintptr_t frame;           /* of the hook, close above the stack pointer of the call */
    unsigned argument;
    struct timespec *timespec;
};
extern __thread struct syscall_deadline syscall_deadline __attribute__((tls_model("initial-exec")));

#endif
