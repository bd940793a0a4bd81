/* eventlog.h - one line for each allocation and each free: log=1, 2 or 3.
 *
 *     0.001234 T1#4213 malloc 40 at 0x55d0c0a012a0 in /usr/bin/app+0x1139
 *     0.001240 T1 free 40 at 0x55d0c0a012a0, T1#4213, in /usr/bin/app+0x1150
 *     0.001301 T1 realloc takes 40 at 0x55d0c0a012a0, T1#4213, in …
 *     0.001303 T1#4214 realloc gives 80 at 0x55d0c0a016c0 in …
 *     0.001310 T1 free 0x55d0c0a01000 in …                            no block begins there
 *
 * or, with log_format=mtrace, the format of glibc's mtrace(1). From level 2 on the call stack
 * follows each allocation, from level 3 on also each free: one frame a line, as object+offset of
 * the call.
 *
 * The line of a block stands before the lines of the next block at the same address, whichever
 * thread gets it: an allocation is logged after the real function, a free before it. Therefore
 * realloc has two lines.
 */
#ifndef PRELOAD_MISUSE_EVENTLOG_H
#define PRELOAD_MISUSE_EVENTLOG_H

#include "preload/blocks/blocks.h"
#include "preload/options/options.h"
#include "preload/heap/threads.h"

void eventlog_start(const struct options *options, const char *program);
/* Says whether there is an event log; constant after the start. */
bool eventlog_is_on(void);

/* Logs an allocation. thread: the calling thread. */
void eventlog_alloc(struct guard *guard, const struct frame *caller, struct thread *thread,
                    const struct block *block);
/* Logs a free. how: its form (free_form.h). realloc calls this first, then eventlog_alloc or
 * eventlog_realloc_failed. */
void eventlog_free(struct guard *guard, const struct frame *caller, const struct block *block,
                   uint32_t how);
void eventlog_realloc_failed(struct guard *guard, const struct block *block);
/* Logs a free of an address at which no known block begins. */
void eventlog_free_unknown(struct guard *guard, const struct frame *caller, uintptr_t address,
                           uint32_t how);

/* Ends the log with the process: truncates the file to what was written. wait: waits for threads
 * that are writing. */
void eventlog_end(bool wait);
/* Truncates the file to what was written, before exec; if exec fails, logging continues. */
void eventlog_pause(void);
void eventlog_fork_child(void);

#endif
