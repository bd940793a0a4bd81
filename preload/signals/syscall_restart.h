/* syscall_restart.h - a thread that was held by our signal goes on as if nothing had been.
 *
 * Most system calls the kernel itself begins again (SA_RESTART). The rest would fail with EINTR,
 * and the program, which knows of no signal, would take that for an error. Those with a deadline
 * that the kernel keeps (poll, nanosleep, futex) go on inside the handler, by restart_syscall; the
 * others are called again, for a list of calls where that is right: never close or connect. A
 * relative deadline of theirs is shortened by what has passed, where a hook has noted it
 * (hook_wait.c).
 *
 * A signal of the program's that came meanwhile still interrupts: then EINTR is the truth.
 */
#ifndef PRELOAD_SIGNALS_SYSCALL_RESTART_H
#define PRELOAD_SIGNALS_SYSCALL_RESTART_H

#include "preload/base/base.h"

#include <ucontext.h>

/* What the thread was called with before the signal was sent: /proc/self/task/TID/syscall. */
struct resume_call {
    long number, first; /* number -1: not known */
    uintptr_t pc;       /* where: it is about this call only if the thread is still there */
};

/* In the handler, as the last thing it does. May not return: then an outer handler of the same
 * thread goes on. */
void resume(ucontext_t *context, const struct resume_call *call);

/* A system call with a relative deadline is about to be made; 0: it is over. milliseconds: the
 * kernel takes it as a number, in that argument. timespec: it reads it from there. */
struct resume_deadline {
    uint64_t ns;               /* CLOCK_MONOTONIC, 0 = none */
    long number, other_number; /* of the system call that the hook will come to */
    uintptr_t frame;           /* of the hook, which lies close above it */
    unsigned argument;
    struct timespec *timespec;
};
extern __thread struct resume_deadline resume_deadline __attribute__((tls_model("initial-exec")));

#endif
