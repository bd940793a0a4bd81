/* block_uses.h - finds the instruction that used a followed block last. A block is often lost long
 * after the function that should have freed it; the last function that read or wrote the block is
 * nearer to the mistake.
 *
 * Hardware watchpoints on the first three words of the block raise SIGTRAP in the thread that uses
 * these words. The call stack of the latest use is kept. After a very large number of uses the
 * block is no longer watched, because each SIGTRAP costs time.
 */
#ifndef PRELOAD_FOLLOW_BLOCK_USES_H
#define PRELOAD_FOLLOW_BLOCK_USES_H

#include "preload/base/base.h"
#include "leak_store.h"

#include <signal.h>
#include <ucontext.h>

/* Watches one block until block_uses_end, and writes its latest use into out->used. Without
 * hardware watchpoints it does nothing. */
void block_uses_begin(uintptr_t address, uint64_t size, struct leak_followed *out);
void block_uses_end(void);

/* Records a use of the watched block, if the SIGTRAP of the arguments comes from its watchpoints.
 * Called in the handler of SIGTRAP. False: the SIGTRAP has another reason. A use by the runtime
 * itself is not recorded. */
bool block_uses_trap(const siginfo_t *info, const ucontext_t *context);

void block_uses_begin_steps(void);
/* Records a use of the watched block by the single-stepped instruction that was just executed.
 * Needed because one SIGTRAP can stand for the step and for the watchpoint. True: the instruction
 * has used the block. */
bool block_uses_step(const ucontext_t *context);

#endif
