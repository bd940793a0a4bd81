/* crash.h - records a fatal signal, and lets the process die of it as it would without libleak.
 *
 * A handler of libleak is installed where the program has left the default action
 * (signal_trampoline.h), on an alternate stack (altstack.h). It never waits for a lock, uses no
 * memory but its own, and reads the program's memory only through the kernel. At its end it
 * restores the default action, sends the same signal to the thread again, and returns: so the
 * kernel sees the program die where it stood, with that signal, its core and its wait status.
 *
 *     second fault, in the handler itself: that step of the record is left out
 *     second thread that crashes meanwhile: waits for the end that the first one brings
 *
 * docs/CRASHES.md describes the result.
 */
#ifndef PRELOAD_PROCESS_CRASH_H
#define PRELOAD_PROCESS_CRASH_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#include <signal.h>
#include <ucontext.h>

/* ensure_recording: makes sure that this process has a recording of its own. recorded: called on
 * libleak's stack when the record is complete and the process is about to die, if the thread holds
 * no lock. */
void crash_start(struct guard *guard, bool (*ensure_recording)(void), void (*recorded)(void));
/* With crash=off, for trampoline_owns_fault: installs the handler for that signal, which kills without a
 * record. */
void crash_install_handler(int number);
/* The recording of a fork child has no crash record yet. */
void crash_fork_child(void);

/* ---- crash_record.c: the record, step by step ---------------------------------------------------
 *
 * A step may fault without harm to the steps before, which are published already. No step waits,
 * allocates from the arena, or reads the program's memory except through the kernel.
 */
struct crash_report {
    const siginfo_t *info;
    const ucontext_t *context;
    enum leak_crash_state state;
    bool has_look;            /* a leak check is running */
    struct leak_crash *crash; /* in the file; created by step 0; NULL: there are no other steps */
    uint64_t *place;          /* where it is in the file: the next record goes there, too */
};

#define CRASH_STEPS 5
void crash_record_step(struct crash_report *report, unsigned step);

#endif
