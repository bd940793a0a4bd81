/* browse.h - implements `leakreport browse`, which shows a finished run on the terminal as
 * lists. */
#ifndef SYMBOLIZE_BROWSE_BROWSE_H
#define SYMBOLIZE_BROWSE_BROWSE_H

#include "common/view/format_api.h"

/* Shows the report until the user leaves. Uses the terminal of the standard streams, or, if they
 * are redirected, the controlling terminal. False: there is no terminal; a message says so, and
 * nothing was shown. */
bool browse_run(const struct report *report, const struct view *view);

#endif
