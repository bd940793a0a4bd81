/* report.h - does what follows the end of the program: writes the wait status into the recording
 * file, copies files for --keep, runs leakreport, names the processes that still run, and decides
 * the exit status.
 */
#ifndef LIVE_REPORT_H
#define LIVE_REPORT_H

#include <stdbool.h>

#include "live/args.h"
#include "live/child.h"
#include "live/session.h"

/* Says whether leakreport accepts the options that it will get; if not, leakreport has printed a
 * message. Call it before the program is started, because the program may run for a day. */
bool report_check_options(const char *reporter, const struct args *args,
                          const struct string_list *environment);

/* Returns what leakreport --blocks-to-follow prints about the recordings so far, without the last
 * newline; the caller frees it. NULL: it prints nothing, or it failed after a message. followed:
 * directories for --followed. */
char *report_blocks_to_follow(const struct session *session, const struct child *child,
                              const struct args *args, const char *reporter,
                              const struct string_list *environment,
                              const struct string_list *followed);

/* Makes the report. Then removes the session, or leaves it for processes that still run. reporter:
 * the path of leakreport, or NULL. followed: directories for --followed. Returns the wait status
 * with which leakwatch ends: that of the program, or one made by --error-exitcode, or exit status
 * 124. */
int report_conclude(struct session *session, const struct child *child, int wait_status,
                    const struct args *args, const char *reporter,
                    const struct string_list *environment, const struct string_list *followed);

#endif
