/* reports.h - leakreport, run by the process itself: at its end, every so often, and when the
 * program asks.
 *
 * In a child that the program cannot notice (no SIGCHLD, not seen by wait), on the program's
 * standard error or in the file of the option report_file. The end waits for it; of those in
 * between one is begun when the one before is done, and nobody waits.
 */
#ifndef PRELOAD_PROCESS_REPORTS_H
#define PRELOAD_PROCESS_REPORTS_H

#include "preload/base/base.h"

/* At the start: where a relative report_file is. */
void reports_start(void);

struct reports_wish {
    const char *file; /* to be added to; NULL: where the option says, or standard error */
    uint32_t thread;  /* only what that one allocated; 0: all */
    bool heap; /* the sites that hold most now, not what is lost; such reports follow each other
                  in one file */
};
/* Waits until it is written. False: it is not. Outside of the runtime. */
bool reports_now(const struct reports_wish *wish);

/* The sites that hold most now. In a handler, outside of the runtime. */
void reports_take_turn(void);

/* What is wanted at the end, if anything. False: nothing is. */
bool reports_at_end(void);

/* The one under way is the parent's. */
void reports_fork_child(void);

#endif
