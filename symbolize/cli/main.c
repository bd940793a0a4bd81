/* main.c - runs leakreport: options -> reader -> build -> format -> exit status. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/term_text.h"
#include "symbolize/formats/formats.h"
#include "symbolize/browse/browse.h"
#include "symbolize/text/text.h"
#include "symbolize/view/view.h"
#include "symbolize/cli/followed.h"
#include "symbolize/cli/command.h"
#include "common/store/store_dir.h"
#include "symbolize/cli/options.h"
#include "common/preflight/preflight.h"
#include "common/names/symbolizer.h"
#include "scan/scan.h"

/* ---- The option --serve-fd: answering requests ----------------------------------------------- */

static int run_serve(const struct options *options)
{
    struct binary_search_path search = command_search_path(options);
    struct arena *mem = arena_begin();
    FILE *requests = fdopen(options->serve_read, "r");
    /* The answers have a stream of their own, because one stream for reading and writing would need
     * repositioning at each change. */
    FILE *answers = fdopen(options->serve_write == options->serve_read ? dup(options->serve_write)
                                                                       : options->serve_write,
                           "w");
    int status = STATUS_GOOD;

    signal(SIGPIPE, SIG_IGN);
    if (requests && answers) {
        symbolizer_serve(mem, &search, requests, answers);
    } else {
        fprintf(stderr, "leakreport: --serve-fd: %s\n", strerror(errno));
        status = STATUS_UNUSABLE;
    }
    if (answers)
        fclose(answers);
    if (requests)
        fclose(requests);
    arena_end(mem);
    return status;
}

/* ---- Making a report ------------------------------------------------------------------------- */

/* Says whether the report has errors. baseline: errors of these earlier reports do not count; NULL
 * = none. */
static bool report_matches(const struct options *options, const struct report *report,
                           const struct report_set *baseline)
{
    struct totals totals = report_totals(report);

    if (baseline)
        totals.errors = baseline_new_errors(baseline, report);
    return command_has_errors(options, &totals);
}

static bool copy_text(const char *path, FILE *stream)
{
    char buffer[4096];
    size_t length;
    FILE *text = fopen(path, "r");
    bool good;

    while (text && (length = fread(buffer, 1, sizeof(buffer), text)) > 0)
        fwrite(buffer, 1, length, stream);
    good = text && !ferror(text);
    if (!good)
        fprintf(stderr, "leakreport: %s: %s\n", path, strerror(errno));
    if (text)
        fclose(text);
    return good;
}

static bool is_browsed(const struct options *options)
{
    return (options->format->traits & FORMAT_SCREEN) && !options->output &&
           !options->targets.count && !options->generate && !options->text;
}

static bool write_report(struct arena *mem, struct options *options, const struct report *report,
                         bool alarming)
{
    struct command_output output;
    bool whole = true;

    if (is_browsed(options) && browse_run(report, &options->view))
        return true;
    command_begin_output(&output, mem, options,
                         report->process_count ? &report->processes[0] : NULL);
    output.refused =
        !options->generate && (options->format->traits & FORMAT_BINARY) && output.terminal;
    if (output.refused)
        fprintf(stderr, "leakreport: %s is nothing for a terminal: give -o FILE\n",
                options->format->name);
    else if (options->text)
        whole = copy_text(options->text, output.stream);
    else if (options->generate)
        options->generate(report, &options->view, output.stream);
    else
        options->format->write(report, &options->view, output.stream);
    return command_end_output(&output, options, alarming) && !output.refused && whole;
}

static bool load_baseline(struct report_set *baseline, struct options *options)
{
    const char *wrong;

    if (!baseline_read(baseline, options->baseline, &wrong)) {
        fprintf(stderr, "leakreport: %s %s\n", options->baseline, wrong);
        return false;
    }
    baseline_suppress(baseline, options->baseline, options->build.group.suppressions);
    options->view.baseline = baseline;
    return true;
}

/* Says whether the report shows which package of the distribution a module comes from: only then
 * are packages searched, which reads thousands of files. */
static bool tells_modules(const struct options *options, const struct report *report)
{
    unsigned traits = options->format->traits;

    return (traits & FORMAT_MODULES) && !options->view.quiet &&
           (!(traits & FORMAT_LISTED) || text_tells_modules(report, &options->view));
}

static int report_all(struct arena *mem, struct resolver *resolver, struct options *options,
                      struct report_set *baseline)
{
    struct report report = {0};
    int status = STATUS_GOOD;

