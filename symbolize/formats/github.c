/* github.c - writes workflow commands for GitHub; described in formats.h.
 *
 * One line is one annotation: "::error file=F,line=L,title=T::MESSAGE", with the text report as the
 * message. GitHub shows ten annotations of each level and drops the others silently, so this writer
 * stops after ten, and its last notice has the number of the others. The format "markdown" has all
 * findings.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/text/text.h"
#include "common/encode/encode.h"
#include "symbolize/formats/findings.h"
#include "common/base/term_text.h"

#define SHOWN 10 /* annotations of each level that GitHub shows */

static const struct {
    const char *command, *word;
    uint64_t limit;
} levels[] = {
    [FINDING_ERROR] = {"error", "more error", SHOWN},
    [FINDING_WARNING] = {"warning", "more warning", SHOWN},
    /* one of the ten notices is reserved for the number of findings that were not written */
    [FINDING_NOTICE] = {"notice", "more notice", SHOWN - 1},
};
#define LEVELS (sizeof(levels) / sizeof(*levels))

struct writing {
    const struct view *view;
    FILE *stream;
    uint64_t seen[LEVELS]; /* number of findings of each level, written or not */
    struct {
        uint64_t signature;
        const char *type;
    } written[LEVELS * SHOWN];
    size_t written_count;
};

/* Says whether another process had the finding, too, and it was written for that process: only a
 * few annotations are shown, so each finding is written once. */
static bool is_already_written(const struct writing *writing, const struct finding *finding)
{
    for (size_t i = 0; i < writing->written_count; i++)
        if (finding->has_signature && writing->written[i].signature == finding->signature &&
            strcmp(writing->written[i].type, finding->type) == 0)
            return true;
    return false;
}

/* Counts a finding. True: GitHub will show the annotation. */
static bool reserve_annotation(struct writing *writing, enum finding_level level)
{
    return writing->seen[level]++ < levels[level].limit;
}

static void write_github_place(const struct writing *writing, const struct frame *frame)
{
    char buffer[PATH_MAX];

    if (!frame || !frame->file)
        return;
    fputs("file=", writing->stream);
    escape_command(writing->stream,
                   report_display_path(writing->view, frame->file, buffer, sizeof(buffer)), true);
    if (frame->line)
        fprintf(writing->stream, ",line=%" PRIu32, frame->line);
    if (frame->line && frame->column)
        fprintf(writing->stream, ",col=%" PRIu32, frame->column);
    putc(',', writing->stream);
}

static void write_github_part(const struct writing *writing, const struct process *process,
                              const struct finding *finding, finding_writer *write, bool property)
{
    char *text = finding_string(write, process, finding, writing->view);
    size_t length = text ? strlen(text) : 0;

    if (length && text[length - 1] == '\n')
        text[length - 1] = 0;
    if (text)
        escape_command(writing->stream, text + strspn(text, "\n"), property);
    free(text);
}

static void write_github_finding(struct writing *writing, const struct process *process,
                                 const struct finding *finding)
{
    enum finding_level level = finding->suppressed_by ? FINDING_NOTICE : finding->level;

    if (is_already_written(writing, finding) || !reserve_annotation(writing, level))
        return;
    writing->written[writing->written_count].signature = finding->signature;
    writing->written[writing->written_count++].type = finding->type;
    fprintf(writing->stream, "::%s ", levels[level].command);
    write_github_place(writing, finding->frame);
    fputs("title=", writing->stream);
    write_github_part(writing, process, finding, finding_summary, true);
    fputs("::", writing->stream);
    write_github_part(writing, process, finding, finding_text, false);
    putc('\n', writing->stream);
}

static void write_warnings(struct writing *writing, const struct process *process)
{
    char words[TEXT_WARNING_SIZE];

    for (size_t i = 0; text_warning_at(process, i, words); i++) {
        if (!reserve_annotation(writing, FINDING_WARNING))
            continue;
        fputs("::warning title=libleak::", writing->stream);
        if (process->exe)
            escape_command(writing->stream, base_name(process->exe), false);
        fprintf(writing->stream, " (pid %" PRId32 "): ", process->pid);
        escape_command(writing->stream, words, false);
        putc('\n', writing->stream);
    }
}

static void write_github_process(struct writing *writing, const struct process *process)
{
    struct finding finding = {.next = 0};
    size_t listed = 0;

    write_warnings(writing, process);
    while (finding_next(process, writing->view, &finding))
        if (!finding.suppressed_by || writing->view->suppressed) {
            if (writing->view->top && finding.has_signature && listed++ >= writing->view->top)
                continue;
            write_github_finding(writing, process, &finding);
        }
}

static void write_github_rest(const struct writing *writing)
{
    const char *join = "::notice title=libleak::";

    for (size_t i = 0; i < LEVELS; i++)
        if (writing->seen[i] > levels[i].limit) {
            fprintf(writing->stream, "%s%s", join,
                    term_count(writing->seen[i] - levels[i].limit, levels[i].word).text);
            join = ", ";
        }
    if (*join == ',')
        fputs(" (--format=markdown has all)\n", writing->stream);
}

/* Writes the sums of all processes, for the option --quiet. */
static void write_github_sums(const struct report *report, FILE *stream)
{
    struct totals totals = report_totals(report);
    const char *join = "::notice title=libleak::";

    for (int v = 0; v < VERDICT_MAX; v++)
        if (totals.of[v].records) {
            fprintf(stream, "%s%s %s", join, term_size(totals.of[v].bytes).text, verdict_words[v]);
            join = ", ";
        }
    if (totals.errors) {
        fprintf(stream, "%s%s", join, term_count(totals.errors, "error").text);
        join = ", ";
    }
    if (*join == ',')
        putc('\n', stream);
}

void github_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.view = view, .stream = stream};

    if (view->quiet) {
        write_github_sums(report, stream);
        return;
    }
    for (size_t i = 0; i < report->process_count; i++)
        if (finding_process_is_listed(report, i, view))
            write_github_process(&writing, &report->processes[i]);
    write_github_rest(&writing);
}
