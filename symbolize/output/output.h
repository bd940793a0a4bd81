/* output.h - writes a report to the file of -o and the targets of --to.
 *
 * With the option --to the report is made once, in memory, and every target receives the same
 * bytes. A target that fails is reported in one line; when all fail the report goes to stderr.
 */
#ifndef SYMBOLIZE_OUTPUT_OUTPUT_H
#define SYMBOLIZE_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "leak_targets.h"
#include "common/base/arena.h"
#include "common/model/model.h"

/* ---- output_file.c: opens the file of -o, and never overwrites a file by accident ------------ */

/* Expands the pattern of -o to the name of a file. number: replaces %n. NULL: the pattern is wrong,
 * and a message is on stderr. */
char *output_expand_name(struct arena *mem, const char *pattern, const struct process *process,
                         unsigned number);

/* Says what to do when the file exists already: fail, overwrite it, or append to it. */
enum output_mode { OUTPUT_NEW, OUTPUT_FORCE, OUTPUT_APPEND };

/* Opens a new file; if the pattern has %n, with the first free number. OUTPUT_FORCE overwrites an
 * existing file, OUTPUT_APPEND appends to it. -1: *trouble has the error message. */
int output_open_fd(struct arena *mem, const char *pattern, const struct process *process,
                   enum output_mode way, const char **trouble);

/* Opens the file of -o as a stream. Never NULL: if opening fails, prints a message and returns
 * stderr. */
FILE *output_open_stream(struct arena *mem, const char *pattern, const struct process *process,
                         enum output_mode way);

/* ---- targets.c: the targets of --to ---------------------------------------------------------- */

struct target {
    struct leak_target where;
    bool closed; /* the target is a descriptor that was not open at the start */
};

struct targets {
    struct target *at; /* allocated with malloc; the caller frees it */
    size_t count, capacity;
};

/* Adds the targets of a list, each only once. False: the list is malformed. Call this function
 * before leakreport opens files, because it checks which descriptors were inherited. The text of
 * the list must live as long as the targets. */
bool targets_add(struct targets *targets, const char *list);
/* Combines -o with --to: the pattern of -o is the name of the target "file", which is added if it
 * is missing. */
void targets_add_output(struct targets *targets, const char *pattern);

/* Says whether one of the targets is a terminal; with `all`, whether all of them are. */
bool targets_on_terminal(const struct targets *targets, bool all);

/* Returns the number of rows of the smallest terminal among the targets; 0 = none is a terminal, or
 * its size is unknown. */
size_t targets_rows(const struct targets *targets);
size_t output_terminal_rows(int fd);
/* Returns the number of columns of the terminal; 0 = the descriptor is no terminal, or its size is
 * unknown. */
size_t output_terminal_columns(int fd);

struct target_report {
    const char *text;
    size_t length;
    /* the process of the report, whose pid and name the names of files contain; NULL = none */
    const struct process *process;
    enum output_mode way;
    bool alarming; /* the report has a leak or an error, so a log gets it as a warning */
};

/* Delivers the report to all targets. False: no target received the whole report. */
bool targets_deliver(struct arena *mem, const struct targets *targets,
                     const struct target_report *parcel);

/* ---- target_log.c: syslog, or systemd's journal -----------------------------------------------
 *
 * Each line of the report is sent as one message, a very long line as several, because both daemons
 * show single lines and limit their length. No library is needed: a message is a datagram. */

struct log_message {
    const char *text; /* one or several lines */
    size_t length;
    bool alarming;       /* send with priority "warning" instead of "info" */
    int pid;             /* process id of the program that the report is about; 0 = none */
    const char *program; /* path of this program; NULL = none */
};

/* Send a message to syslog or the journal. path: of the daemon's socket, NULL = the standard path.
 * The write timeout (write_timeout.h) must run. False: errno has the reason. */
bool target_log_syslog(const char *path, const struct log_message *message);
bool target_log_journal(const char *path, const struct log_message *message);

/* ---- target_stream.c: a socket, or the standard input of a command ----------------------------
 *
 * These functions return false when they fail; why[TARGET_WHY] then has the reason. The write
 * timeout (write_timeout.h) must run. */

#define TARGET_WHY 160

/* Sends the text to a socket. where: the path of a stream socket, or HOST:PORT, or
 * [ADDRESS]:PORT. */
bool target_stream_socket(const char *where, const char *text, size_t length, char *why);
/* Runs sh -c COMMAND with the text as its standard input, and waits for its end. The command must
 * exit with status 0, but need not read its input. */
bool target_stream_command(const char *command, const char *text, size_t length, char *why);

/* ---- progress.c: the progress of long work, on a terminal ------------------------------------ */

/* Begins to show progress: after one second, and until progress_end(), a line on stderr says what
 * leakreport does: "grouping records, 12,345 addresses resolved, 3 s". Does nothing if stderr is no
 * terminal. count: returns the number of resolved addresses; another thread calls it. */
void progress_begin(uint64_t (*count)(void));
/* sets the words for the work that begins now; they are not copied */
void progress_say(const char *stage);
void progress_end(void); /* removes the line from the terminal */

/* ---- pager.c ---------------------------------------------------------------------------------
 *
 * The pager is the command in LIBLEAK_PAGER, else in PAGER, else less. LESS=FRX is set unless the
 * user has set LESS, so that less exits at once when the report fits on one screen. */

/* Starts the pager and returns a stream to it; the pager writes to the standard output. NULL: the
 * user wants no pager, or it is not installed. */
FILE *pager_begin(pid_t *pager);
/* Waits until the user leaves the pager. The caller must have closed the stream. */
void pager_end(pid_t pager);

#endif
