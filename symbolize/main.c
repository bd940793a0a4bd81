/* main.c - leakreport: reads stores, says what they tell.
 *
 * options -> reader -> build -> format, and the exit status. Everything that talks to the user
 * about the command itself is here.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/baseline.h"
#include "symbolize/diff.h"
#include "symbolize/last.h"
#include "symbolize/ledger_json.h"
#include "symbolize/merge.h"
#include "symbolize/options.h"
#include "symbolize/output.h"
#include "symbolize/preflight.h"
#include "symbolize/reader.h"
#include "symbolize/relate.h"
#include "symbolize/serve.h"
#include "symbolize/show.h"

enum { STATUS_GOOD = 0, STATUS_NEW = 1, STATUS_UNUSABLE = 2 };

static struct binary_search_path search_path(const struct options *options)
{
    return (struct binary_search_path){.sysroot = options->sysroot,
                                       .debug_dirs = options->debug_dirs.text,
                                       .debug_dir_count = options->debug_dirs.count};
}

/* ---- --serve-fd ------------------------------------------------------------------------------ */

static int run_serve(const struct options *options)
{
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    FILE *requests = fdopen(options->serve_read, "r");
    /* A stream of its own: one for both directions would have to be repositioned. */
    FILE *answers = fdopen(options->serve_write == options->serve_read ? dup(options->serve_write)
                                                                       : options->serve_write,
                           "w");
    int status = STATUS_GOOD;

    signal(SIGPIPE, SIG_IGN);
    if (requests && answers) {
        serve(mem, &search, requests, answers);
    } else {
        fprintf(stderr, "leakreport: --serve-fd: %s\n", strerror(errno));
        status = STATUS_UNUSABLE;
    }
    if (answers)
        fclose(answers);
    if (requests)
        fclose(requests);
    mem_end(mem);
    return status;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Reads one store into the report; false when it said on stderr why it cannot. */
static bool add_file(struct mem *mem, struct resolver *resolver, const struct options *options,
                     const char *path, struct report *report)
{
    struct mem *own = mem_begin(); /* the raw account goes as soon as the records are made */
    struct store store;
    struct trouble trouble;
    char words[256];
    bool good = reader_open(own, path, &store, &trouble);

    if (good) {
        build_process(mem, resolver, &store, &options->build,
                      &report->processes[report->process_count++]);
        store_end(&store);
    } else {
        error_words(&trouble, words, sizeof(words));
        fprintf(stderr, "leakreport: %s %s\n", path, words);
    }
    mem_end(own);
    return good;
}

/* Has it what --errors-for names? */
static bool matches(const struct options *options, const struct totals *totals)
{
    bool found = (options->errors_for_errors && totals->errors) ||
                 (options->errors_for_growing && totals->growing) ||
                 (options->errors_for_resources && totals->resources);

    for (int v = 0; v < VERDICT_MAX; v++)
        found |= options->errors_for[v] && totals->of[v].records;
    return found;
}

/* baseline: what is in it does not count; NULL = there is none. */
static bool report_matches(const struct options *options, const struct report *report,
                           const struct ledger *baseline)
{
    struct totals totals = report_totals(report);

    if (baseline)
        totals.errors = baseline_new_errors(baseline, report);
    return matches(options, &totals);
}

static void fit_stream(struct options *options, FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool terminal = isatty(fileno(stream)) && !(no_colour && *no_colour) &&
                    !(term && strcmp(term, "dumb") == 0);
    bool wanted = options->colour == COLOUR_ALWAYS || (options->colour == COLOUR_AUTO && terminal);

    options->view.colour = options->view.links = wanted;
}

/* Where the report goes; end_output() takes it back. */
static FILE *begin_output(struct mem *mem, struct options *options, const struct process *process)
{
    FILE *stream = stdout;
    bool nowhere = options->build.stable || options->build.anonymous || options->view.full_names;

    if (options->output)
        stream = output_open(mem, options->output, process,
                             options->append  ? OUTPUT_APPEND
                             : options->force ? OUTPUT_FORCE
                                              : OUTPUT_NEW);
    fit_stream(options, stream);
    options->view.relative = nowhere ? NULL : getcwd(NULL, 0);
    return stream;
}

static bool end_output(struct options *options, FILE *stream)
{
    bool good = fflush(stream) == 0 && !ferror(stream);

    if (stream != stdout && stream != stderr)
        good &= fclose(stream) == 0;
    if (!good)
        fprintf(stderr, "leakreport: the report could not be written in full: %s\n",
                strerror(errno));
    free((char *)options->view.relative);
    options->view.relative = NULL;
    return good;
}

static bool write_report(struct mem *mem, struct options *options, const struct report *report)
{
    FILE *stream = begin_output(mem, options, report->process_count ? &report->processes[0] : NULL);

    bool refused =
        !options->generate && (options->format->traits & FORMAT_BINARY) && isatty(fileno(stream));

    if (refused)
        fprintf(stderr, "leakreport: %s is nothing for a terminal: give -o FILE\n",
                options->format->name);
    else if (options->generate)
        options->generate(report, &options->view, stream);
    else
        options->format->write(report, &options->view, stream);
    return end_output(options, stream) && !refused;
}

static bool take_baseline(struct ledger *baseline, struct options *options)
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

static int report_all(struct mem *mem, struct resolver *resolver, struct options *options,
                      struct ledger *baseline)
{
    struct report report = {0};
    int status = STATUS_GOOD;

    report.processes = mem_take_array(mem, options->files.count, sizeof(struct process));
    for (size_t i = 0; i < options->files.count; i++)
        if (!add_file(mem, resolver, options, options->files.text[i], &report))
            status = STATUS_UNUSABLE;
    if (report.process_count) {
        if ((options->error_exitcode || options->baseline) && status == STATUS_GOOD &&
            report_matches(options, &report, options->baseline ? baseline : NULL))
            status = options->error_exitcode ? options->error_exitcode : STATUS_NEW;
        build_finish(&report, &options->build);
        if (!write_report(mem, options, &report))
            status = STATUS_UNUSABLE;
    }
    return status;
}

static int run_report(struct options *options)
{
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct ledger baseline = ledger_begin(mem, options->view.show);
    int status;

    if (options->baseline && !take_baseline(&baseline, options))
        status = STATUS_UNUSABLE;
    else
        status = report_all(mem, resolver, options, &baseline);
    ledger_end(&baseline);
    resolve_end(resolver);
    mem_end(mem);
    return status;
}

/* ---- diff ------------------------------------------------------------------------------------ */

/* A store is named by the files of today; a report was named in its time. */
static void warn_of_nameless(const struct process *process)
{
    for (size_t i = 0; i < process->blind_count; i++) {
        const struct blind_module *module = &process->blind[i];

        if (module->nameless && !module->runtime)
            fprintf(stderr,
                    "leakreport: %s: %s: %s, so what it allocated matches nothing; "
                    "keep reports (--format=json) to compare them later\n",
                    process->store, show(module->path, strlen(module->path), 0).text, module->why);
    }
}

static bool read_store(struct ledger *ledger, struct resolver *resolver,
                       const struct options *options, const char *path)
{
    struct mem *own = mem_begin(); /* the ledger keeps what it needs: there may be many */
    struct report report = {.processes = mem_take(own, sizeof(struct process))};
    bool good = add_file(own, resolver, options, path, &report);

    if (good && ledger_add_process(ledger, &report.processes[0])) {
        warn_of_nameless(&report.processes[0]);
        if (report.processes[0].damaged)
            fprintf(stderr, "leakreport: %s is damaged: it counts as far as it can be read\n",
                    path);
    }
    mem_end(own);
    return good;
}

/* A store, or a report that was written as JSON. False when it said on stderr why not. */
static bool read_ledger(struct ledger *ledger, struct resolver *resolver,
                        const struct options *options, const char *path)
{
    size_t before = ledger->again;
    const char *wrong;

    if (!ledger_json_begins(path)) {
        if (!read_store(ledger, resolver, options, path))
            return false;
    } else {
        wrong = ledger_json_read(ledger, path);
        if (wrong) {
            fprintf(stderr, "leakreport: %s %s\n", path, wrong);
            return false;
        }
    }
    if (ledger->again > before)
        fprintf(stderr, "leakreport: %s: left out %s, counted before\n", path,
                show_count(ledger->again - before, "process").text);
    return true;
}

/* The verbs over ledgers write text or JSON. */
static bool writes_json(const struct options *options)
{
    return strcmp(options->format->name, "json") == 0;
}

/* False: one line says what does not go with the verb. */
static bool fits_verb(const struct options *options, const char *verb)
{
    bool report = options->generate || options->baseline || options->view.freed ||
                  options->view.owners || options->build.stable || options->build.anonymous;
    bool format = writes_json(options) || options->format == formats_at(0);

    if (!format)
        fprintf(stderr, "leakreport: %s writes text or json\n", verb);
    else if (report)
        fprintf(stderr,
                "leakreport: %s goes without --gen-suppressions, --baseline, --freed, --owners, "
                "--stable and --anonymize\n",
                verb);
    return format && !report;
}

static int write_diff(struct mem *mem, struct options *options, const struct diff *diff)
{
    FILE *stream = begin_output(mem, options, NULL);

    if (writes_json(options))
        diff_write_json(diff, stream);
    else
        diff_write_text(diff, &options->view, stream);
    if (!end_output(options, stream))
        return STATUS_UNUSABLE;
    if (!diff->of[CHANGE_NEW])
        return STATUS_GOOD;
    return options->error_exitcode ? options->error_exitcode : STATUS_NEW;
}

static int run_diff(struct options *options)
{
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct ledger old = ledger_begin(mem, options->view.show);
    struct ledger new = ledger_begin(mem, options->view.show);
    int status = STATUS_UNUSABLE;

    if (options->files.count != 2) {
        fputs("leakreport: diff takes two stores or JSON reports: diff OLD NEW\n", stderr);
    } else if (fits_verb(options, "diff") &&
               read_ledger(&old, resolver, options, options->files.text[0]) &&
               read_ledger(&new, resolver, options, options->files.text[1])) {
        struct diff diff = diff_make(mem, &old, &new);

        status = write_diff(mem, options, &diff);
    }
    ledger_end(&old);
    ledger_end(&new);
    resolve_end(resolver);
    mem_end(mem);
    return status;
}

/* ---- merge ----------------------------------------------------------------------------------- */

static int write_merge(struct mem *mem, struct options *options, struct ledger *ledger)
{
    struct merge merge = merge_make(ledger, options->build.group.order);
    FILE *stream = begin_output(mem, options, NULL);

    if (writes_json(options))
        merge_write_json(&merge, &options->view, stream);
    else
        merge_write_text(&merge, &options->view, stream);
    if (!end_output(options, stream))
        return STATUS_UNUSABLE;
    return matches(options, &merge.sum.totals) ? options->error_exitcode : STATUS_GOOD;
}

/* What cannot be read is said and left out. */
static int run_merge(struct options *options)
{
    static const bool all[VERDICT_MAX] = {true, true, true, true, true, true, true};
    struct binary_search_path search = search_path(options);
    struct mem *mem = mem_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct ledger ledger = ledger_begin(mem, all);
    bool fits = fits_verb(options, "merge");
    size_t read = 0;
    int status = STATUS_UNUSABLE;

    ledger.apart = true;
    for (size_t i = 0; fits && i < options->files.count; i++)
        read += read_ledger(&ledger, resolver, options, options->files.text[i]);
    if (read)
        status = write_merge(mem, options, &ledger);
    if (fits && read < options->files.count) {
        fprintf(stderr, "leakreport: merged %zu of %zu files: mend the others, or leave them out\n",
                read, options->files.count);
        status = STATUS_UNUSABLE;
    }
    ledger_end(&ledger);
    resolve_end(resolver);
    mem_end(mem);
    return status;
}

/* Before anything else: a mistake in a file is said before a program has run for hours. */
static bool read_suppressions(struct options *options)
{
    struct suppressions *suppressions = suppress_begin();
    const char *trouble = NULL, *only = NULL;

    options->build.group.suppressions = suppressions;
    for (size_t i = 0; i < options->suppressions.count && !trouble; i++)
        trouble = suppress_add_file(suppressions, options->suppressions.text[i]);
    if (!options->no_known)
        suppress_add_known(suppressions);
    for (size_t i = 0; i < options->only.count && !trouble; i++) {
        only = options->only.text[i];
        trouble = suppress_all_but(suppressions, only);
    }
    if (trouble)
        fprintf(stderr, "leakreport: %s%s%s%s\n", only ? "--only=" : "", only ? only : "",
                only ? ": " : "", trouble);
    return !trouble;
}

/* --last: names and pids become files. False: said which has no store. */
static bool find_last(struct mem *mem, struct options *options)
{
    struct text_list *files = &options->files;
    bool good = true;

    if (!files->count)
        options_add(files, NULL);
    for (size_t i = 0; good && i < files->count; i++) {
        files->text[i] = last_find(mem, files->text[i]);
        good = files->text[i] != NULL;
    }
    return good;
}

typedef int run_verb(struct options *options);

/* Verbs that take the options of a report. */
static const struct {
    const char *word;
    run_verb *run;
} verbs[] = {{"diff", run_diff}, {"merge", run_merge}};

static run_verb *verb_at(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs); i++)
        if (strcmp(argv[1], verbs[i].word) == 0)
            return verbs[i].run;
    return NULL;
}

int main(int argc, char **argv)
{
    struct options options;
    run_verb *run = verb_at(argc, argv);
    int status = STATUS_GOOD, verb = run != NULL;
    struct mem *mem;

    if (argc > 1 && strcmp(argv[1], "preflight") == 0)
        return preflight_command(argc, argv);
    if (argc > 1 && strcmp(argv[1], "log") == 0)
        return relate_command(argc, argv);
    mem = mem_begin();
    if (!options_parse(argc - verb, argv + verb, &options) || !read_suppressions(&options)) {
        status = STATUS_UNUSABLE;
    } else if (options.help) {
        options_help(stdout);
    } else if (options.version) {
        puts("leakreport (libleak) " LEAK_VERSION);
    } else if (options.serve_read >= 0) {
        status = run_serve(&options);
    } else if (options.last && !find_last(mem, &options)) {
        status = STATUS_UNUSABLE;
    } else if (options.files.count == 0) {
        fputs("leakreport: no store given (leakreport --help lists the options)\n", stderr);
        status = STATUS_UNUSABLE;
    } else {
        status = run ? run(&options) : run_report(&options);
    }
    suppress_end(options.build.group.suppressions);
    options_end(&options);
    mem_end(mem);
    return status;
}
