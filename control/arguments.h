/* arguments.h - the command line behind a command of leakctl. */
#ifndef CONTROL_ARGUMENTS_H
#define CONTROL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options/command_line.h"

struct arguments {
    bool help, no_look;
    const char *dir;  /* NULL: the default places */
    uint64_t timeout; /* ms */
    uint64_t older;   /* ms */
    const char *process, *operand;
    char **rest; /* points into argv, so many */
    int rest_count;
};

/* A command of leakctl. run returns the exit status: 0; 1 when it could not be done, which one line
 * says; 2 when the command line is wrong. */
struct command {
    const char *word, *usage, *help, *detail;
    const struct option_row *options;
    bool process; /* names one */
    bool operand; /* a word behind the process */
    bool rest;    /* leakreport's options behind that */
    int (*run)(const struct arguments *arguments);
};

/* The options of commands, all of struct arguments. */
extern const struct option_row arguments_of_requests[], arguments_of_report[], arguments_of_clean[];

/* argv[0] is the command. Moves what is the rest to the front of argv. False: said what is wrong. */
bool arguments_parse(const struct command *command, int argc, char **argv,
                     struct arguments *arguments);

/* As debuggers and %p print it; not 0. */
bool arguments_address(const char *text, uint64_t *address);

/* Whether a mark may have that name: it must fit the recording file, and a line of text. #3 means
 * milestone 3. */
bool arguments_name(const char *text);

#endif
