/* report.h - from the end of the program to the end of leakrun: the recording file gets the wait
 * status, --keep copies, leakreport runs, processes that still run are named, and the exit status
 * is decided. */
#ifndef LIVE_REPORT_H
#define LIVE_REPORT_H

#include <stdbool.h>

#include "live/args.h"
#include "live/child.h"
#include "live/session.h"

/* Whether leakreport accepts the options it is going to get; if not, it has printed a message.
 * Called before the program runs, which may take a day. */
bool report_check_options(const char *reporter, const struct args *args,
                          const struct string_list *environment);

/* What leakreport --blocks-to-follow prints of the recordings so far, without the newline; for the
 * caller to free. NULL: nothing, or it failed after a message. followed: directories of --followed.
 */
char *report_blocks_to_follow(const struct session *session, const struct child *child,
                              const struct args *args, const char *reporter,
                              const struct string_list *environment,
                              const struct string_list *followed);

/* Reports, and removes the session or leaves it for processes that still run. reporter: the path of
 * leakreport, or NULL. followed: as above. Returns the wait status to end with: the program's own,
 * or an exit with --error-exitcode or 124. */
int report_conclude(struct session *session, const struct child *child, int wait_status,
                    const struct args *args, const char *reporter,
                    const struct string_list *environment, const struct string_list *followed);

#endif
