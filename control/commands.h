/* commands.h - the commands of leakctl and their command lines. */
#ifndef CONTROL_COMMANDS_H
#define CONTROL_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options/command_line.h"
#include "scan/scan.h"

#define ARGUMENTS_UNTIL_END ((uint64_t)1 << 40)

struct arguments {
    struct scan_options scan; /* first: the rows of scan_process_options count from it */
    bool help, no_look;
    const char *dir;     /* NULL: the default directories */
    uint64_t timeout;    /* ms */
    uint64_t older;      /* ms */
    uint64_t duration;   /* ms; 0: until leakctl detach; or ARGUMENTS_UNTIL_END */
    const char *options; /* of libleak, as in LIBLEAK_OPTIONS */
    const char *output;  /* of leakreport */
    const char *graph;   /* file for the heap graph; "": a name is made; NULL: none is wanted */
    const char *process, *operand;
    char **rest; /* points into argv */
    int rest_count;
};

/* A command of leakctl. run returns the exit status: 0; 1 when it could not be done, with a
 * message; 2 when the command line is wrong. */
struct command {
    const char *word, *usage, *help, *detail;
    const struct option_row *options;
    bool process; /* takes a process */
    bool other;   /* which runs without libleak */
    bool operand; /* takes a word after the process */
    bool rest;    /* takes options of leakreport after that */
    int (*run)(const struct arguments *arguments);
};

/* command_table.c: all commands; the last row has no word. */
extern const struct command command_table[];

/* The options of commands, all fields of struct arguments. */
extern const struct option_row arguments_of_snapshot[], arguments_of_requests[],
    arguments_of_report[], arguments_of_clean[], arguments_of_attach[], arguments_of_detach[];

/* argv[0] is the command. Moves the options of leakreport to the front of argv. False: the line is
 * wrong, and a message says why. */
bool arguments_parse(const struct command *command, int argc, char **argv,
                     struct arguments *arguments);

/* Hex digits, as debuggers and %p print an address; not 0. */
bool arguments_address(const char *text, uint64_t *address);

/* Whether the text can name a mark: it must fit the recording file and a line of text, and #3 means
 * milestone 3. */
bool arguments_name(const char *text);

/* ---- struct command.run ---------------------------------------------------------------------- */

int command_snapshot(const struct arguments *arguments);
int command_mark(const struct arguments *arguments);
int command_enable(const struct arguments *arguments);
int command_disable(const struct arguments *arguments);
int command_report(const struct arguments *arguments);
int command_who(const struct arguments *arguments);

/* Becomes leakreport with this option, if any, and those of the rest; path: the recording file. Returns
 * only the exit status of a failure. */
int commands_exec_leakreport(const char *path, const char *option,
                             const struct arguments *arguments);

/* attach_commands.c: libleak is loaded into a process that runs, and switched off again. */
int command_attach(const struct arguments *arguments);
int command_detach(const struct arguments *arguments);

/* Removes recording files of processes that have ended, and prints their names. libleak never does
 * this by itself: only a person knows whether a recording has been read. */
int command_clean(const struct arguments *arguments);

/* Looks for leaks in a process that runs without libleak (scan/scan.h). */
int command_scan(const struct arguments *arguments);

#endif
