/* command_line.h - the options of every tool: a table of rows fills a struct and writes --help.
 *
 * A tool has one or more tables; if two have a row of the same name, the first table's row
 * counts. Accepted forms: --name, --name=value, --name value, -q, -qv, -oFILE, -o FILE; in long
 * names '-' and '_' are the same. An error is reported as one line on standard error, which
 * begins with the tool's name and ends with what to do next; for a misspelt name it suggests the
 * nearest one.
 */
#ifndef COMMON_OPTIONS_COMMAND_LINE_H
#define COMMON_OPTIONS_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_TYPE_FLAG,     /* takes no value: the field, a bool, becomes true */
    OPTION_TYPE_TEXT,     /* the field, a const char *, becomes the value */
    OPTION_TYPE_OPTIONAL, /* like OPTION_TYPE_TEXT, but the value must follow "="; without "=" it
                           * is "" */
    OPTION_TYPE_LIST,     /* the field is a struct option_list, and the value is appended to it */
    OPTION_TYPE_NUMBER,   /* the field, a size_t, becomes the number, which must be from `least`
                           * to `most` */
    OPTION_TYPE_WORD,     /* the field, an enum, becomes `least` + the index of the value in
                           * `words` */
    OPTION_TYPE_CALL,     /* the row's function parse() stores the value */
};

struct option_row {
    char letter;      /* letter of the short form, 'q' for -q; 0: the option has none */
    const char *name; /* name without "--"; NULL ends the table */
    /* Name of the value in --help; NULL: the option takes no value. In brackets: the option may
     * be the last word without a value, which is then "". */
    const char *value;
    const char *help; /* NULL: --help leaves the option out */
    enum option_type type;
    size_t offset; /* offset of the field in the tool's struct of options */
    unsigned long least, most;
    const char *const *words; /* OPTION_TYPE_WORD: the accepted values, NULL-terminated */
    /* Parses the value of an option, NULL for an option without a value. False: the value is
     * wrong, and the function has printed one line. */
    bool (*parse)(void *options, const struct option_row *row, const char *value);
};

struct option_list {
    const char **text; /* the values, which are strings of argv */
    size_t count, capacity;
};

#define OPTION_TABLES 4

struct command_line {
    const char *tool; /* name of the tool in messages: "leakreport" */
    const char *hint; /* end of an error message: "leakreport --help lists the options" */
    const struct option_row *tables[OPTION_TABLES]; /* searched in this order; NULL: no table */
    /* The rest of a word of combined letters (-qv) that is not yet parsed; NULL: there is none. */
    const char *letters;
};

/* Parses the option at argv[*at] and stores its value in options; moves *at behind the option
 * and its value. argv ends with NULL. Returns the row of the option, or NULL after an error
 * message. */
const struct option_row *command_line_parse(struct command_line *line, void *options, char **argv,
                                            int *at);
/* Finds the row of the option at argv[*at] and its value, moves *at behind them, and stores
 * nothing. NULL: after an error message. */
const struct option_row *command_line_match(struct command_line *line, char **argv, int *at,
                                            const char **value);
/* Stores the value of an option in the field of the struct `options`. False: the value is wrong,
 * and an error message was printed. */
bool command_line_store(const struct command_line *line, const struct option_row *row,
                        void *options, const char *value);
/* Says whether a word is an option; "-" and "--" are none. */
bool command_line_is_option(const char *word);

/* The row of that name in a table; NULL: none. */
const struct option_row *command_line_find_row(const struct option_row *table, const char *name,
                                               size_t length);

/* Parses an address in hex digits, with or without 0x, as debuggers and %p print it. False: the
 * text is no address. */
bool command_line_read_address(const char *text, uint64_t *address);

void command_line_append(struct option_list *list, const char *word);

/* Prints "TOOL: WHAT: WORD (HINT)" on standard error. Returns false. */
bool command_line_complain(const struct command_line *line, const char *what, const char *word);

/* Prints the line of an option in --help. Its help text begins at `column` and is folded at 80
 * columns. */
void command_line_print_row(const struct option_row *row, int column, FILE *stream);
/* Prints the lines of all options of a table that have a help text. */
void command_line_print_table(const struct option_row *table, int column, FILE *stream);

/* Prints a row for scripts/make-completion as a line with tabs between the fields: tool and its
 * command, letter, name, value as --help shows it (with "[=" if it is optional), accepted words,
 * help text. words: NULL for those of the row. */
void command_line_list_row(const char *tool, const struct option_row *row, const char *words);
void command_line_list_table(const char *tool, const struct option_row *table);
/* Name of a hidden option that every tool has: it prints all rows for completion and exits. */
#define COMMAND_LINE_LIST "list-options"

/* The word of a NULL-terminated list that a misspelt word most likely means; NULL: all differ in
 * too many letters. */
const char *command_line_nearest(const char *const *words, const char *given, size_t length);

#endif
