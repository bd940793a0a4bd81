/* args.c - see args.h. */
#include "live/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options/command_line.h"
#include "live/environment.h"
#include "common/base/error.h"
#include "live/values.h"

static struct command_line line = {.tool = "leakrun", .hint = "leakrun --help lists the options"};

static bool complain(const char *what, const char *which, const char *hint)
{
    print_notice("%s %s (%s)", what, which, hint);
    return false;
}

/* ---- The tables -------------------------------------------------------------------------- */

/* Options between leakrun and leakreport, which nobody types. */
static bool refuse_internal(void *options, const struct option_row *row, const char *value)
{
    (void)options, (void)value;
    return complain("no such option:", row->name, "only leakreport has it");
}

#define FIELD(name) .offset = offsetof(struct args, name)
#define TEXT(name) .type = OPTION_TYPE_TEXT, FIELD(name)
#define INTERNAL .type = OPTION_TYPE_CALL, .parse = refuse_internal

static const struct option_row own[] = {
    {.name = "keep",
     .value = "FILE.leak",
     TEXT(keep),
     .help = "keep the recording file: FILE.leak, children as FILE.PID.leak"},
    {.name = "no-report",
     FIELD(no_report),
     .help = "no report at the end (with --keep: read it later)"},
    {.name = "cwd", .value = "DIR", TEXT(cwd), .help = "run the program in DIR"},
    {.name = "gdb", FIELD(gdb), .help = "run the program under gdb; only the program sees libleak"},
    {.name = "force", FIELD(force), .help = "-o and --keep may overwrite"},
    {.name = "append", FIELD(append), .help = "-o appends to an existing file"},
    {.name = "error-exitcode",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     .least = 1,
     .most = 255,
     FIELD(error_exitcode),
     .help = "exit with N if the program succeeded but leaked"},
    {.name = "errors-for",
     .value = "SET",
     TEXT(errors_for),
     .help = "what counts for that (lost,errors)"},
    {.letter = 'q', .name = "quiet", FIELD(quiet), .help = "quiet: the summary line only"},
    {.letter = 'v', .name = "verbose", FIELD(verbose), .help = "verbose"},
    {.name = "self-test",
     FIELD(self_test),
     .help = "run a program with known leaks, and check that they are found"},
    {.letter = 'h', .name = "help", FIELD(help), .help = "this text"},
    {.name = "version", FIELD(version), .help = "the version"},
    {.name = "serve-fd", .value = "R[,W]", INTERNAL},
    {.name = "again", .value = "PROGRAM", INTERNAL},
    {.name = "text", .value = "FILE", INTERNAL},
    {.name = "last", INTERNAL},
    {.name = "survivors", INTERNAL},
    {.name = "with-library", .value = "PATH", TEXT(library)},
    {.name = "with-report", .value = "PATH", TEXT(reporter)},
    {.name = "environment-of", .value = "PID", TEXT(environment_of)},
    {0}};

static bool forward_to_report(void *options, const struct option_row *row, const char *value)
{
    struct args *args = options;
    if (row->letter == 'o')
        args->output = value; /* forwarded, too: leakreport replaces its % signs */
    args->to |= strcmp(row->name, "to") == 0;
    string_list_addf(&args->for_report, "--%s%s%s", row->name, value ? "=" : "",
                     value ? value : "");
    return true;
}

/* The table of leakreport; a row of "own" with the same name comes first. */
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
        return complain("no such option:", "--report",
                        "leakrun reports by itself; --no-report leaves it out");
    if (strcmp(row->name, "report_to") == 0)
        args->report_to = value;
    char *wanted = value_wanted(row->name, value);
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
        return complain("no single quote can stand in the value of", row->name, "see libleak(7)");
    const char *quote = strchr(value, ':') ? "'" : "";
    char *longer = string_format("%s%s%s=%s%s%s", args->runtime, *args->runtime ? ":" : "",
                                 row->name, quote, value, quote);
    free(args->runtime);
    args->runtime = longer;
    return true;
}

