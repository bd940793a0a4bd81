/* markdown.c - writes Markdown for GitHub; described in formats.h.
 *
 * Each process with findings has a table of the findings, and below it their stacks, folded.
 * Processes without findings are only counted. GitHub limits the summary of a job to a megabyte:
 * stacks may use half of that.
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

#define ROOM ((size_t)512 << 10) /* most bytes of all stacks in the summary */
#define NAME_COLUMNS 60          /* most columns of a function in the table */

struct writing {
    const struct report *report;
    const struct view *view;
    FILE *stream;
    size_t used; /* bytes of the stacks that were written */
};

/* Finds the next finding of a process to list. listed: counts the listed findings. False: there are
 * no more, or view->top findings are listed. */
static bool next_listed_finding(const struct writing *writing, const struct process *process,
                                struct finding *finding, size_t *listed)
{
    while (finding_next(process, writing->view, finding)) {
        if (finding->suppressed_by && !writing->view->suppressed)
            continue;
        (*listed)++;
        return !writing->view->top || *listed <= writing->view->top;
    }
    return false;
}

static size_t count_all(const struct writing *writing, const struct process *process)
{
    struct finding finding = {.next = 0};
    size_t count = 0;

    while (finding_next(process, writing->view, &finding))
        count += !finding.suppressed_by || writing->view->suppressed;
    return count;
}

/* ---- Writing the table of findings ----------------------------------------------------------- */

static void write_markdown_place(const struct writing *writing, const struct frame *frame)
{
    char buffer[PATH_MAX], *text = NULL;
    size_t size;
    FILE *stream;

    escape_code(writing->stream, text_function_name(frame, writing->view, NAME_COLUMNS).text);
    stream = frame->file ? open_memstream(&text, &size) : NULL;
    if (!stream)
        return;
    fputs(report_display_path(writing->view, frame->file, buffer, sizeof(buffer)), stream);
    if (frame->line)
        fprintf(stream, ":%" PRIu32, frame->line);
    fclose(stream);
    putc(' ', writing->stream);
    escape_code(writing->stream, text);
    free(text);
}

static void write_markdown_row(const struct writing *writing, const struct process *process,
                               const struct finding *finding)
{
    static const char *const marks[] = {":red_circle:", ":warning:", ":information_source:"};
    FILE *stream = writing->stream;

    fprintf(stream, "| %s | ", finding->suppressed_by ? ":mute:" : marks[finding->level]);
    finding_summary(process, finding, writing->view, stream);
    fputs(" | ", stream);
    if (finding->frame)
        write_markdown_place(writing, finding->frame);
    fputs(" | ", stream);
    if (finding->has_signature)
        fprintf(stream, "`%016" PRIx64 "`", finding->signature);
    fputs(" |\n", stream);
}

static void write_table(const struct writing *writing, const struct process *process)
{
    struct finding finding = {.next = 0};
    size_t listed = 0, all = count_all(writing, process);

    fputs("| | what | where | signature |\n|---|---|---|---|\n", writing->stream);
    while (next_listed_finding(writing, process, &finding, &listed))
        write_markdown_row(writing, process, &finding);
    if (writing->view->top && all > writing->view->top)
        fprintf(writing->stream, "\n... and %s (--top=0 lists all).\n",
                term_count(all - writing->view->top, "more finding").text);
}

/* ---- Writing the stacks of findings ---------------------------------------------------------- */

static void write_markdown_text(struct writing *writing, const struct process *process,
                                const struct finding *finding)
{
    char *text = finding_string(finding_text, process, finding, writing->view);

    if (!text)
        return;
    escape_xml(writing->stream, text + strspn(text, "\n"));
    putc('\n', writing->stream);
    writing->used += strlen(text);
    free(text);
}

static void write_texts(struct writing *writing, const struct process *process)
{
    struct finding finding = {.next = 0};
    size_t listed = 0;

    fputs("\n<details><summary>Stacks</summary>\n\n<pre>\n", writing->stream);
    while (writing->used < ROOM && next_listed_finding(writing, process, &finding, &listed))
        write_markdown_text(writing, process, &finding);
    if (writing->used >= ROOM)
        fputs("... the text report has the rest.\n", writing->stream);
    fputs("</pre>\n\n</details>\n\n", writing->stream);
}

/* ---- Writing processes, and the report ------------------------------------------------------- */

static void write_markdown_sums(const struct process *process, FILE *stream)
{
    const char *join = "";
    char words[TEXT_WARNING_SIZE];

    for (int v = 0; v < VERDICT_MAX; v++)
        if (process->totals.of[v].records && v != VERDICT_REACHABLE && v != VERDICT_RUNTIME) {
            fputs(join, stream);
            text_verdict_total(process, (enum verdict)v, stream);
            fprintf(stream, " %s", verdict_words[v]);
            join = ", ";
        }
    if (process->totals.errors)
        fprintf(stream, "%s%s", join, term_count(process->totals.errors, "error").text);
    else if (!*join)
        fputs(text_warning_at(process, 0, words) ? "no known leaks" : "no leaks", stream);
}

static void write_markdown_process(struct writing *writing, size_t i, bool findings)
{
    const struct process *process = &writing->report->processes[i];
    FILE *stream = writing->stream;
    char words[TEXT_WARNING_SIZE];
    const char *exe = process->argc ? process->argv[0] : process->exe;

    fputs("### libleak: ", stream);
    escape_code(stream, exe ? exe : "unknown");
    if (process->pid)
        fprintf(stream, " (pid %" PRId32 ")", process->pid);
    fputs(": ", stream);
    write_markdown_sums(process, stream);
    fputs("\n\n", stream);
    for (size_t k = 0; text_warning_at(process, k, words); k++) {
        fputs(":warning: ", stream);
        fputs(words, stream);
        fputs("\n\n", stream);
    }
    if (findings && !writing->view->quiet) {
        write_table(writing, process);
        write_texts(writing, process);
    }
}

void markdown_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {report, view, stream, 0};
    char words[TEXT_WARNING_SIZE];
    size_t clean = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        bool findings = count_all(&writing, process) != 0;

        if (report_omits_process(process, view))
            continue;
        if (!findings && !text_warning_at(process, 0, words))
            clean++;
        else if (finding_process_is_listed(report, i, view))
            write_markdown_process(&writing, i, findings);
    }
    if (clean)
        fprintf(stream, "No leaks in %s.\n", term_count(clean, "process").text);
}
