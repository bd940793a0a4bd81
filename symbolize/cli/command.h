/* command.h - implements the commands of leakreport that take several reports, and what all
 * commands share: reading recording files and writing the output.
 *
 * A function that fails prints one line on stderr.
 */
#ifndef SYMBOLIZE_CLI_COMMAND_H
#define SYMBOLIZE_CLI_COMMAND_H

#include "symbolize/cli/options.h"
#include "common/names/resolve.h"

/* Exit statuses of leakreport. NEW: a comparison with an earlier report found something new.
 * INCOMPLETE: with --error-exitcode, if none of the errors to look for was found, but some may be
 * missing because the recording is incomplete. */
enum { STATUS_GOOD = 0, STATUS_NEW = 1, STATUS_UNUSABLE = 2, STATUS_INCOMPLETE = 124 };

struct binary_search_path command_search_path(const struct options *options);

/* Reads one recording file and adds its process to the report. False: the file cannot be used. */
bool command_read_store(struct arena *mem, struct resolver *resolver, const struct options *options,
                        const char *path, struct report *report);

/* Says whether the totals contain any of the errors that --errors-for names. */
bool command_has_errors(const struct options *options, const struct totals *totals);

/* Says whether the recording of the process is incomplete, so that errors which --errors-for names
 * may be missing. If so, prints a line with the reason. */
bool command_lacks_evidence(const struct options *options, const struct process *process);

/* The output of a command: a stream, or memory whose content is sent to targets at the end. */
struct command_output {
    FILE *stream;
    bool terminal; /* the stream is a terminal, or one of the targets is */
    pid_t pager;   /* process id of the pager; 0 = none */
    /* set by the caller if it has written no report, so that targets receive nothing */
    bool refused;
    /* With --to, the report is written to the memory `text`, and sent to the targets when it is
     * complete. */
    struct arena *mem;
    const struct process *process;
    char *text;
    size_t length;
};

/* Opens the output. process: its pid and name may be part of the file name in -o; NULL = none. */
void command_begin_output(struct command_output *output, struct arena *mem, struct options *options,
                          const struct process *process);
/* Closes the output, and sends the report to the targets. alarming: the report has a leak or an
 * error. False: no target received the whole report. */
bool command_end_output(struct command_output *output, struct options *options, bool alarming);

/* ---- compare.c: diff and merge ----------------------------------------------------------------
 *
 * Both commands read recording files, and reports that were written as JSON. They return the exit
 * status of leakreport. */

int command_diff(struct options *options);
int command_merge(struct options *options);

/* Prepares `diff --survivors A B C`: replaces the three files by C, restricted to blocks that were
 * allocated between the leak checks of A and B. False: the files do not fit; a message says why. */
bool command_diff_survivors(struct options *options);

#endif
