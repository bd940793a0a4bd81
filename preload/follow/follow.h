/* follow.h - when was this block lost? The option follow_blocks=T1#4213,T2#7@57.
 *
 * From the allocation of such a block on, each allocation and each free of any thread asks whether
 * the word that holds its address still does. If not, another one is searched: on the stack of the
 * thread, and by a leak check (snapshot_find_holder). When there is none, the block was lost since
 * the call before, and the recording file gets both calls, the last word, and, if slot_watch.h saw
 * it, the instruction (struct leak_followed).
 *
 * Words of variables and of reachable blocks are trusted before words on stacks, many of which are
 * dead: the last word of the first kind has a record of its own. Registers of the thread are not
 * looked at, so a block that only a register holds seems lost for a while; when it appears again,
 * the record is withdrawn.
 *
 * If a single block is followed, the recording file also gets its last use (block_uses.h).
 *
 * T1#4213@57: after the 57th such call the thread executes its code step by step.
 */
#ifndef PRELOAD_FOLLOW_FOLLOW_H
#define PRELOAD_FOLLOW_FOLLOW_H

#include "preload/base/reentry_guard.h"
#include "preload/roots/roots.h"

#include <signal.h>

/* Reads the option, before alloc_watch_start and track_select_path; logs one that it cannot read,
 * and then follows nothing. */
void follow_start(const char *option);
/* Prepares the traps, when the handlers of fatal signals are installed. install: libc's
 * sigaction. */
void follow_start_traps(int (*install)(int, const struct sigaction *, struct sigaction *));
bool follow_is_on(void);

/* The program has left main or called exit: a last look. The calling thread is outside the runtime.
 */
void follow_end(const struct frame *caller);

void follow_fork_child(void);

#endif