    report.processes = arena_alloc_array(mem, options->files.count, sizeof(struct process));
    progress_begin(resolve_count);
    for (size_t i = 0; i < options->files.count; i++)
        if (!command_read_store(mem, resolver, options, options->files.text[i], &report))
            status = STATUS_UNUSABLE;
    if (report.process_count && options->to_follow) {
        progress_end();
        return followed_print_plan(mem, resolver, options, &report, stdout) ? status
                                                                            : STATUS_UNUSABLE;
    }
    followed_read(mem, resolver, options, &report);
    progress_end();
    if (report.process_count) {
        bool matches = report_matches(options, &report, options->baseline ? baseline : NULL);

        if ((options->error_exitcode || options->baseline) && status == STATUS_GOOD && matches)
            status = options->error_exitcode ? (int)options->error_exitcode : STATUS_NEW;
        for (size_t i = 0; i < report.process_count && status == STATUS_GOOD; i++)
            if (command_lacks_evidence(options, &report.processes[i]))
                status = STATUS_INCOMPLETE;
        build_finish(&report, &options->build);
        if (tells_modules(options, &report))
            missing_debuginfo_advise(mem, options->sysroot, &report);
        if (!write_report(mem, options, &report, matches))
            status = STATUS_UNUSABLE;
    }
    return status;
}

static int run_report(struct options *options)
{
    struct binary_search_path search = command_search_path(options);
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct report_set baseline = report_set_begin(mem, options->view.show);
    int status;

    if (options->baseline && !load_baseline(&baseline, options))
        status = STATUS_UNUSABLE;
    else
        status = report_all(mem, resolver, options, &baseline);
    report_set_end(&baseline);
    resolve_end(resolver);
    arena_end(mem);
    return status;
}

static const char *read_scopes(struct suppressions *suppressions, const struct options *options)
{
    const char *trouble = NULL;

    for (enum scope_key key = 0; key < SCOPE_KEYS && !trouble; key++)
        if (options->scope[key] &&
            (trouble = suppress_set_scope(suppressions, key, options->scope[key])))
            fprintf(stderr, "leakreport: --%s=%s: %s\n", scope_option_name[key],
                    options->scope[key], trouble);
    if (options->match)
        suppress_set_match_any(suppressions, options->match == MATCH_ANY);
    return trouble;
}

/* Reads the suppressions. leakrun has this done before it starts the program, so that an error in a
 * file is not found only hours later. False: there is an error, and a message says so. */
static bool read_suppressions(struct options *options)
{
    struct suppressions *suppressions = suppress_begin();
    const char *trouble = NULL, *only = NULL;

    options->build.group.suppressions = suppressions;
    for (size_t i = 0; i < options->suppressions.count && !trouble; i++)
        trouble = suppress_add_file(suppressions, options->suppressions.text[i]);
    if (options->defaults == DEFAULTS_ON)
        suppress_add_defaults(suppressions);
    for (size_t i = 0; i < options->only.count && !trouble; i++) {
        only = options->only.text[i];
        trouble = suppress_add_only(suppressions, only);
    }
    if (trouble)
        fprintf(stderr, "leakreport: %s%s%s%s\n", only ? "--only=" : "", only ? only : "",
                only ? ": " : "", trouble);
    return !trouble && !read_scopes(suppressions, options);
}

/* Implements --last: replaces the names and pids on the command line by the newest recording files.
 * False: there is none for one of them. */
static bool find_newest_stores(struct arena *mem, struct options *options)
{
    struct option_list *files = &options->files;
    bool good = true;

    if (!files->count)
        command_line_append(files, NULL);
    for (size_t i = 0; good && i < files->count; i++) {
        files->text[i] = store_find_newest(mem, files->text[i]);
        good = files->text[i] != NULL;
    }
    return good;
}

/* Reports a name in --only, or in a list of names, that does not occur in the process. Nothing can
 * be found then, so with --error-exitcode the exit status must not mean "no errors". Returns the
 * exit status. */
static int judge_names(const struct options *options, int status)
{
    const char *unfound = suppress_names_unfound(options->build.group.suppressions);
    bool fails = unfound && options->error_exitcode && status == STATUS_GOOD;

    if (unfound && status != STATUS_UNUSABLE)
        fprintf(stderr, fails ? "leakreport: %s, so exit status %d\n" : "leakreport: %s\n",
                term_text(unfound, strlen(unfound), 0).text, STATUS_INCOMPLETE);
    return fails ? STATUS_INCOMPLETE : status;
}

typedef int verb_function(struct options *options);

