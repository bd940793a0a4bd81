/* log_file.h - the log file: grows by whole lines, and keeps no descriptor open.
 *
 *      the file:   ======== written ========|---- blank lines ----|
 *                                   [       window        ]
 *
 * The end of the file is mapped as a window: writing a line copies memory, and what is in the
 * window survives whatever kills the process. When the window is full the file grows and the window
 * moves on; a full disk is noticed then, and not later as SIGBUS. Each new piece is filled with
 * newlines, so that a killed process leaves blank lines and no zeros. At the end the file is
 * truncated to what was written; lines that follow nevertheless are appended one by one.
 *
 * A failure is reported in one line; from then on lines are only counted, and the program goes on.
 */
#ifndef PRELOAD_STORE_LOG_FILE_H
#define PRELOAD_STORE_LOG_FILE_H

#include "preload/base/base.h"

#define LOG_FILE_LINE_MOST (128u << 10)

struct locked;
struct strbuf;

/* Begins a log file. pattern: the file's name, with %p the pid, %e the program, %n the first number
 * that is free. Relative to the current working directory; an existing file is never overwritten:
 * the pid is appended instead. False: the file cannot be made, and a line has said why. */
bool log_file_start(const char *pattern, const char *program);
const char *log_file_path(void);

/* Begin and end a write of one line or several, whole and in order: into a buffer of
 * LOG_FILE_LINE_MOST bytes, under the lock. NULL: no more lines are written; do not commit. */
struct strbuf *log_file_begin(struct locked *locked);
void log_file_commit(struct locked *locked);

/* Truncates the file to what was written. wait: for the lock; last: later lines are appended. */
void log_file_trim(bool wait, bool last);
/* How many lines could not be written. A child of a process that failed does not try, and counts
 * none. */
uint64_t log_file_lost(void);

/* Leaves the window, which is the parent's, at once in a fork child. */
void log_file_detach(void);
/* Makes the next line go to a new file, in a fork child that records. */
void log_file_fork_child(void);

#endif
