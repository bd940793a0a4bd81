/* args.c - parses the command line of leakrun; described in args.h. */
#include "live/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/string_list.h"
#include "common/options/command_line.h"
#include "common/store/store_dir.h"
#include "leak_targets.h"
#include "live/foreign_options.h"

/* ---- Checking values of options -------------------------------------------------------------- */

/* libleak.so ignores a wrong value and prints a warning, in each process that the program starts.
 * So leakrun checks values before it starts the program, except limits that only libleak.so
 * knows. */

/* The types of options that take one of a few words: the name of the type, then the words. */
static const char *const choices[][10] = {
    {"BOOL", "on", "off", "1", "0", "yes", "no", "true", "false"},
#define CHOICE(name, ...) {"CHOICE_" #name, __VA_ARGS__},
#include "leak_options.def"
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* Skips a number: digits, or 0x and hex digits. NULL: there are none. */
static const char *after_number(const char *value)
{
    bool hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X') && value[2];
    const char *digits = value + (hex ? 2 : 0);
    size_t count = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    return count ? digits + count : NULL;
}

static char *expected_choice(const char *const *words, const char *value)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return NULL;
    char *wanted = string_format("%s", words[0]);
    for (size_t i = 1; words[i]; i++) {
        char *longer = string_format("%s, %s", wanted, words[i]);
        free(wanted);
        wanted = longer;
    }
    return wanted;
}

/* Returns a description of the values that the type takes, if `value` is none of them, else NULL.
 * The caller frees it. */
static char *expected_value(const char *type, const char *value)
{
    const char *rest = after_number(value);
    if (strcmp(type, "NUMBER") == 0)
        return rest && !*rest ? NULL : string_format("a number");
    if (strcmp(type, "SIZE") == 0) {
        bool fits = rest && (!*rest || (strchr("kmgKMG", *rest) && !rest[1]));
        return fits ? NULL : string_format("bytes, or a number and k, m or g");
    }
    if (strcmp(type, "TIME") == 0) {
        static const char *const units[] = {"", "ms", "s", "m", "h"};
        size_t unit = 0;
        rest = value + strspn(value, "0123456789");
        while (unit < ROWS(units) && strcmp(units[unit], rest) != 0)
            unit++;
        return rest > value && unit < ROWS(units)
                   ? NULL
                   : string_format("a time: a number and ms, s, m or h");
    }
    if (strcmp(type, "SHARE") == 0) {
        rest = value + strspn(value, "0123456789");
        bool fits = rest > value && rest - value <= 3 && atoi(value) <= 100 &&
                    (!*rest || strcmp(rest, "%") == 0);
        return fits ? NULL : string_format("a share from 0 to 100%%");
    }
    for (size_t i = 0; i < ROWS(choices); i++)
        if (strcmp(choices[i][0], type) == 0)
            return expected_choice(choices[i] + 1, value);
    return NULL; /* the type TEXT takes any value */
}

/* ---- Functions that store options ------------------------------------------------------------ */

static struct command_line line = {.tool = "leakrun", .hint = "leakrun --help lists the options"};

static bool refuse_option(const char *what, const char *which, const char *hint)
{
    print_notice("%s %s (%s)", what, which, hint);
    return false;
}

/* ---- The tables of options ------------------------------------------------------------------- */

/* Refuses an internal option of leakreport, which leakrun does not forward. Always returns
 * false. */
static bool refuse_internal(void *options, const struct option_row *row, const char *value)
{
    (void)options, (void)value;
    return refuse_option("no such option:", row->name, "only leakreport has it");
}

static bool list_options(void *options, const struct option_row *row, const char *value);

#define FIELD(field) .offset = offsetof(struct args, field)
#define FLAG(word, field, text) .name = word, FIELD(field), .help = text
#define TEXT(word, given, field, text)                                                             \
    .name = word, .value = given, .type = OPTION_TYPE_TEXT, FIELD(field), .help = text
#define INTERNAL(word, given)                                                                      \
    .name = word, .value = given, .type = OPTION_TYPE_CALL, .parse = refuse_internal

