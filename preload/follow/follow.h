/* follow.h - finds out when a block was lost. The user names the block by thread and number of its
 * allocation: follow_blocks=T1#4213,T2#7@57.
 *
 * From the allocation of such a block on, each allocation and each free of any thread checks
 * whether the word that points to the block still does. If not, libleak searches another word that
 * points to the block: on the stack of the calling thread, and by a leak check. If there is none,
 * the block was lost since the previous call. The recording file gets the previous call and this
 * one, the last word that pointed to the block, and, if slot_watch.h saw it, the instruction that
 * overwrote that word (struct leak_followed).
 *
 * Words of variables and of reachable blocks are trusted more than words on stacks, many of which
 * are left over from functions that have returned. So the last word that was not on a stack has a
 * record of its own. Registers of the calling thread are not searched, so a block that only a
 * register points to seems lost for a while; when a word points to it again, the record is
 * withdrawn.
 *
 * If only one block is followed, the recording file also gets the last use of the block
 * (block_uses.h).
 *
 * T1#4213@57: after the 57th call since the allocation, the thread executes its code step by
 * step.
 *
 * T1.3/T1#42: a block of the child that the first thread forked third (fork_chain.h). A fork child
 * follows the blocks that are named for it, and none of its parent's.
 */
#ifndef PRELOAD_FOLLOW_FOLLOW_H
#define PRELOAD_FOLLOW_FOLLOW_H

#include "preload/base/reentry_guard.h"
#include "preload/roots/roots.h"

#include <signal.h>

/* Reads the option follow_blocks=. Call it before alloc_watch_start and track_select_path. If the
 * option cannot be parsed, an error is logged and no block is followed. */
void follow_start(const char *option);
/* Installs the handler of SIGTRAP. Called when the handlers of fatal signals are installed.
 * install: libc's sigaction. */
void follow_start_traps(int (*install)(int, const struct sigaction *, struct sigaction *));
bool follow_is_on(void);

/* Checks for the last time whether the followed blocks are lost, when the program has left main or
 * called exit. The calling thread is outside the runtime. */
void follow_end(const struct frame *caller);

void follow_fork_child(void);

#endif
