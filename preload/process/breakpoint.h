/* breakpoint.h - start_at=: a function that is waited for, whoever has it and whether it allocates
 * or not.
 *
 * Where the function begins stands an instruction that no CPU knows. The thread that comes by first
 * gets a SIGILL, at that very pc; its handler here puts back what had been there, says so, and
 * returns: the call goes on as if nothing had been. So it happens once; threads that ran into it
 * meanwhile come back to the same place, where the instruction is right again.
 *
 * Why no int3: after it the pc is behind the place, so that whoever keeps the signal back (a
 * debugger does, for SIGTRAP) has the program go on in the middle of an instruction. SIGILL
 * debuggers pass on.
 *
 * Pages are the process's own: a fork child waits for itself. They are writable while a byte is
 * written and have their protection back afterwards. Libraries that come later are looked through
 * while the loader is at work, before anything of theirs can run.
 */
#ifndef PRELOAD_PROCESS_BREAKPOINT_H
#define PRELOAD_PROCESS_BREAKPOINT_H

#include "preload/base/base.h"

#include <signal.h>

/* name: as cxx_match.h reads it. met: called once, in the handler of a signal. install: libc's
 * sigaction. Signals must have their stand-in by now. */
void awaited_start(const char *name, void (*met)(void),
                   int (*install)(int, const struct sigaction *, struct sigaction *));

/* Fork: another thread may have been half-way. */
void awaited_fork_child(void);

#endif