static bool take_leak_kinds(void *options, const struct option_row *row, const char *value)
{
    char *show = foreign_show(value);
    if (!show)
        return refuse_option(
            "no such option: --show-leak-kinds with", value,
            "Valgrind's, with definite, indirect, possible, reachable, all or none; "
            "here --show=SET");
    (void)row;
    string_list_addf(&((struct args *)options)->for_report, "--show=%s", show);
    free(show);
    return true;
}

static const struct option_row own[] = {
    {TEXT("keep", "FILE.leak", keep,
          "keep the recording file as FILE.leak, those of children as FILE.PID.leak")},
    {FLAG("no-report", no_report, "no report at the end (with --keep, run leakreport later)")},
    {TEXT("cwd", "DIR", cwd, "run the program in DIR")},
    {TEXT("pid", "PID", pid,
          "record a process that runs already, until it ends or Ctrl-C, instead of a program")},
    {.name = "when-lost",
     .value = "RECORD",
     .type = OPTION_TYPE_OPTIONAL,
     FIELD(when_lost),
     .help = "run the program some times more and report when blocks of RECORD (its number or "
             "signature; default: the first three lost ones) were lost"},
    {FLAG("gdb", gdb, "run the program under gdb; only the program uses libleak")},
    {FLAG("force", force, "-o and --keep may overwrite")},
    {FLAG("append", append, "-o appends to an existing file")},
    {.name = "error-exitcode",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     .least = 1,
     .most = 255,
     FIELD(error_exitcode),
     .help = "exit with N if the program succeeded but leaked"},
    {TEXT("errors-for", "SET", errors_for, "which findings count as leaked (lost,errors)")},
    {.letter = 'q', .name = "quiet", FIELD(quiet), .help = "print the summary line only"},
    {.letter = 'v', .name = "verbose", FIELD(verbose), .help = "print more detail"},
    {FLAG("self-test", self_test, "run a program with known leaks and check that they are found")},
    {.letter = 'h', .name = "help", FIELD(help), .help = "this text"},
    {FLAG("version", version, "the version")},
    {INTERNAL("serve-fd", "R[,W]")},
    {INTERNAL("again", "PROGRAM")},
    {INTERNAL("text", "FILE")},
    {INTERNAL("last", NULL)},
    {INTERNAL("followed", "DIR")},
    {INTERNAL("blocks-to-follow", "RECORD")},
    {INTERNAL("survivors", NULL)},
    {TEXT("with-library", "PATH", library, NULL)},
    {TEXT("with-report", "PATH", reporter, NULL)},
    {TEXT("environment-of", "PID", environment_of, NULL)},
    {.name = "show-leak-kinds", .value = "SET", .type = OPTION_TYPE_CALL, .parse = take_leak_kinds},
    {.name = COMMAND_LINE_LIST, .type = OPTION_TYPE_CALL, .parse = list_options},
    {0}};

static bool forward_to_report(void *options, const struct option_row *row, const char *value)
{
    struct args *args = options;
    if (row->letter == 'o')
        args->output = value; /* forwarded, too, because leakreport expands the % signs in it */
    args->to |= strcmp(row->name, "to") == 0;
    args->print_rules |=
        strcmp(row->name, "default-suppressions") == 0 && (!*value || strcmp(value, "print") == 0);
    string_list_addf(&args->for_report, "--%s%s%s", row->name, value ? "=" : "",
                     value ? value : "");
    return true;
}

/* The options of leakreport. Options of leakrun itself with the same name are searched first. */
static const struct option_row report[] = {
#define O(id, letter, name, value, help)                                                           \
    {letter, name, value, help, OPTION_TYPE_CALL, 0, 0, 0, NULL, forward_to_report},
#include "common/options/report_options.def"
    {0}};

