/* altstack.h - an alternate signal stack for each thread, so that a stack overflow can be reported.
 *
 * The program does not see libleak's stack. sigaltstack tells the program that it has none. When
 * the program installs a stack, the kernel uses that one; when it removes the stack, libleak
 * installs its own again. The program's handlers never run on libleak's stack
 * (signal_trampoline.h): how much stack a handler needs is not known, and it may never return.
 *
 * The stack holds the kernel's signal frame (with every register of the CPU, AT_MINSIGSTKSZ) and 32
 * KiB, the size that language runtimes expect of an alternate stack that they find installed.
 * Stacks are cut from slabs, reused by later threads, and not touched until a fatal signal
 * arrives. */
#ifndef PRELOAD_SIGNALS_ALTSTACK_H
#define PRELOAD_SIGNALS_ALTSTACK_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

#include <signal.h>

/* Gives an alternate stack to the calling thread, and to each thread that starts from now on. */
void altstack_start(struct guard *guard);
bool altstack_is_enabled(void);
/* Installs an alternate stack in a new thread, which has none from the kernel. */
void altstack_begin_thread(struct guard *guard);
/* Calls sigaltstack on behalf of the program. */
int altstack_set(const stack_t *stack, stack_t *old);

void altstack_fork_child(void);

#endif