/* The options of libleak.so, from their table. */
static const struct option_row runtime[] = {
#define OPTION(name, type, fallback, words)                                                        \
    {0, #name, "VALUE", words, OPTION_TYPE_CALL, 0, 0, 0, NULL, add_for_runtime},
#include "leak_options.def"
    {0}};

/* Options that libleak.so records, so that leakreport finds them in the recording file. */
static const struct option_row *recorded_row(const struct option_row *row)
{
    return row->value ? command_line_find_row(runtime, row->name, strlen(row->name)) : NULL;
}

/* ---- Help -------------------------------------------------------------------------------- */

static void print_help(void)
{
    puts("usage: leakrun [options] [--] program [args...]\n"
         "Runs a program and reports the heap memory that it leaked.\n\nOptions:");
    command_line_print_table(own, 30, stdout);
    puts("\nThe report (more in leakreport(1)):");
    for (const struct option_row *row = report; row->name; row++)
        if (!command_line_find_row(own, row->name, strlen(row->name)) && !recorded_row(row))
            command_line_print_row(row, 30, stdout);
    puts("\nWhat is tracked (more in libleak(7)):");
    for (const struct option_row *row = runtime; row->name; row++)
        if (strcmp(row->name, "report") != 0)
            command_line_print_row(row, 30, stdout);
    puts("\nExit status: the program's own, or its signal; 125 trouble of leakrun's own,\n"
         "126 it cannot be run, 127 it was not found; with --error-exitcode=N also N, and\n"
         "124 when nothing could be tracked.");
}

/* ---- Parsing ----------------------------------------------------------------------------- */

static bool parse_option(struct args *args, char **argv, int *at)
{
    const char *value;
    const struct option_row *row = command_line_match(&line, argv, at, &value);
    if (row && row->parse == forward_to_report && recorded_row(row))
        row = recorded_row(row);
    return row && command_line_store(&line, row, args, value);
}

/* No option is read and ignored. */
static bool goes_with_self_test(const struct args *args, const char *program)
{
    if (program)
        return complain("--self-test runs a program of its own, not", program,
                        "leakrun --self-test");
    if (*args->runtime || args->for_report.count || args->dir || args->keep || args->cwd ||
        args->errors_for || args->error_exitcode || args->no_report || args->gdb)
        return complain("--self-test", "goes without other options", "leakrun --self-test");
    return true;
}

static bool fits_together(const struct args *args, const char *program)
{
    if (args->error_exitcode == 77)
        return complain("--error-exitcode=77", "is refused",
                        "test runners read 77 as a skipped test; take another number");
    if (args->self_test)
        return goes_with_self_test(args, program);
    if (!program)
        return complain("no program to run:", "leakrun [options] program [args...]",
                        "leakrun --help");
    if (args->errors_for && !args->error_exitcode)
        return complain("--errors-for", "has no effect alone", "give --error-exitcode=N too");
    return true;
}

/* Options that leakreport has, too, in its short form. */
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
    *args = (struct args){.runtime = string_format("%s", "")};
    while (at < argc && command_line_is_option(argv[at])) {
        if (!parse_option(args, argv, &at))
            return STATUS_INTERNAL_ERROR;
        if (args->help)
            return print_help(), 0;
        if (args->version)
            return puts("leakrun (libleak) " LEAK_VERSION), 0;
        if (args->environment_of)
            return environment_print(args->environment_of);
    }
    at += at < argc && strcmp(argv[at], "--") == 0;
    forward_own(args);
    if (!fits_together(args, argv[at]))
        return STATUS_INTERNAL_ERROR;
    args->program = args->self_test ? NULL : argv + at;
    return -1;
}

void args_free(struct args *args)
{
    free(args->runtime);
    string_list_free(&args->for_report);
}
