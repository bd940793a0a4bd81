/* text.c - the report for people; see text.h.
 *
 * Each process: a headline, its worst records, what was seen and what was not, the next command.
 * Processes that show the same are told once; those that left nothing, and children that only
 * lived from fork to exec, are counted. "Not freed" is never called a leak, and silence is never
 * called clean; what hangs under a lost record is told there.
 */
#include "symbolize/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/records/sampling_error.h"
#include "symbolize/text/text_source_root.h"
#include "symbolize/text/text_blocks.h"
#include "symbolize/text/text_by.h"
#include "symbolize/text/text_crash.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_growing.h"
#include "symbolize/text/text_head.h"
#include "symbolize/text/text_list.h"
#include "symbolize/text/text_leak_check.h"
#include "symbolize/text/text_bad_frees.h"
#include "symbolize/text/text_owners.h"
#include "symbolize/text/text_recent.h"
#include "symbolize/text/text_resources.h"
#include "symbolize/text/text_coverage.h"
#include "symbolize/text/text_summary.h"
#include "symbolize/text/text_suppressed.h"
#include "symbolize/text/text_who.h"

#define AGAIN_COLUMNS 240 /* of a command line worth repeating: three lines */

static bool is_estimated(const struct process *process)
{
    return process->sample > 1;
}

static bool has_records(const struct process *process, const struct view *view)
{
    for (int v = 0; v < VERDICT_MAX; v++)
        if ((view->show[v] || (v == VERDICT_INDIRECT && view->show[VERDICT_LOST])) &&
            process->totals.of[v].records)
            return true;
    return view->suppressed && process->suppressed.records;
}

/* Reachable at a look that was not the last thing to happen: who knows. */
static bool is_open(const struct process *process)
{
    return process->totals.of[VERDICT_REACHABLE].records && process->look && !process->look->last;
}

static bool is_clean(const struct process *process, const struct view *view)
{
    return !is_open(process) && !has_records(process, view) && !text_saw_nothing(process) &&
           !process->damaged && !process->totals.errors && !process->totals.growing &&
           !process_has_resource_leaks(process);
}

static void write_warning(const struct process *process, const struct view *view, FILE *stream)
{
    if (!text_saw_nothing(process))
        return;
    text_style(view, stream, STYLE_WARNING);
    fputs("WARNING: 0 allocations seen: libleak saw nothing of this program.\n", stream);
    text_style(view, stream, STYLE_PLAIN);
    fputs("It says nothing about its heap: statically linked, or with a malloc of its own?\n",
          stream);
}

/* Clean, passing and repeated processes are only counted; a single process always speaks. */
static bool is_listed(const struct report *report, size_t i, const struct view *view)
{
    const struct process *process = &report->processes[i];

    return report->process_count == 1 ||
           (process->alike == i && !is_clean(process, view) && !report_omits_process(process, view));
}

static void write_when(const struct process *process, const struct view *view, FILE *stream)
{
    char *when = view->when_told ? text_list_when(process, view) : NULL;

    if (when)
        fprintf(stream, "All these blocks were allocated%s.\n", when);
    free(when);
}

/* ---- Coverage -------------------------------------------------------------------------------- */

static bool is_same_module(const struct blind_module *a, const struct blind_module *b)
{
    return strcmp(a->path, b->path) == 0 && !a->build_id == !b->build_id &&
           (!a->build_id || strcmp(a->build_id, b->build_id) == 0);
}

/* Once per module, however many processes have it; a process without records misses no lines. */
static bool said_before(const struct report *report, size_t process,
                        const struct blind_module *module, const struct view *view)
{
    for (size_t i = 0; i < process; i++)
        if (is_listed(report, i, view) && has_records(&report->processes[i], view))
            for (size_t k = 0; k < report->processes[i].blind_count; k++)
                if (is_same_module(&report->processes[i].blind[k], module))
                    return true;
    return false;
}

