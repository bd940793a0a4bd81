/* altstack.h - an alternate signal stack for each thread, so that a stack overflow can be reported.
 *
 * The program does not see it: when it asks for its alternate stack the answer is "none"; when it
 * installs one of its own, that one is used, and libleak's comes back when the program removes it.
 * The program's handlers never run on libleak's stack (signal_trampoline.h): how much they need is
 * not known, and they may never return.
 *
 * The stack holds the kernel's signal frame (with every register of the CPU, AT_MINSIGSTKSZ) and
 * 32 KiB, which is what language runtimes that find an installed stack expect of it. Stacks are cut
 * from slabs, reused by later threads, and not touched until a fatal signal arrives.
 */
#ifndef PRELOAD_SIGNALS_ALTSTACK_H
#define PRELOAD_SIGNALS_ALTSTACK_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

#include <signal.h>

/* Gives alternate stacks to all threads from here on; the calling thread gets one now. */
void altstack_start(struct guard *guard);
bool altstack_is_enabled(void);
/* Installs an alternate stack in a new thread, which has none from the kernel. */
void altstack_begin_thread(struct guard *guard);
/* Calls sigaltstack on behalf of the program. */
int altstack_set(const stack_t *stack, stack_t *old);

/* Frees the lock in a fork child. */
void altstack_fork_child(void);

#endif
