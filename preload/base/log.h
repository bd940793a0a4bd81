/* log.h - writes single lines to the program's standard error: answers to requests, and errors.
 *
 * Each line is one call of write(). The program may close descriptor 2 or open another file as it,
 * so log_start remembers which file descriptor 2 is, and lines are written only while descriptor 2
 * is still that file. A line that would grow a file beyond RLIMIT_FSIZE is dropped, because the
 * kernel would send SIGXFSZ. Writing to a pipe without a reader raises no SIGPIPE.
 */
#ifndef PRELOAD_BASE_LOG_H
#define PRELOAD_BASE_LOG_H

#include "preload/base/base.h"

/* Remembers which files descriptors 1 and 2 are. Call it once, early; lines written before this
 * call are dropped. */
void log_start(void);
/* Writes one line: "libleak: ", then the parts, whose list ends with NULL, then a newline. */
void log_line(const char *part, ...) __attribute__((sentinel));
/* Stops the writing of lines, or allows it again. After leakctl attach it is stopped, so that the
 * program writes nothing that it would not write without libleak. */
void log_mute(bool mute);
/* Writes a line that the value of an option cannot be used, and which values the option takes. */
void log_bad_value(const char *option, const char *value, const char *takes);
/* What happens to a line after the program's hook has seen it. */
enum { LOG_WRITE = 0, LOG_SWALLOW = 1, LOG_TRAP = 2 };
/* Sets the program's hook, which gets each line, without its newline, before it is written. The
 * hook is also called inside the runtime: it may allocate, but must not call functions of libleak.
 * NULL: no hook. */
void log_set_hook(int (*hook)(const char *line, void *context), void *context);
bool log_has_hook(void);
/* Passes to the hook a line that the caller itself will write. Returns what the caller must do
 * with the line: LOG_WRITE, LOG_SWALLOW or LOG_TRAP. */
int log_call_hook(const char *line);
/* Says whether descriptor 2 is still the file that it was at the start. If so, leakreport may write
 * its report there. */
bool log_stderr_usable(void);
/* Says whether descriptor 1 is still the file that it was at the start. Reports go there only if
 * the user asks for it (report_to=stdout). */
bool log_stdout_usable(void);

#endif
