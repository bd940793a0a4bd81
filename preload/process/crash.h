/* crash.h - records a fatal signal, and then makes the process die by it as it would without
 * libleak.
 *
 * A handler of libleak is installed where the program has left the default action
 * (signal_trampoline.h), on an alternate stack (altstack.h). It never waits for a lock, uses no
 * memory but its own, and reads the program's memory only through the kernel. At its end it
 * restores the default action, sends the same signal to the thread again, and returns: so the
 * program dies at the interrupted instruction, by that signal, with its core dump and its wait
 * status.
 *
 *     second fault, in the handler itself: that step of the record is left out
 *     second thread that crashes meanwhile: waits until the first one ends the process
 *
 * docs/CRASHES.md describes the result. */
#ifndef PRELOAD_PROCESS_CRASH_H
#define PRELOAD_PROCESS_CRASH_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"
#include "leak_store.h"

#include <signal.h>
#include <ucontext.h>

/* Installs the handlers for fatal signals. ensure_recording: gives the process a recording of its
 * own if it has none; returns false if that is not possible. recorded: called on libleak's stack
 * when the record is complete and the process is about to die, if the thread holds no lock. */
void crash_start(struct guard *guard, bool (*ensure_recording)(void), void (*recorded)(void));
/* Installs a handler for one signal that ends the process without a record. With crash=off,
 * trampoline_owns_fault needs such a handler. */
void crash_install_handler(int number);
/* Resets the state in a fork child, whose recording has no crash record yet. */
void crash_fork_child(void);

/* Makes the process die by that signal when the calling signal handler returns. */
void crash_die(int number, const siginfo_t *info, ucontext_t *context);
/* Says whether this is the first process of a container or of the machine, for which the kernel
 * performs no default action of signals that are sent. */
bool crash_is_init(void);

/* ---- fatal_signal.c: signals that kill, but are no crash ----------------------------------------
 *
 * Servers often end by Ctrl-C or SIGTERM. With fatal_look=on libleak handles signals whose default
 * action is to end the process, unless the program has changed that. The handler runs the leak
 * check at exit, and makes the process die by the signal as it would without libleak: with the same
 * status and siginfo, at the same instruction. All other threads stay stopped meanwhile. A second
 * signal, at least a tenth of a second later, ends the process without waiting.
 *
 * If the signal interrupts the runtime, the thread continues, and a timer tries the check again a
 * moment later (deferred_work.c). A fork or vfork child without a recording of its own dies without
 * a check. */
void fatal_signal_start(void);
/* Tries the leak check of a fatal signal again. False: it is not possible in this thread now, so a
 * later call is needed. May be called even if no signal has arrived. */
bool fatal_signal_retry(ucontext_t *context);

/* ---- crash_record.c: the record, step by step ---------------------------------------------------
 *
 * If a step faults, the steps before it are already published. No step waits or allocates from the
 * arena, and steps read the program's memory only through the kernel. */
struct crash_report {
    const siginfo_t *info;
    const ucontext_t *context;
    enum leak_crash_state state;
    bool has_look; /* a leak check was running */
    /* The record in the file, made by step 0; NULL: the other steps are left out. */
    struct leak_crash *crash;
    uint64_t *place; /* offset of the record in the file; a later record overwrites it */
};

#define CRASH_STEPS 5
void crash_record_step(struct crash_report *report, unsigned step);

#endif
