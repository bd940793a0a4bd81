/* compare.c - implements the commands diff and merge; described in command.h. */
#include "symbolize/cli/command.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/compare/compare.h"
#include "symbolize/view/view.h"
#include "common/base/term_text.h"

/* ---- The command diff ------------------------------------------------------------------------ */

/* Warns of modules without names in a recording file, because it can be compared only by names. A
 * JSON report has the names from the time when it was written. */
static void warn_of_nameless(const struct process *process)
{
    for (size_t i = 0; i < process->blind_count; i++) {
        const struct blind_module *module = &process->blind[i];

        if (module->nameless && !module->runtime)
            fprintf(stderr,
                    "leakreport: %s: %s: %s, so what it allocated matches nothing; "
                    "keep reports (--format=json) to compare them later\n",
                    process->store, term_text(module->path, strlen(module->path), 0).text,
                    module->why);
    }
}

static bool read_store(struct report_set *report_set, struct resolver *resolver,
                       const struct options *options, const char *path)
{
    /* holds the data of one file and is freed after it, because there may be many files; the set
     * copies what it needs */
    struct arena *own = arena_begin();
    struct report report = {.processes = arena_alloc(own, sizeof(struct process))};
    bool good = command_read_store(own, resolver, options, path, &report);

    if (good && report_set_add_process(report_set, &report.processes[0])) {
        warn_of_nameless(&report.processes[0]);
        if (report.processes[0].damaged)
            fprintf(stderr, "leakreport: %s is damaged: it counts as far as it can be read\n",
                    path);
        if (!report_set->incomplete)
            report_set->incomplete = command_lacks_evidence(options, &report.processes[0]);
    }
    arena_end(own);
    return good;
}

/* Reads a recording file, or a JSON report, into the set. False: it cannot be used, and a message
 * says why. */
static bool read_report_set(struct report_set *report_set, struct resolver *resolver,
                            const struct options *options, const char *path)
{
    size_t before = report_set->again;
    const char *wrong;

    if (!report_set_json_detect(path)) {
        if (!read_store(report_set, resolver, options, path))
            return false;
    } else {
        wrong = report_set_json_read(report_set, path);
        if (wrong) {
            fprintf(stderr, "leakreport: %s %s\n", path, wrong);
            return false;
        }
    }
    if (report_set->again > before)
        fprintf(stderr, "leakreport: %s: left out %s, counted before\n", path,
                term_count(report_set->again - before, "process").text);
    return true;
}

static bool writes_html(const struct options *options)
{
    return strcmp(options->format->name, "html") == 0;
}

/* Says whether the user wants JSON. diff and merge write text or JSON; diff also HTML. */
static bool writes_json(const struct options *options)
{
    return strcmp(options->format->name, "json") == 0;
}

/* Checks that the command supports all options that the user gave. False: it does not, and a
 * message names the option. */
static bool is_verb_compatible(const struct options *options, const char *verb)
{
    bool report = options->generate || options->baseline || options->view.freed ||
                  options->view.who || options->view.owners || options->build.stable ||
                  options->build.anonymous;
    bool pages = strcmp(verb, "diff") == 0;
    bool format =
        writes_json(options) || options->format == format_at(0) || (pages && writes_html(options));

    if (!format)
        fprintf(stderr, "leakreport: %s writes text%s json%s\n", verb, pages ? "," : " or",
                pages ? " or html" : "");
    else if (report)
        fprintf(
            stderr,
            "leakreport: %s goes without --gen-suppressions, --baseline, --freed, --who, --owners, "
            "--stable and --anonymize\n",
            verb);
    return format && !report;
}

static int output_diff(struct arena *mem, struct options *options, const struct diff *diff,
                       bool incomplete)
{
    struct command_output output;

    command_begin_output(&output, mem, options, NULL);
    if (writes_json(options))
        diff_write_json(diff, output.stream);
    else if (writes_html(options))
        diff_write_html(diff, options->files.text[0], options->files.text[1], &options->view,
                        output.stream);
    else
        diff_write_text(diff, &options->view, output.stream);
    if (!command_end_output(&output, options, diff->of[CHANGE_NEW] > 0))
        return STATUS_UNUSABLE;
    if (!diff->of[CHANGE_NEW])
        return incomplete ? STATUS_INCOMPLETE : STATUS_GOOD;
    return options->error_exitcode ? (int)options->error_exitcode : STATUS_NEW;
}

int command_diff(struct options *options)
{
    struct binary_search_path search = command_search_path(options);
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct report_set old = report_set_begin(mem, options->view.show);
    struct report_set new = report_set_begin(mem, options->view.show);
    int status = STATUS_UNUSABLE;

    if (options->files.count != 2) {
        fputs("leakreport: diff takes two stores or JSON reports: diff OLD NEW\n", stderr);
    } else if (is_verb_compatible(options, "diff") &&
               read_report_set(&old, resolver, options, options->files.text[0]) &&
               read_report_set(&new, resolver, options, options->files.text[1])) {
        struct diff diff = diff_make(mem, &old, &new);

        status = output_diff(mem, options, &diff, new.incomplete);
    }
    report_set_end(&old);
    report_set_end(&new);
    resolve_end(resolver);
    arena_end(mem);
    return status;
}

