/* alloc_watch.h - what has to happen at certain allocations of a thread: a check of the unwinder
 * (unwind_check.h), a breakpoint (break_at=), a line of the event log (eventlog.h).
 *
 * The allocations of a thread are numbered, and thread->watch_at is the number of the next one to
 * handle. A hook compares one word with the number (track_hot.h), which covers the clock as well:
 * waiting for the millionth allocation costs nothing at the ones before it.
 *
 *     watch_at = 0                nothing is due
 *     watch_at = 1, at its start  the first allocation computes what is due next
 *
 *     break_at=T1#4213,T2#7          writes the call stacks of these blocks to standard error
 *     break_at=T1#4213=stop,T2#7     … or does stop, trap or abort as on_error (errors.h)
 *
 * A report names a block by such a serial. The action happens in the call that allocates the block,
 * outside of the runtime, and before the program has the address. In a process that is being traced
 * the action is always SIGTRAP: the debugger stops in malloc.
 */
#ifndef PRELOAD_MISUSE_ALLOC_WATCH_H
#define PRELOAD_MISUSE_ALLOC_WATCH_H

#include "preload/blocks/blocks.h"
#include "preload/heap/threads.h"

/* Called at every allocation and free when follow_blocks= is set (follow.h); NULL: it is not. */
extern struct alloc_watch_calls {
    void (*allocated)(struct guard *guard, const struct frame *caller, const struct block *block);
    /* how: free_form.h */
    void (*freed)(struct guard *guard, const struct frame *caller, const struct block *block,
                  uint32_t how);
} alloc_watch_calls HIDDEN;

/* Says whether anything is due at all. Call it after break_at_start and the start of the event
 * log. */
void alloc_watch_start(struct guard *guard);

/* Handles allocation number watch_at. The block is not in the table yet; its site may be 0. */
COLD void alloc_watch_handle(struct guard *guard, struct thread *thread, const struct frame *caller,
                             const struct block *block);

/* Reads the option break_at; logs a list that it cannot read, and then the list is empty. */
void break_at_start(const char *option);
bool break_at_parse(const char *option, size_t length);
/* The number of the thread's next listed allocation above after; 0: none. */
uint32_t break_at_next(uint32_t thread, uint32_t after);
bool break_at_is_set(void);

#endif
