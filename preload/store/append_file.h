/* append_file.h - a file that grows by whole lines, and no descriptor of it stays open.
 *
 *      the file:   ======== written ========|---- blank lines ----|
 *                                   [       window        ]
 *
 * The end of the file is mapped as a window: a line is a copy of memory, and what stands in the
 * window survives whatever kills the process. When it is full the file grows, and the window moves
 * on; what could not be written later (a full disk) is known then and not met as SIGBUS. Each new
 * piece is filled with newlines, so that a killed process leaves blank lines behind and no zeros.
 * At the end the file is cut to what was written; lines that come later still are appended one by
 * one.
 *
 * Trouble is said in one line; from there on lines are counted, and the program goes on.
 */
#ifndef PRELOAD_STORE_APPEND_FILE_H
#define PRELOAD_STORE_APPEND_FILE_H

#include "preload/base/base.h"

#define JOURNAL_LINE_MOST (128u << 10)

struct locked;
struct text;

/* The file's name: %p pid, %e program, %n the first number that is still free. Relative to the
 * working directory of now; a file that is there already is never touched: the pid is added then.
 * False: there is none, and a line has said why. */
bool journal_start(const char *pattern, const char *program);
const char *journal_path(void);

/* A line, or some, made between these two, whole and in this order: a scratch of JOURNAL_LINE_MOST,
 * and the lock is held. NULL: no more lines; nothing to end. */
struct text *journal_begin(struct locked *locked);
void journal_end(struct locked *locked);

/* The file is cut to what there is. wait: for whoever writes; last: lines are appended from now on.
 */
void journal_trim(bool wait, bool last);
/* How many lines are missing. A child of a process that could not write does not try, and says
 * nothing. */
uint64_t journal_lost(void);

void journal_fork_lock(void);
void journal_fork_unlock(void);
/* In the child, at once: the window is the parent's. Then, when it has an account: a file of its
 * own. */
void journal_forked(void);
void journal_fork_child(void);

#endif
