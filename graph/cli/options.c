/* options.c - parses the command line of leakgraph; described in options.h. */
#include "graph/cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/term_text.h"
#include "common/options/command_line.h"
#include "graph/browse/browse.h"

#define MOST 1000000000

static const struct verb verbs[] = {
    {"summary", NULL, "the heap by verdict and by allocation site", verb_summary},
    {"browse", NULL, "owners and blocks on the terminal, with keys; on one this is the usual",
     verb_browse},
    {"types", NULL, "the heap by type, with what the blocks of each hold", verb_types},
    {"path", "ADDRESS|SIGNATURE", "the shortest way from a root to a block", verb_path},
    {"refs", "ADDRESS|SIGNATURE", "roots and blocks that point to a block", verb_refs},
    {"out", "ADDRESS|SIGNATURE", "blocks that a block points to", verb_out},
    {"retained", NULL, "the blocks that hold most alone", verb_retained},
    {"dominators", NULL, "who holds the heap, as a tree, by allocation site", verb_dominators},
    {"suspects", NULL, "what holds a tenth of the heap or more, in a sentence each", verb_suspects},
    {"cycles", NULL, "blocks that hold each other, and the words that close the cycles",
     verb_cycles},
    {"waste", NULL, "what malloc adds to the blocks, by allocation site", verb_waste},
    {"duplicates", NULL, "equal texts and equal blocks, and what their copies waste",
     verb_duplicates},
    {"html", NULL, "a page for a browser: who holds the heap as a map, and the largest blocks",
     verb_html},
    {"find", "CONDITION", "blocks by size, retained size, site and more", verb_find},
    {"diff", "FILE", "what a later graph has more or less, by allocation site, type or owner",
     verb_diff},
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))
#define FIELD(field) .offset = offsetof(struct options, field)

static bool list_options(void *options, const struct option_row *row, const char *value);
static const char *const groupings[] = {
    [BY_SITE] = "site", [BY_TYPE] = "type", [BY_OWNER] = "owner", NULL};

static const struct option_row rows[] = {
    {.name = "json", FIELD(json), .help = "a JSON document instead of text"},
    {.name = "top",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     FIELD(top),
     .most = MOST,
     .help = "the first N rows of each table, 0 = all (20)"},
    {.name = "depth",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     FIELD(depth),
     .least = 1,
     .most = 1000,
     .help = "levels of dominators (4)"},
    {.name = "by",
     .value = "KEY",
     .type = OPTION_TYPE_WORD,
     FIELD(by),
     .words = groupings,
     .help = "group dominators, suspects, duplicates and diff by site or type, diff also by owner "
             "(site)"},
    {.name = "no-types",
     FIELD(no_types),
     .help = "without types and names of fields: reads less debug information"},
    {.name = "anonymize",
     FIELD(anonymize),
     .help = "without contents of blocks and directories, to share the answer"},
    {.letter = 'h', .name = "help", FIELD(help), .help = "this text"},
    {.name = "version", FIELD(version), .help = "the version"},
    {.name = COMMAND_LINE_LIST, .type = OPTION_TYPE_CALL, .parse = list_options},
    {0}};

/* Lists the options for shell completion. The commands are listed as the words of a row without a
 * name. */
static bool list_options(void *options, const struct option_row *row, const char *value)
{
    char words[256] = "";
    size_t used = 0;

    (void)options, (void)row, (void)value;
    for (size_t i = 0; i < VERBS; i++)
        used += (size_t)snprintf(words + used, sizeof(words) - used, "%s ", verbs[i].word);
    command_line_list_row("leakgraph", &(struct option_row){.name = "", .help = ""}, words);
    command_line_list_table("leakgraph", rows);
    exit(0);
}

static struct command_line line = {
    .tool = "leakgraph", .hint = "leakgraph --help lists commands and options", .tables = {rows}};

static const struct verb *find_verb(const char *word)
{
    const char *words[VERBS + 1] = {0}, *nearest;

    for (size_t i = 0; i < VERBS; i++) {
        words[i] = verbs[i].word;
        if (strcmp(verbs[i].word, word) == 0)
            return &verbs[i];
    }
    nearest = command_line_nearest(words, word, strlen(word));
    verb_complain(STATUS_UNUSABLE, "unknown command: '%s'%s%s%s (leakgraph --help lists them)",
                  term_text(word, strlen(word), 0).text, nearest ? "; did you mean " : "",
                  nearest ? nearest : "", nearest ? "?" : "");
    return NULL;
}

/* Returns the command that runs if the user names none: browse on a terminal, else summary. */
static const char *usual_verb(const struct options *options)
{
    return !options->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? "browse" : "summary";
}

static bool check_words(const struct options *options, const struct verb **verb)
{
    if (!options->file)
        return command_line_complain(&line, "name a graph file", "");
    *verb = find_verb(options->verb ? options->verb : usual_verb(options));
    if (!*verb)
        return false;
    if ((*verb)->operand && (!options->operand || !*options->operand))
        return command_line_complain(&line, "a word is missing", (*verb)->operand);
    if (options->by == BY_OWNER && (*verb)->run != verb_diff)
        return command_line_complain(&line, "--by=owner goes with diff only", "");
    if (options->by == BY_TYPE && options->no_types)
        return command_line_complain(&line, "--by=type does not go with --no-types", "");
    if (!(*verb)->operand && options->operand)
        return command_line_complain(&line, "too many words", options->operand);
    return true;
}

bool options_parse(int argc, char **argv, struct options *options, const struct verb **verb)
{
    const char **words[] = {&options->file, &options->verb, &options->operand};
    bool only_words = false;
    size_t count = 0;

    *options = (struct options){.top = TOP_USUAL, .depth = DEPTH_USUAL};
    *verb = NULL;
    for (int i = 1; i < argc;) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
            i++;
        } else if (!only_words && command_line_is_option(argv[i])) {
            if (!command_line_parse(&line, options, argv, &i))
                return false;
        } else if (count == sizeof(words) / sizeof(*words)) {
            return command_line_complain(&line, "too many words", argv[i]);
        } else {
            *words[count++] = argv[i++];
        }
    }
    return options->help || options->version || check_words(options, verb);
}

void options_help(FILE *stream)
{
    fputs("usage: leakgraph FILE [COMMAND [WORD]] [options]\n"
          "Shows what holds the heap, from a graph that leakrun --graph=FILE, leakctl snapshot\n"
          "--graph or libleak_snapshot_graph() wrote. Without COMMAND: browse on a\n"
          "terminal, else summary.\n\nCommands:\n",
          stream);
    for (size_t i = 0; i < VERBS; i++) {
        int width =
            fprintf(stream, "  %s %s", verbs[i].word, verbs[i].operand ? verbs[i].operand : "");

        fprintf(stream, "%*s%s\n", width < 28 ? 28 - width : 1, "", verbs[i].help);
    }
    fputs("\nOptions:\n", stream);
    command_line_print_table(rows, 26, stream);
    fputs("\nADDRESS: hex digits; of the block or inside it. SIGNATURE: the 16 digits of a record, "
          "as\n"
          "leakreport --format=json has them. CONDITION: 'size > 1k and retained > 1M and site ~ "
          "\"name\"'.\n"
          "Exit status: 0, 1 when there is no such block, 2 for usage and unreadable files.\n",
          stream);
}
