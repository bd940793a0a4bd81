/* conclude.h - everything between the program's end and ours: how it ended goes into its store,
 * --keep copies, leakreport speaks, survivors are named, and the exit status is decided. */
#ifndef LIVE_CONCLUDE_H
#define LIVE_CONCLUDE_H

#include "live/args.h"
#include "live/child.h"
#include "live/session.h"

/* reporter: where leakreport is, or NULL. Removes the session, or leaves it for survivors. Returns
 * the wait status to end with: the program's own, or an exit with --error-exitcode or 124. */
int conclude(struct session *session, const struct child *child, int wait_status,
             const struct args *args, const char *reporter, const struct string_list *environment);

#endif
