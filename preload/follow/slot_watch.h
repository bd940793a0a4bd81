/* slot_watch.h - which instruction overwrites the last pointer to a block? A hardware watchpoint on
 * one word answers, where the kernel and the sandbox allow it. Else, and for pointers on the stack
 * and in registers, the code is executed step by step, where the CPU can do that without a debugger
 * (some microseconds an instruction, so only for a short while).
 *
 * Up to LEAK_FOLLOWED_MOST blocks are watched. The handler of SIGTRAP runs in the thread that wrote;
 * when the address is gone it keeps the call stack of the instruction, and when the address comes
 * back it forgets it.
 *
 * A step asks whether the address is still where it was last; else it is searched in the registers,
 * on the stack of the thread, and in the writable memory of the process. Of a word in memory that
 * lost the address the first such step counts, even if a register or a stack keeps a copy for a
 * while, unless the block is used later (block_uses.h); without such a word the copy counts.
 *
 * A word that the kernel writes (read(2) into a buffer) raises no SIGTRAP.
 */
#ifndef PRELOAD_FOLLOW_SLOT_WATCH_H
#define PRELOAD_FOLLOW_SLOT_WATCH_H

#include "preload/follow/pointer_search.h"
#include "leak_store.h"

#include <signal.h>

/* Reserves SIGTRAP (trampoline_reserve_fault). install: libc's sigaction. */
void slot_watch_start(int (*install)(int, const struct sigaction *, struct sigaction *));

/* Says whether the program has left SIGTRAP to libleak. */
bool slot_watch_is_possible(void);

/* Watches the aligned word, in place of what had this index. */
void slot_watch_set(unsigned index, uintptr_t slot, struct pointer_target target);
void slot_watch_clear(unsigned index);

/* Copies the call stack of the instruction that overwrote the pointer; false: it is not known. */
bool slot_watch_get(unsigned index, struct leak_drop *out);

/* The calling thread executes what follows step by step, until the pointer to this block is lost or
 * slot_watch_stop is called, and for some seconds at most. slot: where the pointer is now, 0: in a
 * register. */
void slot_watch_step(unsigned index, uintptr_t slot, struct pointer_target target);
void slot_watch_stop(void);
/* Goes on after slot_watch_stop, if the pointer was not lost; and is that so? */
void slot_watch_resume(unsigned index);
bool slot_watch_is_stepped(unsigned index);
/* Says whether steps have shown that no register, no live stack and no memory has the pointer. */
bool slot_watch_is_lost(unsigned index);

/* Ends all watches in a fork child. */
void slot_watch_fork_child(void);

#endif
