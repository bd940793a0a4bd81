/* altstack.h - an alternate signal stack for each thread, so that a full stack can still be told
 * of.
 *
 * The program sees none of it: where it asks for its alternate stack it is told that there is none;
 * where it gives one of its own, that one counts, and when it takes it away ours comes back. Its
 * handlers never stand on ours (signal_trampoline.h): what they need is not known, and they may
 * stay.
 *
 * Ours holds the kernel's frame (with every register the CPU has, AT_MINSIGSTKSZ) and 32 KiB, which
 * is what language runtimes that find a stack installed expect of it. Stacks are cut from slabs,
 * kept for the next thread, and not touched until a signal comes that kills.
 */
#ifndef PRELOAD_SIGNALS_ALTSTACK_H
#define PRELOAD_SIGNALS_ALTSTACK_H

#include "preload/base/base.h"
#include "preload/base/reentry_guard.h"

#include <signal.h>

/* From here on threads have them; the calling one first. */
void altstack_start(struct guard *guard);
bool altstack_wanted(void);
/* A thread at its beginning: the kernel has given it no alternate stack. */
void altstack_begin(struct guard *guard);
/* sigaltstack, for the program. */
int altstack_change(const stack_t *stack, stack_t *old);

void altstack_fork_lock(void);
void altstack_fork_unlock(void);
/* The lock is free again in a child. */
void altstack_fork_child(void);

#endif
