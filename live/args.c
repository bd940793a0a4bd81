/* args.c - see args.h. */
#include "live/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/environment.h"
#include "common/base/fatal.h"
#include "live/values.h"

enum what {
    HELP,
    VERSION,
    KEEP,
    NO_REPORT,
    CWD,
    GDB,
    FORCE,
    APPEND,
    QUIET,
    VERBOSE,
    ERROR_EXITCODE,
    ERRORS_FOR,
    DIR_OPTION,
    SELF_TEST,
    WITH_LIBRARY,
    WITH_REPORT,
    ENVIRONMENT_OF,
    RUNTIME,
    REPORT,
    NOT_HERE,
};

struct row {
    const char *name;
    const char *value; /* its name in --help, NULL: takes none */
    const char *help;  /* NULL: between scripts/leakrun and us */
    enum what what;
    char letter;
};

static const struct row own[] = {
    {"keep", "FILE.leak", "keep the account: FILE.leak, children as FILE.PID.leak", KEEP, 0},
    {"no-report", NULL, "no report at the end (with --keep: read it later)", NO_REPORT, 0},
    {"cwd", "DIR", "run the program in DIR", CWD, 0},
    {"gdb", NULL, "run the program under gdb; only the program sees libleak", GDB, 0},
    {"force", NULL, "-o and --keep may overwrite", FORCE, 0},
    {"append", NULL, "-o adds to a file that is there", APPEND, 0},
    {"error-exitcode", "N", "end with N if the program succeeded but leaked", ERROR_EXITCODE, 0},
    {"errors-for", "SET", "what counts for that (lost,errors)", ERRORS_FOR, 0},
    {"quiet", NULL, "fewer words", QUIET, 'q'},
    {"verbose", NULL, "more words", VERBOSE, 'v'},
    {"self-test", NULL, "run a program with known leaks, and see whether they are found", SELF_TEST,
     0},
    {"help", NULL, "this text", HELP, 'h'},
    {"version", NULL, "the version", VERSION, 0},
    {"serve-fd", "R[,W]", NULL, NOT_HERE, 0},
    {"again", "PROGRAM", NULL, NOT_HERE, 0},
    {"text", "FILE", NULL, NOT_HERE, 0},
    {"last", NULL, NULL, NOT_HERE, 0},
    {"survivors", NULL, NULL, NOT_HERE, 0},
    {"with-library", "PATH", NULL, WITH_LIBRARY, 0},
    {"with-report", "PATH", NULL, WITH_REPORT, 0},
    {"environment-of", "PID", NULL, ENVIRONMENT_OF, 0},
};

/* leakreport's own table; what stands in "own" too is ours first. */
static const struct row report[] = {
#define O(id, letter, name, value, help) {name, value, help, REPORT, letter},
#include "common/options/report_options.def"
};

/* The runtime's names with '-' for '_', straight from its table. "report" is leakrun's own trade.
 */
static const struct row runtime[] = {
#define OPTION(name, type, fallback, words)                                                        \
    {#name, "VALUE", words, strcmp(#name, "dir") == 0 ? DIR_OPTION : RUNTIME, 0},
#include "leak_options.def"
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* ---- Looking up ------------------------------------------------------------------------- */

/* '-' and '_' are the same letter in an option's name. */
static bool name_is(const char *name, const char *given, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] != given[i] && !(name[i] == '_' && given[i] == '-'))
            return false;
    return name[length] == '\0';
}

static const struct row *row_find(const struct row *rows, size_t count, const char *given,
                                  size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (name_is(rows[i].name, given, length))
            return &rows[i];
    return NULL;
}

/* Does the runtime keep it in the account, where leakreport finds it, now and later? */
static bool is_recorded(const struct row *row)
{
    return row->value && row_find(runtime, ROWS(runtime), row->name, strlen(row->name));
}

static const struct row *row_of_letter(char letter)
{
    for (size_t i = 0; i < ROWS(own); i++)
        if (own[i].letter == letter)
            return &own[i];
    for (size_t i = 0; i < ROWS(report); i++)
        if (report[i].letter == letter)
            return &report[i];
    return NULL;
}

