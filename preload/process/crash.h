/* crash.h - a signal that kills leaves its place in the account, and kills all the same.
 *
 * A handler of ours stands where the program has left the default action (signal_trampoline.h), on
 * an alternate stack (altstack.h). It waits for nobody: no lock, no memory but its own, nothing
 * read but through the kernel. When it is done the default action is put back, the very signal is
 * sent to the thread once more, and the handler returns: so the kernel sees the program die where
 * it stood, with that signal, its core and its wait status.
 *
 *     second fault, in the handler itself: that step of the record is left out
 *     second thread that crashes meanwhile: waits for the first one's end
 *
 * docs/CRASHES.md has what comes of it.
 */
#ifndef PRELOAD_PROCESS_CRASH_H
#define PRELOAD_PROCESS_CRASH_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

/* account: makes sure that there is one and that it is this process's. ended: the record is made,
 * and the process about to die; called on a stack of ours, when this thread holds no lock. */
void crash_start(struct guard *guard, bool (*account)(void), void (*ended)(void));
/* With crash=off: the default action of that signal has its stand-in all the same, which asks
 * handlers_keeps, and kills without a record. */
void crash_stand_in(int number);
/* The child's store has no record yet. */
void crash_fork_child(void);

#endif
