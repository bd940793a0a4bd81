/* browse.h - `leakreport browse`: a finished run on the terminal, with lists to walk through. */
#ifndef SYMBOLIZE_BROWSE_BROWSE_H
#define SYMBOLIZE_BROWSE_BROWSE_H

#include "common/view/format_api.h"

/* Shows the report until the user leaves. The terminal is that of the standard streams or, where they
 * lead elsewhere, that of the session. False: there is none, and a line says so; nothing was shown. */
bool browse_run(const struct report *report, const struct view *view);

#endif
