/* command_line.c - parses options by a table of rows, stores their values, and prints --help. */
#include "common/options/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define NAME_MAX_LENGTH 31

/* ---- Names of options ------------------------------------------------------------------------ */

static char spelled(char letter)
{
    return letter == '_' ? '-' : letter;
}

static bool name_equals(const char *name, const char *given, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || spelled(name[i]) != spelled(given[i]))
            return false;
    return name[length] == '\0';
}

const struct option_row *command_line_find_row(const struct option_row *table, const char *name,
                                               size_t length)
{
    for (; table && table->name; table++)
        if (name_equals(table->name, name, length))
            return table;
    return NULL;
}

static const struct option_row *find_long_option(const struct command_line *line, const char *name,
                                                 size_t length)
{
    const struct option_row *row = NULL;
    for (int i = 0; i < OPTION_TABLES && !row; i++)
        row = command_line_find_row(line->tables[i], name, length);
    return row;
}

static const struct option_row *find_letter_option(const struct command_line *line, char letter)
{
    for (int i = 0; i < OPTION_TABLES; i++)
        for (const struct option_row *row = line->tables[i]; row && row->name; row++)
            if (row->letter && row->letter == letter)
                return row;
    return NULL;
}

static bool are_exchanged(const char *name, const char *given)
{
    return spelled(name[-1]) == spelled(given[0]) && spelled(name[0]) == spelled(given[-1]);
}

/* The number of letters to add, drop or change, or of neighbours to exchange (optimal string
 * alignment), to turn `given` into `name`; names longer than NAME_MAX_LENGTH count as far away.
 * row[k][i]: the number for the first k letters of `given` and the first i of `name`. */
static size_t edit_distance(const char *name, const char *given, size_t length)
{
    size_t width = strlen(name), row[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    if (width > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (size_t i = 0; i <= width; i++)
        row[0][i] = i;
    for (size_t k = 1; k <= length; k++) {
        row[k][0] = k;
        for (size_t i = 1; i <= width; i++) {
            size_t least = row[k - 1][i - 1] + (spelled(name[i - 1]) != spelled(given[k - 1]));
            if (row[k - 1][i] + 1 < least)
                least = row[k - 1][i] + 1;
            if (row[k][i - 1] + 1 < least)
                least = row[k][i - 1] + 1;
            if (k > 1 && i > 1 && are_exchanged(name + i - 1, given + k - 1) &&
                row[k - 2][i - 2] + 1 < least)
                least = row[k - 2][i - 2] + 1;
            row[k][i] = least;
        }
    }
    return row[length][width];
}

/* Says whether `name` differs from `given` in fewer letters than *distance. If so, stores the new
 * number in *distance. At most a third of the letters may differ, and no more than two. */
static bool is_nearer(const char *name, const char *given, size_t length, size_t *distance)
{
    size_t differs = edit_distance(name, given, length);
    if (differs >= *distance || differs > 2 || differs * 3 > length)
        return false;
    *distance = differs;
    return true;
}

const char *command_line_nearest(const char *const *words, const char *given, size_t length)
{
    const char *nearest = NULL;
    for (size_t distance = NAME_MAX_LENGTH; *words; words++)
        if (is_nearer(*words, given, length, &distance))
            nearest = *words;
    return nearest;
}

static const char *nearest_option(const struct command_line *line, const char *given, size_t length)
{
    const char *nearest = NULL;
    size_t distance = NAME_MAX_LENGTH;
    for (int i = 0; i < OPTION_TABLES; i++)
        for (const struct option_row *row = line->tables[i]; row && row->name; row++)
            if (row->help && is_nearer(row->name, given, length, &distance))
                nearest = row->name;
    return nearest;
}

/* ---- Error messages -------------------------------------------------------------------------- */

bool command_line_complain(const struct command_line *line, const char *what, const char *word)
{
    fprintf(stderr, "%s: %s%s%s (%s)\n", line->tool, what, *word ? ": " : "", word, line->hint);
    return false;
}

static const struct option_row *complain_unknown(const struct command_line *line, const char *word)
{
    size_t length = strcspn(word, "=");
    const char *nearest =
        length > 2 && word[1] == '-' ? nearest_option(line, word + 2, length - 2) : NULL;
    if (!nearest) {
        command_line_complain(line, "no such option", word);
        return NULL;
    }
    fprintf(stderr, "%s: no such option: %s; did you mean --", line->tool, word);
    for (; *nearest; nearest++)
        putc(spelled(*nearest), stderr);
    fprintf(stderr, "? (%s)\n", line->hint);
    return NULL;
}

/* ---- Values of options ----------------------------------------------------------------------- */

void command_line_append(struct option_list *list, const char *word)
{
    list->text = array_grow(list->text, &list->capacity, list->count + 1, sizeof(*list->text));
    list->text[list->count++] = word;
}

bool command_line_read_address(const char *text, uint64_t *address)
{
    const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    size_t length = strspn(digits, "0123456789abcdefABCDEF");

    *address = strtoull(digits, NULL, 16);
    return length && length <= 16 && !digits[length];
}

static bool store_number(const struct command_line *line, const struct option_row *row,
                         const char *value, size_t *field)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || number < row->least || number > row->most) {
        fprintf(stderr, "%s: --%s takes a number from %lu to %lu, not '%s'\n", line->tool,
                row->name, row->least, row->most, value);
        return false;
    }
    *field = number;
    return true;
}

