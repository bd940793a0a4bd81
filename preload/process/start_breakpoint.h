/* start_breakpoint.h - start_at=: tracking starts when a function is called, whichever object defines it
 * and whether it allocates or not.
 *
 * An undefined instruction replaces the first one of the function. The first thread that executes
 * it gets a SIGILL at that very pc; the handler restores the instruction, calls back, and returns:
 * the call continues unchanged. So it happens once; other threads that were interrupted meanwhile
 * return to the same pc, where the instruction is right again.
 *
 * int3 is not used: after it the pc is behind the instruction, so that a debugger, which suppresses
 * SIGTRAP, would continue the program in the middle of an instruction. Debuggers pass SIGILL on.
 *
 * The modified pages are private: a fork child has breakpoints of its own. A page is writable while
 * an instruction is written and has its protection back afterwards. Libraries that are loaded later
 * are searched while the loader works, before any of their code can run.
 */
#ifndef PRELOAD_PROCESS_START_BREAKPOINT_H
#define PRELOAD_PROCESS_START_BREAKPOINT_H

#include "preload/base/base.h"

#include <signal.h>

/* Inserts a breakpoint at a function. name: in the form of symtab.h. reached: called once, in a
 * signal handler. install: libc's sigaction. The signal trampolines must be installed. */
void breakpoint_start(const char *name, void (*reached)(void),
                      int (*install)(int, const struct sigaction *, struct sigaction *));

/* Removes the breakpoints if another thread was just removing them at the fork. */
void breakpoint_fork_child(void);

#endif
