/* eventlog.h - a line for each block that comes and each that goes: log=1, 2 or 3.
 *
 *     0.001234 T1#4213 malloc 40 at 0x55d0c0a012a0 in /usr/bin/app+0x1139
 *     0.001240 T1 free 40 at 0x55d0c0a012a0, T1#4213, in /usr/bin/app+0x1150
 *     0.001301 T1 realloc takes 40 at 0x55d0c0a012a0, T1#4213, in …
 *     0.001303 T1#4214 realloc gives 80 at 0x55d0c0a016c0 in …
 *     0.001310 T1 free 0x55d0c0a01000 in …                            no block that we know
 *
 * or, with log_format=mtrace, what glibc's mtrace(1) reads. From level 2 on a stack follows where a
 * block comes, from 3 on also where one goes: a frame a line, as object+offset of the call.
 *
 * A block's line stands before the lines of whoever has its address next, whichever thread that is:
 * it is written after the real allocation, and before the real free. So realloc has two.
 */
#ifndef PRELOAD_MISUSE_EVENTLOG_H
#define PRELOAD_MISUSE_EVENTLOG_H

#include "preload/heap/blocks.h"
#include "preload/options/options.h"
#include "preload/heap/threads.h"

extern HIDDEN unsigned eventlog_level; /* 0 = off. Constant after start */

void eventlog_start(const struct options *options, const char *program);

/* thread: the calling one. */
void eventlog_came(struct guard *guard, const struct frame *caller, struct thread *thread,
                   const struct block *block);
/* how: free_form.h; realloc takes it, and gives another or leaves it. */
void eventlog_went(struct guard *guard, const struct frame *caller, const struct block *block,
                   uint32_t how);
void eventlog_left(struct guard *guard, const struct block *block);
/* No block that we know begins there. */
void eventlog_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                      uint32_t how);

/* The end of the process, or of the program in it: the file is as long as what is in it. */
void eventlog_end(bool wait);
void eventlog_pause(void);
void eventlog_fork_child(void);

#endif
