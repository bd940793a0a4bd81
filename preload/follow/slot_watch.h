/* slot_watch.h - finds the instruction that overwrites the last pointer to a block. A hardware
 * watchpoint on the word with the pointer finds it, where the kernel and the sandbox allow one.
 * Otherwise, and for pointers on the stack and in registers, the thread executes its code step by
 * step, on CPUs that can do that without a debugger (x86). A step takes some microseconds, so this
 * lasts only for a short while.
 *
 * Up to LEAK_FOLLOWED_MOST blocks are watched. The handler of SIGTRAP runs in the thread that wrote
 * the word. If the pointer is gone, the handler keeps the call stack of the instruction; if the
 * pointer comes back, the handler drops that call stack.
 *
 * After each step the handler checks whether the pointer is where it was. If not, it searches the
 * pointer in the registers, on the stack of the thread, and in the writable memory of the process.
 * If a variable or block had the pointer, the step at which it loses it counts as the loss, even if
 * a register or a stack keeps a copy for a while, unless the program uses the block later
 * (block_uses.h). If only registers or stacks had the pointer, the step at which the last of them
 * loses it counts.
 *
 * A write by the kernel (read(2) into a buffer) raises no SIGTRAP and is not seen.
 */
#ifndef PRELOAD_FOLLOW_SLOT_WATCH_H
#define PRELOAD_FOLLOW_SLOT_WATCH_H

#include "preload/follow/pointer_search.h"
#include "leak_store.h"

#include <signal.h>

/* Makes libleak's handler see each SIGTRAP before the handler of the program. install: libc's
 * sigaction. */
void slot_watch_start(int (*install)(int, const struct sigaction *, struct sigaction *));

/* Says whether slot_watch_start has reserved SIGTRAP, so that words can be watched. */
bool slot_watch_is_possible(void);

/* Watches the aligned word at address "slot" for followed block number "index" (from 0), instead of
 * the word watched for this block before. */
void slot_watch_set(unsigned index, uintptr_t slot, struct pointer_target target);
void slot_watch_clear(unsigned index);

/* Continues single-stepping for a block whose pointer is in another word now. */
void slot_watch_aim(unsigned index, uintptr_t slot);

/* Copies the call stack of the instruction that overwrote the pointer to *out. False: the
 * instruction is not known. */
bool slot_watch_get(unsigned index, struct leak_drop *out);

/* Makes the calling thread execute its code step by step until the pointer to the block is lost or
 * slot_watch_stop is called, and for some seconds at most. slot: address of the word with the
 * pointer, 0: a register has it. */
void slot_watch_step(unsigned index, uintptr_t slot, struct pointer_target target);
void slot_watch_stop(void);
/* Continues single-stepping after slot_watch_stop, if the pointer was not lost. caller: the code of
 * the program that continues. */
void slot_watch_resume(unsigned index, const struct frame *caller);
bool slot_watch_is_stepped(unsigned index);
/* Says whether single steps have shown that no register, no live stack and no memory has the
 * pointer. */
bool slot_watch_is_lost(unsigned index);

void slot_watch_fork_child(void);

#endif
