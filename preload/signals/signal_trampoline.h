/* signal_trampoline.h - calls the program's signal handlers through trampolines, which defer
 * signals while the thread holds a lock of libleak.
 *
 * The kernel is given a trampoline instead of the handler. The trampoline jumps to the handler (the
 * stack looks as if libleak were absent) unless the thread holds a lock of the runtime. Then the
 * signal is sent to the thread once more, with its whole siginfo, and all signals stay blocked
 * until the last lock is released. The effect is that of blocking signals around each lock, at no
 * cost unless a signal really arrives. Fault signals are synchronous and never deferred.
 *
 * Trampolines are assigned to handlers for ever and never change, so that a vfork child, which
 * shares the memory but not the kernel's table of actions, cannot spoil the parent's. In a program
 * with more than TRAMPOLINES different handlers, the kernel calls the others directly.
 *
 * A fatal signal may have a handler of libleak in place of the default action (crash.h). Only the
 * kernel's table says so; the program still sees the default action. For faults the program's
 * handlers are installed without a trampoline, except in two cases: a one-shot handler
 * (SA_RESETHAND) leaves the default action behind, which libleak must replace again; and a handler
 * with SA_ONSTACK must not run on libleak's alternate stack (altstack.h) in a thread for which the
 * program installed none. */
#ifndef PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H
#define PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H

#include "preload/base/base.h"

#include <signal.h>
#include <ucontext.h>

typedef int trampoline_sigaction(int, const struct sigaction *, struct sigaction *);

struct trampoline_thread {
    uint32_t entered; /* number of handlers that this thread has begun to run */
    struct trampoline_altstack {
        uintptr_t low, size;
    } altstack; /* libleak's alternate stack of this thread; size 0: none */
};
extern __thread struct trampoline_thread trampoline_thread
    __attribute__((tls_model("initial-exec")));

struct trampoline_callbacks {
    /* Says whether the handler belongs to a language runtime that expects to run on the alternate
     * stack that it found, which is libleak's. Called once for each handler. NULL: no handler
     * does. */
    bool (*wants_altstack)(uintptr_t handler);
    /* Called before a handler of the program, if the signal was given to
     * trampoline_replace_default. */
    void (*before_handler)(int number, siginfo_t *info, void *context);
};
extern struct trampoline_callbacks trampoline_callbacks HIDDEN;

/* Returns what to install for a handler: a trampoline, or the handler itself (for SIG_DFL, SIG_IGN
 * and faults). */
sighandler_t trampoline_get(int number, sighandler_t handler);
/* Returns the handler behind a trampoline: the reverse of trampoline_get. */
sighandler_t trampoline_get_handler(sighandler_t trampoline);

/* Convert a whole action to what the kernel gets, and back. A trampoline always has SA_SIGINFO,
 * which deferring needs; an unused flag in the kernel's table marks handlers that the program
 * installed without it. */
void trampoline_wrap_action(int number, struct sigaction *given);
void trampoline_unwrap_action(struct sigaction *given);
/* Gives trampolines to the handlers that were installed before libleak was loaded. install: libc's
 * sigaction. */
void trampoline_wrap_installed(trampoline_sigaction *install);
/* Installs the program's handlers and the default actions directly, as they would be without
 * libleak. install: libc's sigaction. */
void trampoline_unwrap_installed(trampoline_sigaction *install);
/* Replaces the default actions again, as trampoline_replace_default did before a pause. */
void trampoline_replace_again(trampoline_sigaction *install);
/* Completes an action that libc has built itself, in signal() and functions like it. */
void trampoline_complete_action(int number);

/* ---- A fault that libleak raises itself ------------------------------------------------------ */

/* Reserves a fault signal for libleak: if is_ours returns true, the signal is handled. The hooks in
 * hook_signal.c keep the program from ignoring or blocking it, which the program cannot see.
 * install: libc's sigaction. trampoline_replace_default must have been called before for this
 * signal, with a handler that calls trampoline_owns_fault. */
void trampoline_reserve_fault(int number,
                              bool (*is_ours)(const siginfo_t *info, ucontext_t *context),
                              trampoline_sigaction *install);
/* Returns the number of the reserved fault signal; 0: none. */
int trampoline_reserved_fault(void);
/* Says whether libleak itself has raised this signal. */
bool trampoline_owns_fault(int number, const siginfo_t *info, void *context);

/* ---- Replacing the default action of fatal signals ------------------------------------------- */

/* Installs a handler for each of these signals (bit number - 1) whose action is the default one,
 * now and when it becomes so later. At most two handlers can be installed in this way. open:
 * signals other than faults that may interrupt the handler. install: libc's sigaction. */
void trampoline_replace_default(void (*handler)(int, siginfo_t *, void *), uint64_t signals,
                                uint64_t open, trampoline_sigaction *install);
/* Installs the default actions again, because a sandbox would not let the handler end the process
 * by the signal. */
void trampoline_restore_defaults(void);

/* The flags and the mask that the program gave with a default action. They have no effect, but
 * sigaction must return them. */
struct trampoline_default {
    uint64_t flags, mask;
};
struct trampoline_default trampoline_get_default(int number);
/* Converts what sigaction returned to what the program installed. kept: result of
 * trampoline_get_default. */
void trampoline_unwrap_default(struct sigaction *given, struct trampoline_default kept);

/* Runs a handler of the program where it expects to run. If the kernel has put the signal frame on
 * libleak's alternate stack, the frame is moved to the interrupted stack. Nothing else may have
 * been pushed there meanwhile. */
void trampoline_run_handler(void (*handler)(int, siginfo_t *, void *), int number, siginfo_t *info,
                            void *context);

#endif