static void write_blind(const struct report *report, size_t at, const struct view *view,
                        FILE *stream)
{
    const struct process *process = &report->processes[at];

    for (size_t i = 0; i < process->blind_count; i++) {
        const struct blind_module *module = &process->blind[i];

        if (!has_records(process, view) && !view->verbose)
            return;
        if ((module->runtime && !view->verbose) || said_before(report, at, module, view))
            continue;
        fprintf(stream, "%s: %s", term_text(module->path, strlen(module->path), 0).text, module->why);
        if (module->build_id)
            fprintf(stream, "\n  (build-id %s)", module->build_id);
        if (module->remedy)
            fprintf(stream, ":\n  %s", module->remedy);
        putc('\n', stream);
    }
}

static void write_untracked(const struct untracked *untracked, const char *where, FILE *stream)
{
    fprintf(stream, "Not tracked%s: %s%s %s.\n", where, untracked->estimated ? "~" : "",
            term_number(untracked->count).text, untracked->words);
}

/* What processes that are only counted could not track: "nothing is left" must not hide it. */
static void write_untracked_elsewhere(const struct report *report, const struct view *view,
                                      FILE *stream)
{
    struct untracked sums[LEAK_UNTRACKED_MAX] = {{0}};
    size_t count = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->untracked_count && !is_listed(report, i, view); k++) {
            size_t at = 0;

            while (at < count && strcmp(sums[at].name, process->untracked[k].name) != 0)
                at++;
            if (at == LEAK_UNTRACKED_MAX)
                continue;
            if (at == count)
                sums[count++] = (struct untracked){.name = process->untracked[k].name,
                                                   .words = process->untracked[k].words};
            sums[at].estimated |= process->untracked[k].estimated;
            sums[at].count = add_saturating(sums[at].count, process->untracked[k].count);
        }
    }
    for (size_t i = 0; i < count; i++)
        write_untracked(&sums[i], " in processes not listed", stream);
}

/* What nobody has to mend, in a line each. */
static void write_unlisted(const struct process *process, const struct view *view, FILE *stream)
{
    static const enum verdict quiet[] = {VERDICT_REACHABLE, VERDICT_RUNTIME};

    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++) {
        const struct verdict_total *total = &process->totals.of[quiet[i]];

        if (total->records && !view->show[quiet[i]] &&
            (quiet[i] != VERDICT_RUNTIME || view->verbose))
            fprintf(stream, "%s %s (--show=%s).\n",
                    estimate_bytes(total->bytes, process->errors[quiet[i]].bytes).text,
                    verdict_words[quiet[i]], verdict_word[quiet[i]]);
    }
}

static void write_coverage(const struct report *report, size_t at, const struct view *view,
                           FILE *stream)
{
    const struct process *process = &report->processes[at];

    write_when(process, view, stream);
    text_seen(process, view, stream);
    text_look(process, view, stream);
    write_unlisted(process, view, stream);
    text_suppressed(process, view, stream);
    for (size_t i = 0; i < process->untracked_count; i++)
        write_untracked(&process->untracked[i], "", stream);
    write_blind(report, at, view, stream);
    for (size_t i = 0; i < process->note_count; i++) {
        const char *note = process->notes[i];

        fprintf(stream, "Note: %s.\n", term_text(note, strlen(note), 0).text);
    }
}

/* What shows more of a process, NULL when there is no more. */
static const char *next_option(const struct process *process, const struct view *view)
{
    size_t shown = text_list_count(process, view);

    if (!shown && process_has_leaks(process))
        return "--all";
    if (!shown && process->totals.of[VERDICT_REACHABLE].records)
        return "--show=reachable";
    if (!shown && process->suppressed.records)
        return "--show-suppressed";
    if (!shown && process->resource_count && !view->verbose)
        return "-v";
    if (!shown)
        return process->totals.of[VERDICT_RUNTIME].records ? "--show=runtime" : NULL;
    if (view->top && shown > view->top)
        return "--top=0";
    return view->all_frames ? "--format=json" : "--all-frames";
}

