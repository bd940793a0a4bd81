/* command.h - the commands of leakreport over several reports, and what all commands share: reading
 * recording files and writing to the output.
 *
 * A function that fails prints one line on stderr.
 */
#ifndef SYMBOLIZE_CLI_COMMAND_H
#define SYMBOLIZE_CLI_COMMAND_H

#include "symbolize/cli/options.h"
#include "common/names/resolve.h"

/* INCOMPLETE: --error-exitcode was given, and nothing that it names was found, but may be missing. */
enum { STATUS_GOOD = 0, STATUS_NEW = 1, STATUS_UNUSABLE = 2, STATUS_INCOMPLETE = 124 };

struct binary_search_path command_search_path(const struct options *options);

/* Reads one recording file and adds its process to the report. */
bool command_read_store(struct arena *mem, struct resolver *resolver, const struct options *options,
                        const char *path, struct report *report);

/* Says whether the totals contain anything that --errors-for names. */
bool command_has_errors(const struct options *options, const struct totals *totals);

/* Says whether findings of the process can be missing that --errors-for names. Then a line has said
 * why. */
bool command_lacks_evidence(const struct options *options, const struct process *process);

/* The stream or the memory to which the report goes. */
struct command_output {
    FILE *stream;
    bool terminal; /* it appears on one */
    pid_t pager;   /* that shows it, 0 = none */
    bool refused;  /* set by the caller: there is no report, so targets receive nothing */
    /* Used with --to: the report is written to memory and delivered when it is complete. */
    struct arena *mem;
    const struct process *process;
    char *text;
    size_t length;
};

/* Opens the output. process: for the names in -o, NULL = none. */
void command_begin_output(struct command_output *output, struct arena *mem, struct options *options,
                          const struct process *process);
/* Closes the output, and delivers the report. alarming: the report contains something to act on.
 * False: no target received all of it. */
bool command_end_output(struct command_output *output, struct options *options, bool alarming);

/* ---- compare.c: diff and merge ----------------------------------------------------------------
 *
 * Both take recording files, and reports that were written as JSON, and return the exit status. */

int command_diff(struct options *options);
int command_merge(struct options *options);

/* diff --survivors A B C: replaces the files by C, restricted to blocks allocated between the leak
 * checks of A and B. */
bool command_diff_survivors(struct options *options);

#endif
