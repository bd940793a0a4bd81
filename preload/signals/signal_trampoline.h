/* signal_trampoline.h - the program's signal handlers, each behind a door.
 *
 * The kernel is given a door of ours instead of the handler. A door leads straight on (a jump: the
 * handler finds the stack as if we were not there) unless the thread holds a lock of the runtime.
 * Then the signal is sent to the thread once more, with all it carried, and every signal stays
 * blocked until the last lock is given back: what blocking signals around each lock would do, paid
 * only when a signal really comes. Signals of faults are the thread's own doing and never put off.
 *
 * Doors are given out for ever and never change, so that a vfork child, which shares our memory but
 * not the kernel's table, cannot spoil what its parent needs. A program with more than DOORS
 * different handlers has the rest called directly.
 *
 * A signal that would kill may have a handler of ours in the place of the default action (crash.h).
 * The kernel's table is the only one: what the program sees there is the default. For faults the
 * program's handlers are given to the kernel as they are, unless a door has something to do: a
 * handler for one call leaves the default action behind, which is then ours again; and one that
 * asks for an alternate signal stack in a thread that has none must not run on ours (altstack.h).
 */
#ifndef PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H
#define PRELOAD_SIGNALS_SIGNAL_TRAMPOLINE_H

#include "preload/base/base.h"

#include <signal.h>
#include <ucontext.h>

/* How many handlers this thread has begun. */
extern __thread uint32_t handlers_entered __attribute__((tls_model("initial-exec")));

/* Is a handler of those who have found our alternate stack by themselves, and want to be called on
 * it? Asked once for each handler. NULL: there are none. */
extern bool (*handlers_want_our_stack)(uintptr_t handler) HIDDEN;

/* What to give the kernel for a handler: a door, or itself (SIG_DFL, SIG_IGN, faults). */
sighandler_t handlers_door(int number, sighandler_t handler);
/* What the program called it: the reverse. */
sighandler_t handlers_behind(sighandler_t door);

/* The same for a whole action. Behind a door every handler has SA_SIGINFO, which a door needs to
 * put it off; the kernel keeps a flag beside it that says when the program had not asked for it. */
void handlers_put_door(int number, struct sigaction *given);
void handlers_take_door(struct sigaction *given);
/* What was installed before us gets its doors. install: libc's sigaction. */
void handlers_adopt(int (*install)(int, const struct sigaction *, struct sigaction *));
/* For actions that libc made, by signal() and its like. */
void handlers_complete(int number);

/* ---- Faults of our own making --------------------------------------------------------------- */

/* From now on whoever gets that signal is asked first: true, and it is over. It can neither be
 * ignored nor blocked (hook_mask.c), and the program sees nothing of that. install: libc's
 * sigaction; the default action has its stand-in by now, which asks handlers_keeps. */
void handlers_keep_fault(int number, bool (*is_ours)(const ucontext_t *context),
                         int (*install)(int, const struct sigaction *, struct sigaction *));
/* The number, 0: there is none. */
int handlers_kept_fault(void);
bool handlers_keeps(int number, const void *context);

/* ---- In the place of the default action ----------------------------------------------------- */

/* From now on, for each of these signals (bit number - 1) whose action is the default one. install:
 * libc's sigaction. */
void handlers_stand_in(void (*handler)(int, siginfo_t *, void *), uint64_t signals,
                       int (*install)(int, const struct sigaction *, struct sigaction *));
/* Called before each handler of the program's that such a signal has. */
extern void (*handlers_passing)(int number, siginfo_t *info, void *context) HIDDEN;

/* Flags and mask that the program gave with the default action: nobody uses them, but they can be
 * read. */
struct handlers_default {
    uint64_t flags, mask;
};
struct handlers_default handlers_default_of(int number);
/* What sigaction answers, when the default action had these. */
void handlers_take_default(struct sigaction *given, struct handlers_default kept);

/* Our own alternate signal stack of this thread; size 0: it has none. */
struct handlers_stack {
    uintptr_t low, size;
};
extern __thread struct handlers_stack handlers_stack __attribute__((tls_model("initial-exec")));
/* The handler goes on where the program expects it: on the stack that was interrupted, when the
 * kernel has put it on ours. Nothing else may have been put on the stack meanwhile. */
void handlers_begin(void (*handler)(int, siginfo_t *, void *), int number, siginfo_t *info,
                    void *context);

#endif