static bool add_for_runtime(void *options, const struct option_row *row, const char *value)
{
    struct args *args = options;
    if (strcmp(row->name, "dir") == 0) {
        args->dir = value;
        return true;
    }
    if (strcmp(row->name, "report") == 0)
        return refuse_option("no such option:", "--report",
                             "leakrun always reports; --no-report turns that off");
    char *wanted;
    if (strcmp(row->name, "report_to") == 0) {
        args->report_to = value;
        wanted = leak_targets_good(value) ? NULL : string_format("%s", LEAK_TARGET_WORDS);
    } else {
        wanted = expected_value(row->words[0], value);
    }
    if (wanted) {
        char *name = string_format("%s", row->name);
        for (char *at = name; (at = strchr(at, '_'));)
            *at = '-';
        print_notice("--%s=%s: it takes %s (leakrun --help)", name, value, wanted);
        free(name);
        free(wanted);
        return false;
    }
    if (strchr(value, '\''))
        return refuse_option("a single quote is not allowed in the value of", row->name,
                             "see libleak(7)");
    const char *quote = strchr(value, ':') ? "'" : "";
    char *longer = string_format("%s%s%s=%s%s%s", args->runtime, *args->runtime ? ":" : "",
                                 row->name, quote, value, quote);
    free(args->runtime);
    args->runtime = longer;
    return true;
}

/* The options of libleak.so, made from its table; `words` has the type of the value and the
 * default. */
