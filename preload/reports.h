/* reports.h - leakreport, run by the process itself: at its end, and every so often.
 *
 * In a child that the program cannot notice (no SIGCHLD, not seen by wait), on the program's
 * standard error or in the file of the option report_file. The end waits for it; of those in
 * between one is begun when the one before is done, and nobody waits.
 */
#ifndef PRELOAD_REPORTS_H
#define PRELOAD_REPORTS_H

#include "preload/base.h"

/* At the start: where a relative report_file is. */
void reports_start(void);

/* The sites that hold most now. In a handler, outside of the runtime. */
void reports_take_turn(void);

/* What is wanted at the end, if anything. False: nothing is. */
bool reports_at_end(void);

/* The one under way is the parent's. */
void reports_fork_child(void);

#endif