static void write_next(const struct process *process, const struct view *view, FILE *stream)
{
    const char *option = next_option(process, view);

    if (option)
        fprintf(stream, "Next: leakreport %s %s\n", option,
                process->store ? term_shell_word(process->store).text : "STORE");
}

/* One command for all processes, when it is the program again. */
static void write_again(const struct report *report, const struct view *view, FILE *stream)
{
    const char *option = NULL;
    struct shown command = term_text(view->again, strlen(view->again), 0);

    for (size_t i = 0; i < report->process_count; i++) {
        const char *more = next_option(&report->processes[i], view);

        if (is_listed(report, i, view) && more && (!option || strcmp(more, "--top=0") == 0))
            option = more;
    }
    if (!option)
        return;
    if (command.columns > AGAIN_COLUMNS || strcmp(command.text, view->again) != 0)
        fprintf(stream, "Next: the same with leakrun %s\n", option);
    else
        fprintf(stream, "Next: leakrun %s %s\n", option, command.text);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void write_pids(const struct report *report, size_t alike, FILE *stream)
{
    size_t count = 0;

    for (size_t i = alike + 1; i < report->process_count; i++)
        count += report->processes[i].alike == alike;
    if (!count)
        return;
    fprintf(stream, "The same in %s:", term_count(count, "more process").text);
    count = 0;
    for (size_t i = alike + 1; i < report->process_count && count < 8; i++)
        if (report->processes[i].alike == alike)
            fprintf(stream, "%s %" PRId32, count++ ? "," : " pid", report->processes[i].pid);
    fputs(count == 8 ? " ...\n" : "\n", stream);
}

static void write_process_so(const struct report *report, size_t i, const struct view *view,
                             FILE *stream)
{
    const struct process *process = &report->processes[i];
    bool alone = report->process_count == 1;

    text_head(process, !alone, view, stream);
    write_warning(process, view, stream);
    text_crash(process, view, stream);
    text_mistakes(process, view, stream);
    text_list(process, view, stream);
    text_growing(process, view, text_list_has, stream);
    text_resources(process, view, stream);
    text_threads(process, view, stream);
    write_coverage(report, i, view, stream);
    write_pids(report, i, stream);
    if (!view->again)
        write_next(process, view, stream);
    else if (alone)
        write_again(report, view, stream);
    if (!alone)
        text_summary(process->pid, &process->totals, stream);
    if (!alone || view->terse < 3)
        putc('\n', stream);
}

/* At most so many records, and the report is to fit a screen, when it can. */
#define FEW 5
#define SCREEN 25 /* lines */

/* The report as a text; free(3) it. */
static char *process_text(const struct report *report, size_t i, const struct view *view)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    write_process_so(report, i, view, stream);
    fclose(stream);
    return text;
}

