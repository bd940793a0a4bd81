/* reports.h - runs leakreport in a child of the process: at its end, periodically (report_every=),
 * and when the program requests it.
 *
 * leakreport is a child that the program cannot notice (no SIGCHLD, not seen by wait). It writes to
 * the program's standard error or where report_file and report_to say. A process that ends waits
 * for leakreport. A periodic report starts only when the one before it has ended, and the program
 * continues meanwhile. */
#ifndef PRELOAD_PROCESS_REPORTS_H
#define PRELOAD_PROCESS_REPORTS_H

#include "preload/base/base.h"

/* Reads the options report_file and report_to, at the start and when one of them has changed. A
 * relative file is relative to the working directory at that time. */
void reports_start(void);

struct reports_request {
    const char *file; /* file to which the report is appended; NULL: the targets of the options */
    uint32_t thread;  /* number of the only thread whose allocations are reported; 0: all threads */
    /* Report the sites that hold most memory now, instead of leaks; such reports are appended to
     * one file. */
    bool heap;
};
/* Runs leakreport and waits for it; must be called outside of the runtime. False: the report was
 * not written. */
bool reports_write(const struct reports_request *request);

/* Starts a report of the sites that hold most memory now; may be called in a signal handler,
 * outside of the runtime. */
void reports_write_periodic(void);

/* Writes the reports that the options request for the end of the process. False: they request
 * none. */
bool reports_write_at_exit(void);

/* Resets the state in a fork child: a report that is being written belongs to the parent. */
void reports_fork_child(void);

#endif