/* ---- Help -------------------------------------------------------------------------------- */

/* A name as one types it. */
static void spell(const char *name, char spelled[32])
{
    size_t i = 0;
    for (; name[i] && i < 31; i++)
        spelled[i] = name[i] == '_' ? '-' : name[i];
    spelled[i] = '\0';
}

static void row_print(const struct row *row)
{
    char left[64], spelled[32];
    spell(row->name, spelled);
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", row->letter ? '-' : ' ',
             row->letter ? row->letter : ' ', row->letter ? ", " : "  ", spelled,
             row->value ? "=" : "", row->value ? row->value : "");
    /* Break the words at 80 columns. */
    int column = printf("  %-28s", left);
    for (const char *word = row->help; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (column + 1 + length > 79)
            column = printf("\n%30s", "") - 1;
        column += printf(" %.*s", length, word);
        word += length;
    }
    putchar('\n');
}

static void help_print(void)
{
    puts("usage: leakrun [options] [--] program [args...]\n"
         "Runs a program and says afterwards where its heap memory went.\n\nOptions:");
    for (size_t i = 0; i < ROWS(own); i++)
        if (own[i].help)
            row_print(&own[i]);
    puts("\nThe report (more in leakreport(1)):");
    for (size_t i = 0; i < ROWS(report); i++)
        if (!row_find(own, ROWS(own), report[i].name, strlen(report[i].name)) &&
            !is_recorded(&report[i]))
            row_print(&report[i]);
    puts("\nWhat is tracked (more in libleak(7)):");
    for (size_t i = 0; i < ROWS(runtime); i++)
        if (strcmp(runtime[i].name, "report") != 0)
            row_print(&runtime[i]);
    puts("\nExit status: the program's own, or its signal; 125 trouble of leakrun's own,\n"
         "126 it cannot be run, 127 it was not found; with --error-exitcode=N also N, and\n"
         "124 when nothing could be tracked.");
}

/* ---- Parsing ----------------------------------------------------------------------------- */

static int wrong_line(const char *what, const char *which, const char *hint)
{
    say("%s %s (%s)", what, which, hint);
    return STATUS_OUR_TROUBLE;
}

static int runtime_add(struct args *args, const char *name, const char *value)
{
    if (strcmp(name, "report") == 0)
        return wrong_line("no such option:", "--report",
                          "leakrun reports by itself; --no-report leaves it out");
    char *wanted = value_wanted(name, value);
    if (wanted) {
        char spelled[32];
        spell(name, spelled);
        say("--%s=%s: it takes %s (leakrun --help)", spelled, value, wanted);
        free(wanted);
        return STATUS_OUR_TROUBLE;
    }
    if (strchr(value, '\''))
        return wrong_line("no single quote can stand in the value of", name, "see libleak(7)");
    const char *quote = strchr(value, ':') ? "'" : "";
    char *longer = words_print("%s%s%s=%s%s%s", args->runtime, *args->runtime ? ":" : "", name,
                               quote, value, quote);
    free(args->runtime);
    args->runtime = longer;
    return -1;
}

