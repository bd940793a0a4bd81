/* signal_trampoline.h - the program's signal handlers, each behind a trampoline.
 *
 * The kernel is given a trampoline instead of the handler. The trampoline jumps to the handler (the
 * stack looks as if libleak were absent) unless the thread holds a lock of the runtime. Then the
 * signal is sent to the thread once more, with its whole siginfo, and all signals stay blocked
 * until the last lock is released. The effect is that of blocking signals around each lock, at no
 * cost unless a signal really arrives. Fault signals are synchronous and never deferred.
 *
 * Trampolines are assigned to handlers for ever and never change, so that a vfork child, which
 * shares the memory but not the kernel's table of actions, cannot spoil the parent's. A program
 * with more than TRAMPOLINES different handlers has the others called directly.
 *
 * A fatal signal may have a handler of libleak in place of the default action (crash.h). The state
 * is kept in the kernel's table alone; the program still sees the default action. For faults the
 * program's handlers are installed without a trampoline, except in two cases: a one-shot handler
 * (SA_RESETHAND) leaves the default action behind, which libleak must replace again; and a handler
 * with SA_ONSTACK in a thread without an alternate stack of its own must not run on libleak's
 * (altstack.h).
 */
#ifndef PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H
#define PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H

#include "preload/base/base.h"

#include <signal.h>
#include <ucontext.h>

typedef int trampoline_sigaction(int, const struct sigaction *, struct sigaction *);

struct trampoline_thread {
    uint32_t entered; /* handlers that this thread has begun */
    struct trampoline_altstack {
        uintptr_t low, size;
    } altstack; /* libleak's alternate stack of this thread; size 0: none */
};
extern __thread struct trampoline_thread trampoline_thread
    __attribute__((tls_model("initial-exec")));

struct trampoline_callbacks {
    /* Does this handler belong to a runtime that has found libleak's alternate stack and expects to
     * run on it? Called once for each handler. NULL: no. */
    bool (*wants_altstack)(uintptr_t handler);
    /* Called before the program's handlers of signals given to trampoline_replace_default. */
    void (*before_handler)(int number, siginfo_t *info, void *context);
};
extern struct trampoline_callbacks trampoline_callbacks HIDDEN;

/* What to install for a handler: a trampoline, or the handler itself (SIG_DFL, SIG_IGN, faults). */
sighandler_t trampoline_get(int number, sighandler_t handler);
/* The handler behind a trampoline: the reverse. */
sighandler_t trampoline_get_handler(sighandler_t trampoline);

/* The same for a whole action. A trampoline always has SA_SIGINFO, which deferring needs; an unused
 * flag in the kernel's table marks handlers that the program installed without it. */
void trampoline_wrap_action(int number, struct sigaction *given);
void trampoline_unwrap_action(struct sigaction *given);
/* Handlers installed before libleak was loaded get trampolines. install: libc's sigaction. */
void trampoline_wrap_installed(trampoline_sigaction *install);
/* The program's handlers and the default actions are installed again, as if libleak were absent. */
void trampoline_unwrap_installed(trampoline_sigaction *install);
/* Replaces default actions again (trampoline_replace_default) after a pause. */
void trampoline_replace_again(trampoline_sigaction *install);
/* Completes an action that libc has built, after signal() and functions like it. */
void trampoline_complete_action(int number);

/* ---- A fault that libleak raises itself ------------------------------------------------------ */

/* Reserves a fault signal: when is_ours returns true the signal is handled. It can neither be
 * ignored nor blocked (hook_signal.c); the program sees no difference. install: libc's sigaction;
 * the default action must have been replaced before, by a handler that calls
 * trampoline_owns_fault. */
void trampoline_reserve_fault(int number,
                              bool (*is_ours)(const siginfo_t *info, ucontext_t *context),
                              trampoline_sigaction *install);
/* The reserved number, 0: none. */
int trampoline_reserved_fault(void);
/* Says whether libleak itself has raised this signal. */
bool trampoline_owns_fault(int number, const siginfo_t *info, void *context);

/* ---- Replacing the default action ------------------------------------------------------------ */

/* Installs a handler for each of these signals (bit number - 1) whose action is the default one,
 * now and later. There may be two such handlers. open: signals that may interrupt it, beside
 * faults. install: libc's sigaction. */
void trampoline_replace_default(void (*handler)(int, siginfo_t *, void *), uint64_t signals,
                                uint64_t open, trampoline_sigaction *install);
/* The default actions are in force again: a sandbox would not let the handler die by the signal. */
void trampoline_restore_defaults(void);

/* Flags and mask that the program gave with the default action: without effect, but sigaction
 * returns them. */
struct trampoline_default {
    uint64_t flags, mask;
};
struct trampoline_default trampoline_get_default(int number);
/* Turns what sigaction returned into what the program installed. */
void trampoline_unwrap_default(struct sigaction *given, struct trampoline_default kept);

/* Runs a handler where the program expects it: on the interrupted stack, when the kernel has put
 * the frame on libleak's alternate stack. Nothing else may have been pushed there meanwhile. */
void trampoline_run_handler(void (*handler)(int, siginfo_t *, void *), int number, siginfo_t *info,
                            void *context);

#endif
