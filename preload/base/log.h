/* log.h - one line to the program's standard error, and only when asked or broken.
 *
 * A line goes out in one write. Descriptor 2 may be closed, or be a file of the program's own by
 * now: it is remembered at start and used only while it is still the same file. A line that would
 * grow a file beyond RLIMIT_FSIZE is dropped: the kernel would send SIGXFSZ. SIGPIPE is kept away.
 */
#ifndef PRELOAD_BASE_LOG_H
#define PRELOAD_BASE_LOG_H

#include "preload/base/base.h"

/* Remembers what descriptors 1 and 2 are. Call once, early; lines before it are dropped. */
void log_start(void);
/* "libleak: " + the parts, which end with NULL, + newline. */
void log_line(const char *part, ...) __attribute__((sentinel));
/* About an option's value that cannot be used: what it takes instead, and what is done. */
void log_bad_value(const char *option, const char *value, const char *takes);
/* Who is shown each line before it is written, and may swallow it or have it trap. */
enum { LOG_WRITE = 0, LOG_SWALLOW = 1, LOG_TRAP = 2 };
/* line: without its newline. Called wherever a line is written: also inside of the runtime, where
 * it may allocate, but ask us nothing. NULL: nobody. */
void log_show_to(int (*hook)(const char *line, void *context), void *context);
/* Is anybody? And shows one that somebody else writes: what becomes of it. */
bool log_is_shown(void);
int log_show(const char *line);
/* Still what it was at the start? Then a child of ours may write its report there. */
bool log_usable(void);
/* The same of standard output, where only reports go, and when they are sent there. */
bool log_output_usable(void);

#endif
