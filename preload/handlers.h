/* handlers.h - the program's signal handlers, each behind a door.
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
 */
#ifndef PRELOAD_HANDLERS_H
#define PRELOAD_HANDLERS_H

#include "preload/base.h"

#include <signal.h>

/* How many handlers this thread has begun. */
extern __thread uint32_t handlers_entered __attribute__((tls_model("initial-exec")));

/* What to give the kernel for a handler: a door, or itself (SIG_DFL, SIG_IGN, faults). */
sighandler_t handlers_door(int number, sighandler_t handler);
/* What the program called it: the reverse. */
sighandler_t handlers_behind(sighandler_t door);

/* The same for a whole action. Behind a door every handler has SA_SIGINFO, which a door needs to
 * put it off; the kernel keeps a flag beside it that says when the program had not asked for it. */
void handlers_put_door(int number, struct sigaction *given);
void handlers_take_door(struct sigaction *given);
/* For actions that libc made, by signal() and its like. */
void handlers_complete(int number);

#endif