static const struct option_row runtime[] = {
#define OPTION(name, type, fallback, words)                                                        \
    {0,                                                                                            \
     #name,                                                                                        \
     "VALUE",                                                                                      \
     words,                                                                                        \
     OPTION_TYPE_CALL,                                                                             \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     (const char *const[]){#type, fallback, NULL},                                                 \
     add_for_runtime},
#include "leak_options.def"
    {0}};

/* Returns the row of libleak.so's option that has the name of this option of leakreport; NULL:
 * libleak.so has no such option. libleak.so stores the value of such an option in the recording
 * file, where leakreport finds it. */
static const struct option_row *recorded_row(const struct option_row *row)
{
    return row->value ? command_line_find_row(runtime, row->name, strlen(row->name)) : NULL;
}

/* ---- Printing the help ----------------------------------------------------------------------- */

static void print_help(void)
{
    puts("usage: leakrun [options] [--] program [args...]\n"
         "Runs a program and reports the heap memory that it leaked.\n\nOptions:");
    command_line_print_table(own, 30, stdout);
    puts("\nThe report (more in leakreport(1)):");
    for (const struct option_row *row = report; row->name; row++)
        if (!command_line_find_row(own, row->name, strlen(row->name)) && !recorded_row(row))
            command_line_print_row(row, 30, stdout);
    puts("\nTracking (more in libleak(7)):");
    for (const struct option_row *row = runtime; row->name; row++)
        if (strcmp(row->name, "report") != 0)
            command_line_print_row(row, 30, stdout);
    puts("\nExit status: that of the program, or its signal; 125 error in leakrun, 126 the\n"
         "program cannot be run, 127 it was not found; with --error-exitcode=N also N, and\n"
         "124 when nothing could be tracked, or leaks may be missing from the report.");
}

/* Lists an option of libleak.so for shell completion: with the words of its type, or with the type
 * as "@SIZE" and the default value. */
static void list_runtime_row(const struct option_row *row)
{
    char *words = string_format("@%s%s%s", row->words[0], row->words[1] ? " " : "",
                                row->words[1] ? row->words[1] : "");
    for (size_t i = 0; i < ROWS(choices); i++)
        if (strcmp(choices[i][0], row->words[0]) == 0) {
            free(words);
            words = expected_choice(choices[i] + 1, "");
            for (char *at = words; (at = strchr(at, ','));)
                memmove(at, at + 1, strlen(at));
        }
    command_line_list_row("leakrun", row, words);
    free(words);
}

/* Lists the options that print_help() describes, for shell completion. */
static bool list_options(void *options, const struct option_row *row, const char *value)
{
    (void)options, (void)value;
    command_line_list_table("leakrun", own);
    for (row = report; row->name; row++)
        if (!command_line_find_row(own, row->name, strlen(row->name)) && !recorded_row(row))
            command_line_list_row("leakrun", row, NULL);
    for (row = runtime; row->name; row++)
        if (strcmp(row->name, "report") != 0)
            list_runtime_row(row);
    exit(0);
}

/* ---- Parsing the command line ---------------------------------------------------------------- */

static bool parse_option(struct args *args, char **argv, int *at)
{
    const char *value;
    const struct option_row *row = command_line_match(&line, argv, at, &value);
    if (row && row->parse == forward_to_report && recorded_row(row))
        row = recorded_row(row);
    return row && command_line_store(&line, row, args, value);
}

/* Says whether --self-test was given without options that would have no effect with it. If not,
 * prints a message. */
static bool goes_with_self_test(const struct args *args, const char *program)
{
    if (program)
        return refuse_option("--self-test runs a program of its own, not", program,
                             "leakrun --self-test");
    if (*args->runtime || args->for_report.count || args->dir || args->keep || args->cwd ||
        args->errors_for || args->error_exitcode || args->no_report || args->gdb ||
        args->when_lost || args->pid)
        return refuse_option("--self-test", "takes no other options", "leakrun --self-test");
    return true;
}

static bool goes_with_pid(const struct args *args, const char *program)
{
    if (program)
        return refuse_option("--pid records a process that runs already, not", program,
                             "leakrun --pid=PID");
    if (args->keep || args->cwd || args->errors_for || args->error_exitcode || args->no_report ||
        args->gdb || args->when_lost)
        return refuse_option("--pid", "takes options of the report and of tracking only",
                             "it goes without --keep, --cwd, --gdb, --when-lost, --no-report and "
                             "--error-exitcode");
    return true;
}

static bool fits_together(const struct args *args, const char *program)
{
    if (args->error_exitcode == 77)
        return refuse_option("--error-exitcode=77", "is refused",
                             "test runners read 77 as a skipped test; take another number");
    if (args->print_rules)
        return true;
    if (args->self_test)
        return goes_with_self_test(args, program);
    if (args->pid)
        return goes_with_pid(args, program);
    if (!program)
        return refuse_option("no program to run:", "leakrun [options] program [args...]",
                             "leakrun --help");
    if (args->when_lost && (args->gdb || args->no_report))
        return refuse_option("--when-lost", "runs the program again and reports",
                             "it goes without --gdb and --no-report");
    if (args->errors_for && !args->error_exitcode)
        return refuse_option("--errors-for", "has no effect alone", "give --error-exitcode=N too");
    return true;
}

/* Forwards to leakreport the options that leakrun has, too. */
static void forward_own(struct args *args)
{
    const struct {
        bool given;
        const char *word;
    } shared[] = {{args->force, "--force"},
                  {args->append, "--append"},
                  {args->quiet, "-q"},
                  {args->verbose, "-v"}};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (shared[i].given)
            string_list_add(&args->for_report, shared[i].word);
}

int args_parse(struct args *args, int argc, char **argv)
{
    int at = 1;
    line.tables[0] = own, line.tables[1] = report, line.tables[2] = runtime;
    line.tables[3] = foreign_options;
    *args = (struct args){.runtime = string_format("%s", "")};
    while (at < argc && command_line_is_option(argv[at])) {
        if (!parse_option(args, argv, &at))
            return STATUS_INTERNAL_ERROR;
        if (args->help)
            return print_help(), 0;
        if (args->version)
            return puts("leakrun (libleak) " LEAK_VERSION), 0;
        if (args->environment_of)
            return -1;
    }
    at += at < argc && strcmp(argv[at], "--") == 0;
    forward_own(args);
    if (!fits_together(args, argv[at]))
        return STATUS_INTERNAL_ERROR;
    args->program = args->self_test || args->print_rules || args->pid ? NULL : argv + at;
    return -1;
}

char *args_graph_path(const struct args *args)
{
    char *given = option_text_find(args->runtime, "graph"), *path = NULL;
    if (given && *given && !strchr(given, '%'))
        path = *given == '/' || !args->cwd ? string_format("%s", given)
                                           : string_format("%s/%s", args->cwd, given);
    free(given);
    return path;
}

void args_free(struct args *args)
{
    free(args->runtime);
    string_list_free(&args->for_report);
}