/* The commands of leakreport: those that take the options of a report (run), and those with a
 * command line of their own (main). */
static const struct {
    const char *word;
    verb_function *run;
    int (*main)(int argc, char **argv);
} verbs[] = {{"diff", command_diff, NULL},
             {"merge", command_merge, NULL},
             {"preflight", NULL, preflight_command},
             {"core", NULL, scan_core_command},
             {"log", NULL, symbolizer_log_command}};

#define VERBS (sizeof(verbs) / sizeof(*verbs))
#define WORDS 64 /* limit of the number of commands */

/* Finds a format that may be used as a command: "leakreport tree" means "leakreport
 * --format=tree". */
static const struct format *find_format_verb(int argc, char **argv)
{
    const struct format *format = argc > 1 ? format_find(argv[1]) : NULL;

    return format && (format->traits & FORMAT_VERB) ? format : NULL;
}

static int run_survivors(struct options *options, verb_function *verb)
{
    if (verb == command_diff)
        return command_diff_survivors(options) ? run_report(options) : STATUS_UNUSABLE;
    fputs("leakreport: --survivors goes with diff: diff --survivors A B C\n", stderr);
    return STATUS_UNUSABLE;
}

static size_t find_verb(int argc, char **argv)
{
    size_t i = 0;

    while (i < VERBS && (argc < 2 || strcmp(argv[1], verbs[i].word) != 0))
        i++;
    return i;
}

/* Lists the words of all commands, then NULL. */
static void collect_commands(const char *words[WORDS])
{
    size_t count = 0;

    for (size_t i = 0; i < VERBS; i++)
        words[count++] = verbs[i].word;
    for (size_t i = 0; format_at(i) && count < WORDS - 1; i++)
        if (format_at(i)->traits & FORMAT_VERB)
            words[count++] = format_at(i)->name;
    words[count] = NULL;
}

static void list_commands(void)
{
    const char *words[WORDS];
    char text[1024] = "";
    size_t used = 0;

    collect_commands(words);
    for (size_t i = 0; words[i] && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", words[i]);
    command_line_list_row("leakreport", &(struct option_row){.name = "", .help = ""}, text);
}

/* Says whether the first word is neither a file nor a command, but similar to a command. If so,
 * prints a message. */
static bool is_misspelt(const char *word)
{
    const char *words[WORDS], *nearest;

    collect_commands(words);
    nearest = access(word, F_OK) == 0 ? NULL : command_line_nearest(words, word, strlen(word));
    if (nearest)
        fprintf(stderr,
                "leakreport: no such file or command: '%s'; did you mean %s? (leakreport --help "
                "lists them)\n",
                term_text(word, strlen(word), 0).text, nearest);
    return nearest != NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    size_t number = find_verb(argc, argv);
    verb_function *run = number < VERBS ? verbs[number].run : NULL;
    const struct format *format = find_format_verb(argc, argv);
    int status = STATUS_GOOD, verb = run || format;
    struct arena *mem;

    if (number < VERBS && verbs[number].main)
        return verbs[number].main(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--" COMMAND_LINE_LIST) == 0)
        list_commands();
    mem = arena_begin();
    if (!options_parse(argc - verb, argv + verb, format, &options) ||
        !read_suppressions(&options)) {
        status = STATUS_UNUSABLE;
    } else if (options.help) {
        options_help(stdout);
    } else if (options.defaults >= DEFAULTS_PRINT) {
        suppress_print_defaults(stdout);
    } else if (options.version) {
        puts("leakreport (libleak) " LEAK_VERSION);
    } else if (options.serve_read >= 0) {
        status = run_serve(&options);
    } else if (options.last && !find_newest_stores(mem, &options)) {
        status = STATUS_UNUSABLE;
    } else if (options.files.count == 0) {
        fputs("leakreport: no recording file given (leakreport --help lists the options)\n",
              stderr);
        status = STATUS_UNUSABLE;
    } else if (!verb && !options.last && options.files.text[0] == argv[1] && is_misspelt(argv[1])) {
        status = STATUS_UNUSABLE;
    } else if (run && (options.view.by || options.view.blocks)) {
        fprintf(stderr, "leakreport: --by and --blocks are about one report, not for %s\n",
                argv[1]);
        status = STATUS_UNUSABLE;
    } else if (options.survivors) {
        status = run_survivors(&options, run);
    } else {
        status = run ? run(&options) : run_report(&options);
    }
    status = judge_names(&options, status);
    suppress_end(options.build.group.suppressions);
    options_end(&options);
    arena_end(mem);
    return status;
}
