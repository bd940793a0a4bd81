/* compare.c - see compare.h. */
#include "symbolize/cli/compare.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/compare/diff.h"
#include "symbolize/view/report_set_json.h"
#include "symbolize/compare/merge.h"
#include "symbolize/cli/command.h"
#include "common/base/text.h"

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
                    process->store, term_text(module->path, strlen(module->path), 0).text, module->why);
    }
}

static bool read_store(struct ledger *ledger, struct resolver *resolver,
                       const struct options *options, const char *path)
{
    struct mem *own = arena_begin(); /* the ledger keeps what it needs: there may be many */
    struct report report = {.processes = arena_alloc(own, sizeof(struct process))};
    bool good = run_add_file(own, resolver, options, path, &report);

    if (good && ledger_add_process(ledger, &report.processes[0])) {
        warn_of_nameless(&report.processes[0]);
        if (report.processes[0].damaged)
            fprintf(stderr, "leakreport: %s is damaged: it counts as far as it can be read\n",
                    path);
    }
    arena_end(own);
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
                term_count(ledger->again - before, "process").text);
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
                  options->view.who || options->view.owners || options->build.stable ||
                  options->build.anonymous;
    bool format = writes_json(options) || options->format == formats_at(0);

    if (!format)
        fprintf(stderr, "leakreport: %s writes text or json\n", verb);
    else if (report)
        fprintf(
            stderr,
            "leakreport: %s goes without --gen-suppressions, --baseline, --freed, --who, --owners, "
            "--stable and --anonymize\n",
            verb);
    return format && !report;
}

static int write_diff(struct mem *mem, struct options *options, const struct diff *diff)
{
    struct run_output output;

    run_begin_output(&output, mem, options, NULL);
    if (writes_json(options))
        diff_write_json(diff, output.stream);
    else
        diff_write_text(diff, &options->view, output.stream);
    if (!run_end_output(&output, options, diff->of[CHANGE_NEW] > 0))
        return STATUS_UNUSABLE;
    if (!diff->of[CHANGE_NEW])
        return STATUS_GOOD;
    return options->error_exitcode ? options->error_exitcode : STATUS_NEW;
}

int compare_diff(struct options *options)
{
    struct binary_search_path search = run_search_path(options);
    struct mem *mem = arena_begin();
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
    arena_end(mem);
    return status;
}

/* ---- diff --survivors ------------------------------------------------------------------------ */

#define LOOKS 3

/* The three are of one process, and their looks follow each other. */
static bool check_looks(const struct ledger *ledgers, const struct options *options)
{
    for (int i = 0; i < LOOKS; i++) {
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
        else if (!ledger_knows(&ledgers[0], &ledgers[i].processes[0]))
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

static bool take_looks(struct ledger *ledgers, const struct options *options)
{
    struct binary_search_path search = run_search_path(options);
    struct mem *mem = arena_begin();
    struct resolver *resolver = resolve_begin(mem, &search);
    bool good = true;

    for (int i = 0; i < LOOKS && good; i++)
        good = read_ledger(&ledgers[i], resolver, options, options->files.text[i]);
    resolve_end(resolver);
    arena_end(mem);
    return good && check_looks(ledgers, options);
}

bool compare_survivors(struct options *options)
{
    static char names[LOOKS - 1][16];
    struct mem *mem = arena_begin();
    struct ledger ledgers[LOOKS];
    bool good = false;

    for (int i = 0; i < LOOKS; i++)
        ledgers[i] = ledger_begin(mem, options->view.show);
    if (options->files.count != LOOKS)
        fputs("leakreport: diff --survivors takes three looks at one process, the oldest first: A "
              "B C\n",
              stderr);
    else if (ledger_json_begins(options->files.text[LOOKS - 1]))
        fputs("leakreport: diff --survivors needs the store of the last look, not a report\n",
              stderr);
    else
        good = take_looks(ledgers, options);
    for (int i = 0; i + 1 < LOOKS && good; i++)
        snprintf(names[i], sizeof(names[i]), "#%" PRIu32, ledgers[i].processes[0].look);
    options->since = (struct since){.from = names[0], .until = names[1]};
    if (good)
        options->files.text[0] = options->files.text[LOOKS - 1];
    options->files.count = 1;
    for (int i = 0; i < LOOKS; i++)
        ledger_end(&ledgers[i]);
    arena_end(mem);
    return good;
}

/* ---- merge ----------------------------------------------------------------------------------- */

static int write_merge(struct mem *mem, struct options *options, struct ledger *ledger)
{
    struct merge merge = merge_make(ledger, options->build.group.order);
    bool matches = run_matches(options, &merge.sum.totals);
    struct run_output output;

    run_begin_output(&output, mem, options, NULL);
    if (writes_json(options))
        merge_write_json(&merge, &options->view, output.stream);
    else
        merge_write_text(&merge, &options->view, output.stream);
    if (!run_end_output(&output, options, matches))
        return STATUS_UNUSABLE;
    return matches ? options->error_exitcode : STATUS_GOOD;
}

/* What cannot be read is said and left out. */
int compare_merge(struct options *options)
{
    static const bool all[VERDICT_MAX] = {true, true, true, true, true, true, true};
    struct binary_search_path search = run_search_path(options);
    struct mem *mem = arena_begin();
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
    arena_end(mem);
    return status;
}
