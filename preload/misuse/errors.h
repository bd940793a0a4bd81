/* errors.h - what happens to a wrong release after its detection (bad_free.h): it is recorded in
 * the recording file (error_table.c), described in one line on standard error (live_error.c), and
 * followed by the action that the option on_error selects (on_error.c). */
#ifndef PRELOAD_MISUSE_ERRORS_H
#define PRELOAD_MISUSE_ERRORS_H

#include "preload/base/reentry_guard.h"
#include "leak_store.h"

struct strbuf;

/* ---- error_table.c: the table of wrong releases in the recording file ---------------------------
 *
 * The table is small and has a fixed size: a program makes its mistakes in few places, but may
 * repeat each a hundred thousand times. Equal calls share one record with a count; calls that find
 * the table full share one counter. The first error creates the table, so a correct program does
 * not pay for it.
 */

/* Records an event: in a new record, or by counting it in the record of an equal event. True: it
 * got a new record. */
bool error_table_add(struct guard *guard, const struct leak_event *event);

/* Says whether the invariant holds: every record has a type and a count and differs from all
 * records before it. */
bool error_table_check(void);

/* Empties the table in a fork child, whose recording file has no events yet. */
void error_table_fork_child(void);

/* ---- live_error.c: one line about a wrong release, written during it (live_errors=on) -----------
 *
 * Function names come from leakreport --serve-fd. It is started for this line alone, reads its
 * questions from an anonymous file, writes its answers to a second one, and has ended when the line
 * is written. So there is no pipe that could break, no helper process that stays, and no descriptor
 * that stays open. Without leakreport the line has object+offset.
 *
 *     libleak: double-free: 40 bytes of malloc freed a second time, by free, in f at a.c:7 (T1);
 *         allocated in g at a.c:3; freed before in h at a.c:5 (T1)
 */

/* Finds the program leakreport, from which live_error_write gets function names. */
void live_error_start(void);
void live_error_write(struct guard *guard, const struct leak_event *event);
/* Appends a path with the escapes of leak_escape.h, and newlines, tabs and backslashes as \n, \t
 * and \\: leakreport converts all of these back. */
void live_error_add_escaped(struct strbuf *out, const char *path);
/* Writes the text "words" on a line, then one line for each frame of the call stack whose innermost
 * frame is node. */
COLD void live_error_write_stack(struct guard *guard, const char *words, uint32_t node);

/* Describes an event without names of functions: "40 bytes of new[] released by free". */
void error_text_describe(const struct leak_event *event, struct strbuf *out);
/* Describes a block: "40 bytes of malloc". */
void error_text_add_block(struct strbuf *out, uint64_t size, enum leak_kind kind);
/* Returns the word for an allocating function ("new[]"), or for a releasing one ("sized
 * delete"). */
const char *error_text_kind(enum leak_kind kind);
const char *error_text_form(enum leak_form form);

/* ---- on_error.c: the option on_error ------------------------------------------------------------
 *
 *     on_error=abort                          for every type of error
 *     on_error=report,double-free=abort       one type apart from the others: later words win
 *
 * report continues; stop halts the process until SIGCONT; trap raises SIGTRAP for a debugger; abort
 * ends the process with SIGABRT. Each of them happens outside of the runtime: a signal handler of
 * the program may run, and fork.
 */
enum error_action { ERROR_ACTION_REPORT, ERROR_ACTION_STOP, ERROR_ACTION_TRAP, ERROR_ACTION_ABORT };

/* on_error_find_action returns the action that a word of the option on_error means; -1: there is no
 * such word. on_error_action_name returns the word for an action. */
int on_error_find_action(const char *word, size_t length);
const char *on_error_action_name(enum error_action action);
/* Leaves the runtime (guard_leave), performs the action, and enters the runtime again for the same
 * caller. True: the call continues in a child that a signal handler has forked and that has a
 * recording of its own by now. A child without one is detached, so that the rest of the call writes
 * to no recording. */
bool on_error_perform(struct guard *guard, const struct frame *caller, enum error_action action);

/* Reads the option on_error. An unknown word is reported in the log; then every error has the
 * action report. */
void on_error_start(const char *option);
/* Parses the option on_error. False: it has an unknown word; every error gets the action report. */
bool on_error_parse(const char *option, size_t length);
/* Performs the action that is selected for the type of error; returns what on_error_perform
 * returns. words: describes the error in the log. */
bool on_error_handle(struct guard *guard, const struct frame *caller, enum leak_event_type type,
                     const char *words);
/* Says whether the action that is selected for the type of error is ERROR_ACTION_REPORT. */
bool on_error_only_reports(enum leak_event_type type);

#endif