static bool store_word(const struct command_line *line, const struct option_row *row,
                       const char *value, int *field)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], value) == 0) {
            *field = i + (int)row->least;
            return true;
        }
    fprintf(stderr, "%s: --%s takes", line->tool, row->name);
    for (int i = 0; row->words[i] && *row->words[i]; i++)
        fprintf(stderr, "%s %s", i ? " or" : "", row->words[i]);
    fprintf(stderr, ", not '%s'\n", value);
    return false;
}

bool command_line_store(const struct command_line *line, const struct option_row *row,
                        void *options, const char *value)
{
    void *field = (char *)options + row->offset;
    switch (row->type) {
    case OPTION_TYPE_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TYPE_TEXT:
    case OPTION_TYPE_OPTIONAL:
        *(const char **)field = value;
        return true;
    case OPTION_TYPE_LIST:
        command_line_append(field, value);
        return true;
    case OPTION_TYPE_NUMBER:
        return store_number(line, row, value, field);
    case OPTION_TYPE_WORD:
        return store_word(line, row, value, field);
    case OPTION_TYPE_CALL:
        break;
    }
    return row->parse(options, row, value);
}

/* ---- Parsing ----------------------------------------------------------------------------- */

bool command_line_is_option(const char *word)
{
    return word[0] == '-' && word[1] && strcmp(word, "--") != 0;
}

/* Finds the row of a letter option. Letters that take no value may be combined (-qv), and the last
 * letter may take a value. NULL: there is no such letter, and a message says so. */
static const struct option_row *match_letter(struct command_line *line, char **argv, int *at,
                                             const char **value)
{
    const char *letter = line->letters ? line->letters : argv[*at] + 1;
    const struct option_row *row = find_letter_option(line, *letter);
    line->letters = NULL;
    if (!row)
        return complain_unknown(line, argv[*at]);
    *value = row->value && letter[1] ? letter + 1 : NULL;
    line->letters = row->value || !letter[1] ? NULL : letter + 1;
    *at += !line->letters;
    return row;
}

const struct option_row *command_line_match(struct command_line *line, char **argv, int *at,
                                            const char **value)
{
    char *word = argv[*at];
    const struct option_row *row;
    if (word[1] != '-') {
        row = match_letter(line, argv, at, value);
    } else {
        size_t length = strcspn(word + 2, "=");
        row = find_long_option(line, word + 2, length);
        *value = word[2 + length] ? word + 2 + length + 1 : NULL;
        if (!row)
            return complain_unknown(line, word);
        ++*at;
    }
    if (!row)
        return NULL;
    if (!row->value && *value) {
        command_line_complain(line, "takes no value", word);
        return NULL;
    }
    if (row->type == OPTION_TYPE_OPTIONAL && !*value)
        *value = "";
    if (row->value && !*value) {
        if (!argv[*at] && *row->value == '[') {
            *value = "";
            return row;
        }
        if (!argv[*at]) {
            command_line_complain(line, "needs a value", word);
            return NULL;
        }
        *value = argv[(*at)++];
    }
    return row;
}

const struct option_row *command_line_parse(struct command_line *line, void *options, char **argv,
                                            int *at)
{
    const char *value;
    const struct option_row *row = command_line_match(line, argv, at, &value);
    return row && command_line_store(line, row, options, value) ? row : NULL;
}

/* ---- Help -------------------------------------------------------------------------------- */

void command_line_print_row(const struct option_row *row, int column, FILE *stream)
{
    int at = row->letter ? fprintf(stream, "  -%c, --", row->letter) : fprintf(stream, "      --");
    for (const char *letter = row->name; *letter; letter++, at++)
        putc(spelled(*letter), stream);
    if (row->value)
        at += fprintf(stream, row->type == OPTION_TYPE_OPTIONAL ? "[=%s]" : "=%s", row->value);
    at += fprintf(stream, "%*s", at < column ? column - at : 1, "");
    for (const char *word = row->help; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (at + 1 + length > 79)
            at = fprintf(stream, "\n%*s", column, "") - 1;
        at += fprintf(stream, " %.*s", length, word);
        word += length;
    }
    putc('\n', stream);
}

void command_line_print_table(const struct option_row *table, int column, FILE *stream)
{
    for (; table->name; table++)
        if (table->help)
            command_line_print_row(table, column, stream);
}

/* ---- Lists of options for shell completion --------------------------------------------------- */

static void list_words(const struct option_row *row)
{
    for (int i = 0; row->type == OPTION_TYPE_WORD && row->words[i] && *row->words[i]; i++)
        printf("%s%s", i ? " " : "", row->words[i]);
}

void command_line_list_row(const char *tool, const struct option_row *row, const char *words)
{
    printf("%s\t%.1s\t", tool, row->letter ? &row->letter : "");
    for (const char *letter = row->name; *letter; letter++)
        putchar(spelled(*letter));
    printf("\t%s%s\t", row->type == OPTION_TYPE_OPTIONAL ? "[=" : "", row->value ? row->value : "");
    if (words)
        printf("%s", words);
    else
        list_words(row);
    printf("\t%s\n", row->help);
}

void command_line_list_table(const char *tool, const struct option_row *table)
{
    for (; table->name; table++)
        if (table->help)
            command_line_list_row(tool, table, NULL);
}
