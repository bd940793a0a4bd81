/* arguments.c - parses the command line behind a command of leakctl; described in commands.h. */
#include "control/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/base/term_text.h"

#define TIMEOUT 10000 /* default of --timeout, in milliseconds */
#define DAY 86400000

static struct command_line line = {.tool = "leakctl"};

/* Parses a duration: "1d", "12h", "30m", "10s", "200ms"; a number without unit is seconds. False:
 * the text is no duration. */
static bool parse_duration(const char *text, uint64_t *milliseconds)
{
    static const struct {
        const char *name;
        uint64_t milliseconds;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DAY}};
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 9)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(text + digits, units[i].name) == 0) {
            *milliseconds = strtoull(text, NULL, 10) * units[i].milliseconds;
            return true;
        }
    return false;
}

static bool parse_time(void *options, const struct option_row *row, const char *value)
{
    return parse_duration(value, (uint64_t *)((char *)options + row->offset)) ||
           command_line_complain(&line, "not a time (200ms, 10s, 1m, 12h, 1d)", value);
}

/* Parses the duration of leakctl attach; "end" means until the process ends. False: the value is
 * wrong, and a message says so. */
static bool parse_duration_of_attach(void *options, const struct option_row *row, const char *value)
{
    if (strcmp(value, "end") != 0)
        return parse_time(options, row, value);
    ((struct arguments *)options)->duration = ARGUMENTS_UNTIL_END;
    return true;
}

static bool parse_dir(void *options, const struct option_row *row, const char *value)
{
    ((struct arguments *)options)->dir = value;
    return *value || command_line_complain(&line, "needs a directory", row->name);
}

#define FIELD(field) .offset = offsetof(struct arguments, field)
#define CALL(word, given, function, field, text)                                                   \
    .name = word, .value = given, .type = OPTION_TYPE_CALL, .parse = function, FIELD(field),       \
    .help = text
#define HELP .letter = 'h', .name = "help", FIELD(help), .help = "this text"
#define TIMEOUT_OPTION                                                                             \
    CALL("timeout", "TIME", parse_time, timeout,                                                   \
         "wait so long until the process takes the request, and again until it is done: 200ms, "   \
         "10s, 1m (10s)")
#define DIR_OPTION                                                                                 \
    CALL("dir", "DIR", parse_dir, dir,                                                             \
         "where its recording file is: the option dir= of the program")

const struct option_row arguments_of_snapshot[] = {
    {.name = "graph",
     .value = "[FILE]",
     .type = OPTION_TYPE_OPTIONAL,
     FIELD(graph),
     .help = "also write the heap as a graph, for leakgraph, to this file (NAME.PID.leakgraph)"},
    {TIMEOUT_OPTION},
    {DIR_OPTION},
    {HELP},
    {0}};
const struct option_row arguments_of_requests[] = {{TIMEOUT_OPTION}, {DIR_OPTION}, {HELP}, {0}};
const struct option_row arguments_of_report[] = {
    {.name = "no-look",
     FIELD(no_look),
     .help = "report what the recording file has, without a new leak check"},
    {TIMEOUT_OPTION},
    {DIR_OPTION},
    {HELP},
    {0}};
const struct option_row arguments_of_attach[] = {
    {CALL("for", "TIME", parse_duration_of_attach, duration,
          "record for so long (10s, 5m, 8h; end: until the process ends, or Ctrl-C), then report, "
          "and "
          "detach")},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .type = OPTION_TYPE_TEXT,
     FIELD(output),
     .help = "with --for: file of the report; .html, .json, .ndjson, .sarif, .xml or .folded says "
             "its format"},
    {.name = "options",
     .value = "LIST",
     .type = OPTION_TYPE_TEXT,
     FIELD(options),
     .help = "options of libleak, as in LIBLEAK_OPTIONS: sample=512k:content=0"},
    {CALL("dir", "DIR", parse_dir, dir,
          "where the recording file shall be, as the process names it")},
    {CALL("timeout", "TIME", parse_time, timeout,
          "wait so long until one of its threads is at a safe place (10s)")},
    {HELP},
    {0}};
const struct option_row arguments_of_detach[] = {
    {CALL("timeout", "TIME", parse_time, timeout,
          "wait so long until one of its threads is at a safe place (10s)")},
    {HELP},
    {0}};
const struct option_row arguments_of_clean[] = {
    {CALL("dir", "DIR", parse_dir, dir, "only in this directory")},
    {CALL("older", "TIME", parse_time, older,
          "only files last written longer ago: 12h, 30m, 0 (1d)")},
    {HELP},
    {0}};

bool arguments_address(const char *text, uint64_t *address)
{
    return command_line_read_address(text, address) && *address;
}

bool arguments_name(const char *text)
{
    for (const char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at))
            return false;
    return *text && *text != '#' && strlen(text) < LEAK_MILESTONE_NAME;
}

/* Takes a word that is no option: the process, the operand, or an argument for leakreport. False:
 * the command takes no further word, and a message says so. */
static bool take_operand(const struct command *command, char *word, struct arguments *arguments)
{
    bool wants_process = command->process && !arguments->process;

    if (!wants_process && (arguments->operand || !command->operand)) {
        arguments->rest[arguments->rest_count++] = word;
        return command->rest ||
               command_line_complain(&line, "too many words", term_shell_word(word).text);
    }
    if (wants_process)
        arguments->process = word;
    else
        arguments->operand = word;
    return true;
}

/* Says whether the command has an option with this letter. -h does not count, because leakreport
 * has it, too; --help shows the help of the command. */
static bool has_letter(const struct option_row *rows, char letter)
{
    for (; rows->name; rows++)
        if (rows->letter == letter)
            return letter != 'h';
    return false;
}

/* Says whether a word is an option for leakreport: it stands behind the process and the operand,
 * and the command has no such option. */
static bool is_for_report(const struct command *command, const struct arguments *arguments,
                          const char *word)
{
    bool complete = arguments->process && (arguments->operand || !command->operand);

    return command->rest && complete &&
           (word[1] == '-'
                ? !command_line_find_row(command->options, word + 2, strcspn(word + 2, "="))
                : !has_letter(command->options, word[1]));
}

bool arguments_parse(const struct command *command, int argc, char **argv,
                     struct arguments *arguments)
{
    static char hint[64];
    int i = 1;

    snprintf(hint, sizeof(hint), "leakctl %s --help", command->word);
    line.hint = hint;
    line.tables[0] = command->options;
    *arguments = (struct arguments){
        .timeout = TIMEOUT, .older = DAY, .rest = argv + 1, .scan = {.most = SCAN_RECORDS_SHOWN}};
    while (i < argc) {
        if (command_line_is_option(argv[i]) && !is_for_report(command, arguments, argv[i])) {
            if (!command_line_parse(&line, arguments, argv, &i))
                return false;
        } else if (!take_operand(command, argv[i++], arguments)) {
            return false;
        }
    }
    arguments->help |= arguments->scan.help;
    if (arguments->help)
        return true;
    if (command->process && (!arguments->process || !*arguments->process))
        return command_line_complain(&line, "name a process", "");
    if (command->operand && !arguments->operand)
        return command_line_complain(&line, "a word is missing", command->usage);
    return true;
}
