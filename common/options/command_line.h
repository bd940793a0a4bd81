/* command_line.h - the options of every tool: a table of rows fills a struct and writes --help.
 *
 * A tool has one or more tables; of two rows with one name the first table's counts. Accepted
 * forms: --name, --name=value, --name value, -q, -qv, -oFILE, -o FILE; in long names '-' and '_'
 * are the same. Whatever is wrong is said in one line on standard error, which begins with the
 * tool's name and ends with what to do next; a misspelt name gets the nearest one as a suggestion.
 */
#ifndef COMMON_OPTIONS_COMMAND_LINE_H
#define COMMON_OPTIONS_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_TYPE_FLAG,     /* no value: *(bool *) becomes true */
    OPTION_TYPE_TEXT,     /* *(const char **): the word itself */
    OPTION_TYPE_OPTIONAL, /* as TEXT, but the value only follows "="; without it the word is "" */
    OPTION_TYPE_LIST,     /* struct option_list: the word is added */
    OPTION_TYPE_NUMBER,   /* *(size_t *), from least to most */
    OPTION_TYPE_WORD,     /* *(int *), an enum: least + the place of the word in words */
    OPTION_TYPE_CALL,     /* parse() does it */
};

struct option_row {
    char letter;       /* 0: none */
    const char *name;  /* NULL after the last row */
    const char *value; /* its name in --help; NULL: the option takes none. In brackets: as the last
                          word the option may stand alone, with the value "" */
    const char *help;  /* NULL: --help leaves the option out */
    enum option_type type;
    size_t offset; /* of the field in the tool's struct of options */
    unsigned long least, most;
    const char *const *words; /* NULL-terminated */
    /* Parses the value of an option, NULL for an option without a value. False: the value is wrong,
     * and the function has said so in one line. */
    bool (*parse)(void *options, const struct option_row *row, const char *value);
};

struct option_list {
    const char **text; /* words of argv */
    size_t count, capacity;
};

#define OPTION_TABLES 4

struct command_line {
    const char *tool; /* "leakreport" */
    const char *hint; /* how to go on after a mistake: "leakreport --help lists the options" */
    const struct option_row *tables[OPTION_TABLES]; /* NULL: none */
    const char *letters;                            /* of -qv: those that are still to be read */
};

/* Parses the option at argv[*at] and moves *at behind it and its value; argv ends with NULL, as that
 * of main. Returns the row of the option, whose value is stored in
 * options, or NULL after a message. */
const struct option_row *command_line_parse(struct command_line *line, void *options, char **argv,
                                            int *at);
/* Finds the row of the next option like command_line_parse(), but leaves it to the caller to parse
 * the value. */
const struct option_row *command_line_match(struct command_line *line, char **argv, int *at,
                                            const char **value);
/* Stores the value of a row in options. Returns false when it is wrong; the error
 * has been printed. */
bool command_line_store(const struct command_line *line, const struct option_row *row,
                        void *options, const char *value);
/* Whether the word is an option: "-" alone is not, nor is "--". */
bool command_line_is_option(const char *word);

/* The row of that name in a table; NULL: there is none. */
const struct option_row *command_line_find_row(const struct option_row *table, const char *name,
                                               size_t length);

/* An address in hex digits, with or without 0x, as debuggers and %p print it. */
bool command_line_read_address(const char *text, uint64_t *address);

void command_line_append(struct option_list *list, const char *word);

/* "leakreport: WHAT: WORD (HINT)" on standard error. Returns false. */
bool command_line_complain(const struct command_line *line, const char *what, const char *word);

/* Prints one option of --help: its text is folded at 80 columns, and begins at `column`. */
void command_line_print_row(const struct option_row *row, int column, FILE *stream);
/* All rows of a table that have a help text. */
void command_line_print_table(const struct option_row *table, int column, FILE *stream);

/* The same row for scripts/make-completion, a line with tabs between: the tool and its command, the
 * letter, the name, the value as --help shows it (with "[=" when it is optional), the words that the
 * value may be, the help text. words: NULL for those of the row. */
void command_line_list_row(const char *tool, const struct option_row *row, const char *words);
void command_line_list_table(const char *tool, const struct option_row *table);
/* The option of every tool that prints all its rows and exits; --help leaves it out. */
#define COMMAND_LINE_LIST "list-options"

/* The word of a NULL-terminated list that a misspelt one most likely means; NULL: none is near. */
const char *command_line_nearest(const char *const *words, const char *given, size_t length);

#endif
