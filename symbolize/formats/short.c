/* short.c - writes one line for each finding; described in formats.h.
 *
 * Each line begins with its place, as compilers write it, so editors can jump there. Warnings come
 * first, the summary line is last.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "symbolize/text/text.h"
#include "symbolize/formats/findings.h"

static void write_program(const struct process *process, FILE *stream)
{
    const char *name = process->exe ? base_name(process->exe) : "a program";

    fputs(term_text(name, strlen(name), 0).text, stream);
    if (process->pid)
        fprintf(stream, " (pid %" PRId32 ")", process->pid);
    fputs(": ", stream);
}

static void write_short_finding(const struct process *process, const struct finding *finding,
                                const struct view *view, FILE *stream)
{
    const struct frame *frame = finding->frame;

    if (frame && frame->file)
        fprintf(stream, "%s: ", text_place(frame, view).text);
    else
        write_program(process, stream);
    text_style(view, stream, STYLE_BOLD);
    finding_summary(process, finding, view, stream);
    text_style(view, stream, STYLE_PLAIN);
    if (frame)
        fprintf(stream, " in %s", text_call(frame, view, 0).text);
    if (finding->has_signature)
        fprintf(stream, " [%016" PRIx64 "]", finding->signature);
    if (finding->suppressed_by)
        fputs(", suppressed", stream);
    putc('\n', stream);
}

static void write_short_process(const struct process *process, const struct view *view,
                                FILE *stream)
{
    char words[TEXT_WARNING_SIZE];
    struct finding finding = {.next = 0};
    size_t listed = 0, hidden = 0;

    for (size_t i = 0; text_warning_at(process, i, words); i++) {
        write_program(process, stream);
        fprintf(stream, "%s\n", term_text(words, strlen(words), 0).text);
    }
    while (finding_next(process, view, &finding)) {
        if (finding.suppressed_by && !view->suppressed)
            continue;
        if (view->top && listed >= view->top) {
            hidden++;
            continue;
        }
        listed++;
        write_short_finding(process, &finding, view, stream);
    }
    if (hidden) {
        write_program(process, stream);
        fprintf(stream, "%s (--top=0)\n", term_count(hidden, "more finding").text);
    }
}

void short_write(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count && !view->quiet; i++)
        if (finding_process_is_listed(report, i, view))
            write_short_process(&report->processes[i], view, stream);
    text_summary_of_all(report, stream);
}
