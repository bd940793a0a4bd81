/* alloc_watch.h - what has to happen at certain allocations of a thread: a check of the unwinder
 * (unwind_check.h), a breakpoint (break_at=), a line of the event log (eventlog.h).
 *
 * The allocations of a thread are numbered, and thread->watch_at is the number of the next one to
 * handle. A hook compares the number of its allocation with one word, thread->stop_at, the smaller
 * of watch_at and the number at which the clock is read next. So waiting for the millionth
 * allocation costs nothing at the earlier ones.
 *
 *     watch_at = 0                   nothing is due
 *     watch_at = 1 in a new thread   the first allocation computes what is due next
 *
 *     break_at=T1#4213,T2#7          writes the call stacks of these blocks to standard error
 *     break_at=T1#4213=stop,T2#7     … and performs the action stop for the first one (errors.h)
 *
 * A report names a block by such a serial. The action happens in the call that allocates the block,
 * outside of the runtime, and before the program has the address. In a process that is being traced
 * the action is always SIGTRAP: the debugger stops in malloc. */
#ifndef PRELOAD_MISUSE_ALLOC_WATCH_H
#define PRELOAD_MISUSE_ALLOC_WATCH_H

#include "preload/blocks/blocks.h"
#include "preload/heap/threads.h"

/* Functions of follow.h that are called at every allocation and free when follow_blocks= is set;
 * otherwise NULL. */
extern struct alloc_watch_calls {
    void (*allocated)(struct guard *guard, const struct frame *caller, const struct block *block);
    /* Called for each free. how: its form (free_form.h). */
    void (*freed)(struct guard *guard, const struct frame *caller, const struct block *block,
                  uint32_t how);
} alloc_watch_calls HIDDEN;

/* Computes which allocation of the calling thread is handled first, if any. Called after
 * break_at_start and the start of the event log. */
void alloc_watch_start(struct guard *guard);

/* Handles the allocation whose number is watch_at. The block is not in the table yet; its site is 0
 * if there was no memory for a site. */
COLD void alloc_watch_handle(struct guard *guard, struct thread *thread, const struct frame *caller,
                             const struct block *block);

/* Reads the option break_at. A list that cannot be parsed is reported in the log and ignored. */
void break_at_start(const char *option);
bool break_at_parse(const char *option, size_t length);
/* Returns the number of the thread's first allocation in the list of break_at that comes after
 * allocation number "after"; 0: there is none. */
uint32_t break_at_next(uint32_t thread, uint32_t after);
bool break_at_is_set(void);

#endif