static size_t lines_of(const char *text)
{
    size_t lines = 1; /* the summary, which comes later */

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Who asked for more gets it all. */
static bool wants_more(const struct view *view)
{
    return view->verbose || view->all_frames || view->suppressed || view->content;
}

static void write_process(const struct report *report, size_t i, const struct view *view,
                          FILE *stream)
{
    const struct process *process = &report->processes[i];
    bool few = text_list_count(process, view) + process->mistake_count <= FEW;
    char *when = wants_more(view) ? NULL : text_list_when(process, view), *text = NULL;
    struct view fit = *view;

    fit.when_told = when != NULL;
    free(when);
    if (few && !wants_more(view))
        for (fit.terse = 0;; fit.terse++) {
            text = process_text(report, i, &fit);
            if (!text || view->written + lines_of(text) <= SCREEN)
                break;
            free(text);
            text = NULL;
            if (fit.terse == TEXT_TERSEST) { /* it does not fit anyhow */
                fit.terse = TEXT_BRIEF;
                break;
            }
        }
    if (text)
        fputs(text, stream);
    else
        write_process_so(report, i, &fit, stream);
    free(text);
}

/* Processes that are only counted, and what of. */
struct unlisted {
    size_t clean, passing;
    size_t only_crashes; /* were recorded of these, and there was none */
    size_t disabled;     /* in these detection was never enabled */
    bool sampled, reachable, suppressed;
};

static void count_unlisted(const struct process *process, const struct view *view,
                           struct unlisted *unlisted)
{
    if (!is_clean(process, view)) {
        unlisted->passing += report_omits_process(process, view);
        return;
    }
    if (process->crash_only) {
        unlisted->only_crashes++;
        return;
    }
    if (process->never_enabled) {
        unlisted->disabled++;
        return;
    }
    unlisted->clean++;
    unlisted->sampled |= is_estimated(process);
    unlisted->reachable |=
        process->totals.of[VERDICT_REACHABLE].records != 0 || process->resource_count != 0;
    unlisted->suppressed |= process->suppressed.records != 0;
}

static void write_unlisted_processes(const struct unlisted *unlisted, FILE *stream)
{
    struct shown more = term_count(unlisted->clean, "more process");

    if (unlisted->passing)
        fprintf(stream, "Not listed: %s between fork and exec (-v shows them).\n",
                term_count(unlisted->passing, "process").text);
    if (unlisted->only_crashes)
        fprintf(stream, "No crash in %s, of which nothing else is known (crash=only).\n",
                term_count(unlisted->only_crashes, "more process").text);
    if (unlisted->disabled)
        fprintf(stream, "Detection was never enabled in %s.\n",
                term_count(unlisted->disabled, "more process").text);
    if (unlisted->clean && unlisted->suppressed)
        fprintf(stream, "Nothing but what is suppressed is lost in %s.\n", more.text);
    else if (unlisted->clean && unlisted->reachable)
        fprintf(stream, "Nothing is lost in %s.\n", more.text);
    else if (unlisted->clean)
        fprintf(stream, "%s is left of %s.\n",
                unlisted->sampled ? "No sample (option sample=)" : "Nothing", more.text);
}

static void write_report(const struct report *report, const struct view *asked, FILE *stream)
{
    struct unlisted unlisted = {0};
    char buffer[PATH_MAX];
    const char *base = text_base(report, asked, buffer);
    struct view based = *asked;
    const struct view *view = &based;

    if (base) {
        based.relative = base;
        based.written = 1;
        fprintf(stream, "Sources below %s:\n", term_text(base, strlen(base), 0).text);
    }

    for (size_t i = 0; i < report->process_count; i++)
        if (is_listed(report, i, view))
            write_process(report, i, view, stream);
        else
            count_unlisted(&report->processes[i], view, &unlisted);
    write_unlisted_processes(&unlisted, stream);
    write_untracked_elsewhere(report, view, stream);
    text_expired_rules(report, view, stream);
    text_unused_rules(report, view, stream);
    if (view->again && report->process_count > 1)
        write_again(report, view, stream);
}

void text_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct totals totals = report_totals(report);

    if (view->quiet)
        ;
    else if (view->freed)
        text_recent(report, view, stream);
    else if (view->who)
        text_who(report, view, stream);
    else if (view->by)
        text_by(report, view, stream);
    else if (view->blocks)
        text_blocks(report, view, stream);
    else if (view->owners)
        text_owners(report, view, stream);
    else
        write_report(report, view, stream);
    text_summary(report->process_count ? report->processes[0].pid : 0, &totals, stream);
}

void text_write_full(const struct report *report, const struct view *view, FILE *stream)
{
    struct view full = *view;

    full.all_frames = full.verbose = full.apart = full.exact = true;
    full.relative = NULL;
    text_write(report, &full, stream);
}