static int take(struct args *args, const struct row *row, const char *value)
{
    char *end;
    switch (row->what) {
    case HELP:
        help_print();
        return 0;
    case VERSION:
        puts("leakrun (libleak) " LEAK_VERSION);
        return 0;
    case KEEP:
        args->keep = value;
        return -1;
    case NO_REPORT:
        args->no_report = true;
        return -1;
    case CWD:
        args->cwd = value;
        return -1;
    case GDB:
        args->gdb = true;
        return -1;
    case FORCE:
        args->force = true;
        words_add(&args->for_report, "--force");
        return -1;
    case APPEND:
        args->append = true;
        words_add(&args->for_report, "--append");
        return -1;
    case QUIET:
        args->quiet = true;
        words_add(&args->for_report, "-q");
        return -1;
    case VERBOSE:
        args->verbose = true;
        words_add(&args->for_report, "-v");
        return -1;
    case ERROR_EXITCODE:
        args->error_exitcode = (int)strtol(value, &end, 10);
        if (*end || end == value || args->error_exitcode < 1 || args->error_exitcode > 255)
            return wrong_line("not an exit status from 1 to 255:", value, "--error-exitcode=N");
        if (args->error_exitcode == 77)
            return wrong_line("--error-exitcode=77", "is refused",
                              "test runners read 77 as a skipped test; take another number");
        return -1;
    case ERRORS_FOR:
        args->errors_for = value;
        return -1;
    case DIR_OPTION:
        args->dir = value;
        return -1;
    case SELF_TEST:
        args->self_test = true;
        return -1;
    case WITH_LIBRARY:
        args->library = value;
        return -1;
    case WITH_REPORT:
        args->reporter = value;
        return -1;
    case ENVIRONMENT_OF:
        return environment_print(value);
    case RUNTIME:
        if (strcmp(row->name, "report_to") == 0)
            args->report_to = value;
        return runtime_add(args, row->name, value);
    case NOT_HERE:
        return wrong_line("no such option:", row->name, "it is leakreport's alone");
    case REPORT:
        if (row->letter == 'o')
            args->output = value; /* handed on, too: leakreport knows its % signs */
        args->to |= strcmp(row->name, "to") == 0;
        words_addf(&args->for_report, "--%s%s%s", row->name, value ? "=" : "", value ? value : "");
        return -1;
    }
    return -1;
}

/* One option, long or short, and its value; moves *at past both. */
static int option_parse(struct args *args, char **argv, int *at)
{
    const char *word = argv[(*at)++];
    const struct row *row;
    const char *value = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        row = row_find(own, ROWS(own), word + 2, length);
        if (!row)
            row = row_find(report, ROWS(report), word + 2, length);
        if (!row || (row->what == REPORT && is_recorded(row)))
            row = row_find(runtime, ROWS(runtime), word + 2, length);
        if (word[2 + length])
            value = word + 2 + length + 1;
    } else {
        row = row_of_letter(word[1]);
        if (row && word[2]) {
            if (!row->value)
                return wrong_line("one letter at a time:", word, "leakrun --help");
            value = word + 2;
        }
    }
    if (!row)
        return wrong_line("no such option:", word, "leakrun --help lists them");
    if (!row->value && value)
        return wrong_line("takes no value:", word, "leakrun --help");
    if (row->value && !value) {
        if (!argv[*at])
            return wrong_line("a value is missing after", word, "leakrun --help");
        value = argv[(*at)++];
    }
    return take(args, row, value);
}

/* Nothing that was said is passed over. */
static int self_test_alone(const struct args *args, const char *program)
{
    if (program)
        return wrong_line("--self-test runs a program of its own, not", program,
                          "leakrun --self-test");
    if (*args->runtime || args->for_report.count || args->dir || args->keep || args->cwd ||
        args->errors_for || args->error_exitcode || args->no_report || args->gdb)
        return wrong_line("--self-test", "goes without other options", "leakrun --self-test");
    return -1;
}

int args_parse(struct args *args, int argc, char **argv)
{
    *args = (struct args){.runtime = words_print("%s", "")};
    int at = 1;
    while (at < argc && argv[at][0] == '-' && argv[at][1]) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        int status = option_parse(args, argv, &at);
        if (status >= 0)
            return status;
    }
    if (args->self_test)
        return self_test_alone(args, argv[at]);
    if (at >= argc)
        return wrong_line("no program to run:", "leakrun [options] program [args...]",
                          "leakrun --help");
    if (args->errors_for && !args->error_exitcode)
        return wrong_line("--errors-for", "has no effect alone", "give --error-exitcode=N too");
    args->program = argv + at;
    return -1;
}

void args_free(struct args *args)
{
    free(args->runtime);
    words_free(&args->for_report);
}
