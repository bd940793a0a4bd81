/* log.h - one line to the program's standard error, only on request or when something is broken.
 *
 * A line is written by one write. The program may close descriptor 2 or use it for a file of its
 * own, so the file is remembered at the start and written only while descriptor 2 is still the same
 * file. A line that would grow a file beyond RLIMIT_FSIZE is dropped, because the kernel would send
 * SIGXFSZ. A pipe without a reader raises no SIGPIPE.
 */
#ifndef PRELOAD_BASE_LOG_H
#define PRELOAD_BASE_LOG_H

#include "preload/base/base.h"

/* Remembers what descriptors 1 and 2 are. Call once, early; earlier lines are dropped. */
void log_start(void);
/* "libleak: " + the parts, which end with NULL, + newline. */
void log_line(const char *part, ...) __attribute__((sentinel));
/* leakctl attach: the program says nothing that it would not say alone. */
void log_mute(bool mute);
/* Reports an option whose value cannot be used, and what it takes. */
void log_bad_value(const char *option, const char *value, const char *takes);
/* What becomes of a line that the report hook has seen. */
enum { LOG_WRITE = 0, LOG_SWALLOW = 1, LOG_TRAP = 2 };
/* The hook gets each line, without its newline, before it is written. It is called wherever a line
 * is written, also inside the runtime: it may allocate, but call no other function of libleak.
 * NULL: no hook. */
void log_set_hook(int (*hook)(const char *line, void *context), void *context);
bool log_has_hook(void);
/* Passes the hook a line that the caller writes itself; the result says what becomes of the line.
 */
int log_call_hook(const char *line);
/* Is descriptor 2 still what it was at the start? Then leakreport may write its report there. */
bool log_stderr_usable(void);
/* The same for descriptor 1, which only takes reports that are sent there explicitly. */
bool log_stdout_usable(void);

#endif
