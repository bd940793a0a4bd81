/* report_hook.h - a report before the eyes of its program, line by line (libleak_set_report_hook).
 *
 * Reports are another process' work. Where the program wants to see the lines, that process writes
 * them to a file in memory; the hook is shown each, and what it lets through stands in a second
 * file, which is sent to where the report was to go.
 */
#ifndef PRELOAD_PROCESS_REPORT_HOOK_H
#define PRELOAD_PROCESS_REPORT_HOOK_H

#include "preload/base/base.h"

struct shown {
    int made, left; /* descriptors of the two, closed on exec */
};

/* False: there are no files in memory, and nothing is to be ended. */
bool shown_begin(struct shown *shown);
/* Shows what was made. Outside of the runtime. False: nothing of it is left. */
bool shown_lines(const struct shown *shown);
void shown_end(const struct shown *shown);

#endif
