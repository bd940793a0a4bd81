/* output.h - where a report goes: the file of -o, the targets of --to.
 *
 * With --to the report is made once, in memory, and every target receives the same bytes. A target
 * that fails is reported in one line; when all fail the report goes to stderr.
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

/* ---- output_file.c: the pattern of -o, which never overwrites a file by accident ------------- */

/* Expands the pattern; number stands for %n. NULL: a message is on stderr. */
char *output_expand_name(struct arena *mem, const char *pattern, const struct process *process,
                         unsigned number);

/* What happens to an existing file. */
enum output_mode { OUTPUT_NEW, OUTPUT_FORCE, OUTPUT_APPEND };

/* Opens a new file; with %n in the pattern the first free number. OUTPUT_FORCE overwrites an
 * existing file, OUTPUT_APPEND continues it. -1: *trouble says why. */
int output_open_fd(struct arena *mem, const char *pattern, const struct process *process,
                   enum output_mode way, const char **trouble);

/* Opens the output. Never NULL: if opening fails, prints a message and returns stderr. */
FILE *output_open_stream(struct arena *mem, const char *pattern, const struct process *process,
                         enum output_mode way);

/* ---- targets.c: the list of --to ------------------------------------------------------------- */

struct target {
    struct leak_target where;
    bool closed; /* a descriptor that was not open at the start */
};

struct targets {
    struct target *at; /* the caller frees it */
    size_t count, capacity;
};

/* Adds the targets of a list, each once. False: the list is malformed. Call it before anything is
 * opened, because then an open descriptor is one that was inherited. The caller keeps the text. */
bool targets_add(struct targets *targets, const char *list);
/* Combines -o with --to: the pattern names the target "file", which is added if it is missing. */
void targets_add_output(struct targets *targets, const char *pattern);

/* Is a target a terminal? all: are all of them? */
bool targets_on_terminal(const struct targets *targets, bool all);

/* Rows of the smallest terminal among them; 0 = none is a terminal, or its size is unknown. */
size_t targets_rows(const struct targets *targets);
size_t output_terminal_rows(int fd);
size_t output_terminal_columns(int fd); /* 0 = no terminal, or unknown */

struct target_report {
    const char *text;
    size_t length;
    const struct process *process; /* for names of files, NULL = none */
    enum output_mode way;
    bool alarming; /* contains something to act on */
};

/* Delivers the report to all targets. False: no target received the whole report. */
bool targets_deliver(struct arena *mem, const struct targets *targets,
                     const struct target_report *parcel);

/* ---- target_log.c: syslog, or systemd's journal -----------------------------------------------
 *
 * Each line is one message, a very long line several: both daemons show and limit messages so.
 * Neither needs a library: a message is a datagram. */

struct log_message {
    const char *text; /* lines */
    size_t length;
    bool alarming;       /* priority warning instead of info */
    int pid;             /* of the process that the report is about; 0 = none */
    const char *program; /* its path, NULL = none */
};

/* Send a message to a log. path: of the socket, NULL = the standard one. The write timeout runs.
 * False: errno says why. */
bool target_log_syslog(const char *path, const struct log_message *message);
bool target_log_journal(const char *path, const struct log_message *message);

/* ---- target_stream.c: a socket, or the standard input of a command ----------------------------
 *
 * False: why[TARGET_WHY] says what went wrong. The write timeout runs. */

#define TARGET_WHY 160

/* Sends the text to a socket. where: the path of a stream socket, or HOST:PORT, [ADDRESS]:PORT. */
bool target_stream_socket(const char *where, const char *text, size_t length, char *why);
/* Runs sh -c COMMAND and waits for it; it must exit with 0, but need not read its input. */
bool target_stream_command(const char *command, const char *text, size_t length, char *why);

/* ---- progress.c ------------------------------------------------------------------------------ */

/* Shows progress: from a second on, and until progress_end(), a line on the standard error says how
 * far the work is: "grouping records, 12,345 addresses resolved, 3 s". Only on a terminal. count:
 * of addresses; it is called in another thread. */
void progress_begin(uint64_t (*count)(void));
void progress_say(const char *stage); /* what is being done from now on; not copied */
void progress_end(void);              /* the line is gone */

/* ---- pager.c ---------------------------------------------------------------------------------
 *
 * LIBLEAK_PAGER, else PAGER, else less; LESS=FRX unless it is set, so that what fits on one screen
 * is simply there. */

/* A stream into a pager on the standard output; NULL: the user wants none, or it is not
 * installed. */
FILE *pager_begin(pid_t *pager);
/* Waits until the user leaves it; the stream is closed by then. */
void pager_end(pid_t pager);

#endif
