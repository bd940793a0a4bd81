/* break_at.h - break_at=T1#4213: something happens in the very call that allocates a block which a
 * report has named.
 *
 *     break_at=T1#4213,T2#7          the stack of each on standard error, and on
 *     break_at=T1#4213=stop,T2#7     … or stop, trap, abort as on_error has them (on_error.h)
 *
 * When the process is being traced it is SIGTRAP, whatever is asked for: a debugger stops in
 * malloc. All of it happens outside of the runtime, and before the block is the program's.
 */
#ifndef PRELOAD_MISUSE_BREAK_AT_H
#define PRELOAD_MISUSE_BREAK_AT_H

#include "preload/heap/blocks.h"
#include "preload/base/reentry_guard.h"

/* The option; one clear line about what is no such list, and then there are none. */
void breaks_start(const char *option);
bool breaks_read(const char *option, size_t length);
/* The next allocation of that thread that is one of them, after so many; 0: none. */
uint32_t breaks_next(uint32_t thread, uint32_t after);
/* Is there one at all? */
bool breaks_any(void);
/* It is this one, if it is one of them. */
COLD void breaks_meet(struct guard *guard, const struct frame *caller, const struct block *block);

#endif
