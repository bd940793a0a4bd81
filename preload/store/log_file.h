/* log_file.h - the log file: grows by whole lines, and keeps no descriptor open.
 *
 *      the file:   ======== written ========|---- blank lines ----|
 *                                   [       window        ]
 *
 * The end of the file is mapped as a window: writing a line copies memory, and what is in the
 * window survives even SIGKILL. When the window is full the file grows and the window moves on; a
 * full disk is noticed then, and not later as SIGBUS. Each new piece is filled with newlines, so
 * that a killed process leaves blank lines and no zeros. At the end the file is truncated to what
 * was written; lines that follow nevertheless are appended one by one.
 *
 * A failure is reported in one line; from then on lines are only counted, and the program goes
 * on. */
#ifndef PRELOAD_STORE_LOG_FILE_H
#define PRELOAD_STORE_LOG_FILE_H

#include "preload/base/base.h"

#define LOG_FILE_LINE_MOST (128u << 10)

struct locked;
struct strbuf;

/* Creates a log file. pattern: the file's name, where %p stands for the pid, %e for the program and
 * %n for the first number that is free; relative to the current working directory. An existing file
 * is never overwritten: the pid is appended to the name instead. Returns false, after one line to
 * the user, when the file cannot be created. */
bool log_file_start(const char *pattern, const char *program);
const char *log_file_path(void);

/* Begin and end writing one or several lines. log_file_begin takes the lock and returns a buffer of
 * LOG_FILE_LINE_MOST bytes; log_file_commit writes what the caller put into it. NULL: no more lines
 * can be written, and log_file_commit must not be called. */
struct strbuf *log_file_begin(struct locked *locked);
void log_file_commit(struct locked *locked);

/* Truncates the file to what was written. wait: waits for the lock; without it, does nothing while
 * another thread has the lock. last: the window is unmapped, and later lines are appended one by
 * one. */
void log_file_trim(bool wait, bool last);
/* Returns how many lines could not be written. A fork child whose parent could not write does not
 * try, and counts none. */
uint64_t log_file_lost(void);

/* Unmaps the window, which belongs to the parent's file, in a fork child. */
void log_file_detach(void);
/* Makes the next line of a fork child go to a new file; called when the child begins to record. */
void log_file_fork_child(void);

#endif
