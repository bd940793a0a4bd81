/* commands.h - the commands of leakctl, and the parser of their command lines. */
#ifndef CONTROL_COMMANDS_H
#define CONTROL_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/options/command_line.h"
#include "scan/scan.h"

#define ARGUMENTS_UNTIL_END ((uint64_t)1 << 40)

struct arguments {
    /* must be first: the rows of scan_process_options have offsets relative to it */
    struct scan_options scan;
    bool help, no_look;
    const char *dir;  /* --dir; NULL: the default directories */
    uint64_t timeout; /* milliseconds */
    uint64_t older;   /* milliseconds */
    /* how long attach records, in milliseconds; 0: until the command leakctl detach; or
     * ARGUMENTS_UNTIL_END */
    uint64_t duration;
    const char *options; /* options for libleak, as in LIBLEAK_OPTIONS */
    const char *output;  /* --output, for leakreport */
    const char *graph;   /* file for the heap graph; "": make a name; NULL: no graph is wanted */
    const char *process, *operand;
    char **rest; /* arguments for leakreport; points into argv */
    int rest_count;
};

/* A command of leakctl. Its function run() returns the exit status: 0; 1 when the command failed,
 * after a message; 2 when the command line is wrong. */
struct command {
    const char *word, *usage, *help, *detail;
    const struct option_row *options;
    bool process; /* takes a process as its first word */
    bool other;   /* the command is for processes that run without libleak */
    bool operand; /* takes one more word behind the process */
    bool rest;    /* takes options of leakreport as its last words */
    int (*run)(const struct arguments *arguments);
};

/* All commands, in command_table.c; the last row has no word. */
extern const struct command command_table[];

/* Options of the commands, which set fields of struct arguments. */
extern const struct option_row arguments_of_snapshot[], arguments_of_requests[],
    arguments_of_report[], arguments_of_clean[], arguments_of_attach[], arguments_of_detach[];

/* Parses the command line of a command; argv[0] is the command. Moves the options for leakreport to
 * the front of argv. False: the command line is wrong, and a message says why. */
bool arguments_parse(const struct command *command, int argc, char **argv,
                     struct arguments *arguments);

/* Parses an address as hex digits, as debuggers and %p print it. False: it is none, or 0. */
bool arguments_address(const char *text, uint64_t *address);

/* Says whether the text can be the name of a mark: it must fit the recording file and a line of
 * text, and must not begin with #, because #3 means milestone 3. */
bool arguments_name(const char *text);

/* ---- Functions of the commands (struct command.run) ------------------------------------------ */

int command_snapshot(const struct arguments *arguments);
int command_mark(const struct arguments *arguments);
int command_enable(const struct arguments *arguments);
int command_disable(const struct arguments *arguments);
int command_report(const struct arguments *arguments);
int command_who(const struct arguments *arguments);

/* Executes leakreport in place of leakctl. pid: the process, whose files may be below another root;
 * 0: it has ended. path: the recording file. option: one more option, NULL = none; arguments->rest
 * follows. Returns only if this fails, with the exit status. */
int commands_exec_leakreport(pid_t pid, const char *path, const char *option,
                             const struct arguments *arguments);

/* Load libleak into a running process, and switch it off again; in attach_commands.c. */
int command_attach(const struct arguments *arguments);
int command_detach(const struct arguments *arguments);

/* Removes recording files of processes that have ended, and prints their names. libleak never
 * removes one by itself, because only the user knows whether a recording is still needed. */
int command_clean(const struct arguments *arguments);

/* Searches for leaks in a process that runs without libleak (scan/scan.h). */
int command_scan(const struct arguments *arguments);

#endif
