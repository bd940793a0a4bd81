/* reports.h - leakreport, run by the process itself: at its end, periodically (report_every=), and
 * when the program requests it.
 *
 * leakreport is a child that the program cannot notice (no SIGCHLD, not seen by wait). It writes to
 * the program's standard error or where report_file and report_to say. The end of the process waits
 * for it; a periodic report starts only when the one before has ended, and does not stop the
 * program.
 */
#ifndef PRELOAD_PROCESS_REPORTS_H
#define PRELOAD_PROCESS_REPORTS_H

#include "preload/base/base.h"

/* Reads the options at the start, and when report_file or report_to has changed: a relative file is
 * relative to the working directory of this moment. */
void reports_start(void);

struct reports_request {
    const char *file; /* to append to; NULL: where the options say */
    uint32_t thread;  /* only what that thread allocated; 0: all */
    bool heap; /* the sites that hold most now instead of leaks; such reports follow each other in
                  one file */
};
/* Waits until the report is written. False: it is not. Outside of the runtime. */
bool reports_write(const struct reports_request *request);

/* Starts a report of the sites that hold most now. In a signal handler, outside of the runtime. */
void reports_write_periodic(void);

/* Writes what the options request for the end. False: they request nothing. */
bool reports_write_at_exit(void);

/* A report that is being written is the parent's. */
void reports_fork_child(void);

#endif
