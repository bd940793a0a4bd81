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

/* Installs the handlers. ensure_recording: makes sure that this process has a recording of its own.
 * recorded: called on libleak's stack when the record is complete and the process is about to die,
 * if the thread holds no lock. */
void crash_start(struct guard *guard, bool (*ensure_recording)(void), void (*recorded)(void));
/* Installs the handler for one signal, which kills without a record. trampoline_owns_fault needs it
 * with crash=off. */
void crash_install_handler(int number);
/* The recording of a fork child has no crash record yet. */
void crash_fork_child(void);

/* Lets the process die of that signal when the handler returns. */
void crash_die(int number, const siginfo_t *info, ucontext_t *context);
/* The first process of a container or of the machine: the kernel performs no default action of a
 * signal that is sent to it. */
bool crash_is_init(void);

/* ---- fatal_signal.c: signals that kill, but are no crash -----------------------------------------
 *
 * Ctrl-C and SIGTERM are the usual end of a server. With fatal_look=on libleak has a handler where
 * the program has left the default action to kill. It takes the leak check of the end, and lets the
 * process die of the signal as it would without libleak: same status, same siginfo, where the
 * thread stood. All other threads stay stopped meanwhile. A second signal, a tenth of a second later
 * or more, does not wait.
 *
 * A thread inside of the runtime goes on, and the check is tried again a moment later by a timer
 * (deferred_work.c). A fork or vfork child without a recording of its own just dies.
 */
void fatal_signal_start(void);
/* Tries the leak check of a fatal signal again. False: not possible here, call it again soon. May
 * be called when no signal has arrived. */
bool fatal_signal_retry(ucontext_t *context);

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
