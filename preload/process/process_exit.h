/* process_exit.h - the last moment of a process: write down how it ended, and report if asked.
 *
 * Registered first, so it runs last: after every atexit handler and destructor of the program.
 * The report is made by leakreport, in a child that the program cannot notice (no SIGCHLD, not seen
 * by wait), on the program's standard error.
 */
#ifndef PRELOAD_PROCESS_PROCESS_EXIT_H
#define PRELOAD_PROCESS_PROCESS_EXIT_H

#include "preload/base/base.h"
#include "preload/roots/roots.h"
#include "leak_store.h"

void finish_register(void);
/* quick_exit does not tell its handlers the status. */
void finish_expect(int status);
/* What a user is told at the end, once it is written down: a report, or where to find it. */
void finish_tell(void);
/* Only for the process whose store it is. */
void finish_now(int status, const struct roots_taker *taker, enum leak_occasion occasion);

#endif