/* ---- The command diff --survivors ------------------------------------------------------------ */

#define SURVIVOR_CHECKS 3

/* Checks that the three recordings are of one process, and that their leak checks were made in this
 * order. False: they are not, and a message says so. */
static bool are_successive_checks(const struct report_set *ledgers, const struct options *options)
{
    for (int i = 0; i < SURVIVOR_CHECKS; i++) {
        const char *path = options->files.text[i];

        if (ledgers[i].process_count != 1)
            fprintf(stderr, "leakreport: %s is about %zu processes: --survivors takes one\n", path,
                    ledgers[i].process_count);
        else if (!ledgers[i].processes[0].look)
            fprintf(
                stderr,
                "leakreport: %s has no look that somebody asked for: leakctl snapshot PID, then "
                "keep the store or a report (--format=json)\n",
                path);
        else if (!report_set_has_process(&ledgers[0], &ledgers[i].processes[0]))
            fprintf(stderr, "leakreport: %s and %s are about different processes\n",
                    options->files.text[0], path);
        else if (i && ledgers[i - 1].processes[0].look >= ledgers[i].processes[0].look)
            fprintf(stderr, "leakreport: %s is no later look than %s\n", path,
                    options->files.text[i - 1]);
        else
            continue;
        return false;
    }
    return true;
}

static bool read_checks(struct report_set *ledgers, const struct options *options)
{
    struct binary_search_path search = command_search_path(options);
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    bool good = true;

    for (int i = 0; i < SURVIVOR_CHECKS && good; i++)
        good = read_report_set(&ledgers[i], resolver, options, options->files.text[i]);
    resolve_end(resolver);
    arena_end(mem);
    return good && are_successive_checks(ledgers, options);
}

bool command_diff_survivors(struct options *options)
{
    static char names[SURVIVOR_CHECKS - 1][16];
    struct arena *mem = arena_begin();
    struct report_set ledgers[SURVIVOR_CHECKS];
    bool good = false;

    for (int i = 0; i < SURVIVOR_CHECKS; i++)
        ledgers[i] = report_set_begin(mem, options->view.show);
    if (options->files.count != SURVIVOR_CHECKS)
        fputs("leakreport: diff --survivors takes three looks at one process, the oldest first: A "
              "B C\n",
              stderr);
    else if (report_set_json_detect(options->files.text[SURVIVOR_CHECKS - 1]))
        fputs("leakreport: diff --survivors needs the store of the last look, not a report\n",
              stderr);
    else
        good = read_checks(ledgers, options);
    for (int i = 0; i + 1 < SURVIVOR_CHECKS && good; i++)
        snprintf(names[i], sizeof(names[i]), "#%" PRIu32, ledgers[i].processes[0].look);
    options->since = (struct time_window){.from = names[0], .until = names[1]};
    if (good)
        options->files.text[0] = options->files.text[SURVIVOR_CHECKS - 1];
    options->files.count = 1;
    for (int i = 0; i < SURVIVOR_CHECKS; i++)
        report_set_end(&ledgers[i]);
    arena_end(mem);
    return good;
}

/* ---- The command merge ----------------------------------------------------------------------- */

static int output_merge(struct arena *mem, struct options *options, struct report_set *report_set)
{
    struct merge merge = merge_make(report_set, options->build.group.order);
    bool matches = command_has_errors(options, &merge.sum.totals);
    struct command_output output;

    command_begin_output(&output, mem, options, NULL);
    if (writes_json(options))
        merge_write_json(&merge, &options->view, output.stream);
    else
        merge_write_text(&merge, &options->view, output.stream);
    if (!command_end_output(&output, options, matches))
        return STATUS_UNUSABLE;
    return matches                  ? (int)options->error_exitcode
           : report_set->incomplete ? STATUS_INCOMPLETE
                                    : STATUS_GOOD;
}

/* Merges all files; prints a message for each file that cannot be read, and leaves it out. Returns
 * the exit status. */
int command_merge(struct options *options)
{
    static const bool all[VERDICT_MAX] = {true, true, true, true, true, true, true};
    struct binary_search_path search = command_search_path(options);
    struct arena *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    struct report_set report_set = report_set_begin(mem, all);
    bool fits = is_verb_compatible(options, "merge");
    size_t read = 0;
    int status = STATUS_UNUSABLE;

    report_set.apart = true;
    for (size_t i = 0; fits && i < options->files.count; i++)
        read += read_report_set(&report_set, resolver, options, options->files.text[i]);
    if (read)
        status = output_merge(mem, options, &report_set);
    if (fits && read < options->files.count) {
        fprintf(stderr, "leakreport: merged %zu of %zu files: mend the others, or leave them out\n",
                read, options->files.count);
        status = STATUS_UNUSABLE;
    }
    report_set_end(&report_set);
    resolve_end(resolver);
    arena_end(mem);
    return status;
}
