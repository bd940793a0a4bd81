/* block_uses.h - which instruction used a block last? A block is often lost long after the function
 * that should have freed it: the last one that read or wrote it is nearer.
 *
 * Hardware watchpoints on its first words raise SIGTRAP in the thread that uses them, and the call
 * stack of the latest use is kept. A block that is used all the time is given up.
 */
#ifndef PRELOAD_FOLLOW_BLOCK_USES_H
#define PRELOAD_FOLLOW_BLOCK_USES_H

#include "preload/base/base.h"
#include "leak_store.h"

#include <signal.h>
#include <ucontext.h>

/* Watches one block, until block_uses_end; out->used is written. Without hardware watchpoints
 * nothing happens. */
void block_uses_begin(uintptr_t address, uint64_t size, struct leak_followed *out);
void block_uses_end(void);

/* Records a use of the block, in the handler of SIGTRAP and outside of the runtime. False: the trap
 * is another one. */
bool block_uses_trap(const siginfo_t *info, const ucontext_t *context);

void block_uses_begin_steps(void);
/* Checks after each instruction of a thread that executes step by step, where one SIGTRAP can have
 * both reasons. True: the instruction has used the block, and the use is recorded. */
bool block_uses_step(const ucontext_t *context);

#endif
