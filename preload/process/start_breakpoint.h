/* start_breakpoint.h - the option start_at=: starts tracking when a function is called. Any object
 * may define the function, and it need not allocate.
 *
 * An undefined instruction replaces the first one of the function. The first thread that executes
 * it gets a SIGILL at that very pc; the handler restores the instruction, calls a function that
 * starts tracking, and returns: the call continues unchanged. That happens once; other threads that
 * get a SIGILL meanwhile return to the same pc, where the instruction is restored.
 *
 * int3 is not used: after it the pc is behind the instruction, so that a debugger, which suppresses
 * SIGTRAP, would continue the program in the middle of an instruction. Debuggers pass SIGILL on to
 * the program.
 *
 * The modified pages are private: a fork child has breakpoints of its own. A page is writable only
 * while an instruction is written. Libraries that are loaded later are searched while the loader
 * works, before any of their code can run. */
#ifndef PRELOAD_PROCESS_START_BREAKPOINT_H
#define PRELOAD_PROCESS_START_BREAKPOINT_H

#include "preload/base/base.h"

#include <signal.h>

/* Inserts a breakpoint at a function. name: in the form of symtab.h. reached: called once, in a
 * signal handler, when the function is called. install: libc's sigaction. The signal trampolines
 * must be installed before. */
void breakpoint_start(const char *name, void (*reached)(void),
                      int (*install)(int, const struct sigaction *, struct sigaction *));

/* Removes the breakpoints in a fork child, if another thread was removing them at the time of the
 * fork. */
void breakpoint_fork_child(void);

#endif
