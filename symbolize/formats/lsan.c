/* lsan.c - writes LeakSanitizer's text; described in formats.h.
 *
 * LeakSanitizer has direct leaks (lost) and indirect ones. Blocks with other verdicts are no leaks
 * for LeakSanitizer, so a NOTE line has the sum of each such verdict, in words that no pattern for
 * leaks matches. A process without leaks has no report, as with LeakSanitizer.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "symbolize/view/view.h"
#include "symbolize/text/text.h"
#include "common/encode/encode.h"

/* ---- Writing leaks --------------------------------------------------------------------------- */

/* Writes a frame: "    #1 0x000000001166 in fill() /src/shelf.cc:12:5". */
static void write_lsan_frame(const struct frame *frame, size_t number, const struct view *view,
                             FILE *stream)
{
    char buffer[PATH_MAX];

    fprintf(stream, "    #%zu 0x%012" PRIx64, number, frame->has_offset ? frame->offset : 0);
    if (frame->function) {
        fputs(" in ", stream);
        escape_line(stream, frame->function);
    }
    if (frame->file) {
        putc(' ', stream);
        escape_line(stream, source_map_path(&view->source, frame->file, buffer, sizeof(buffer)));
        if (frame->line)
            fprintf(stream, ":%" PRIu32, frame->line);
        if (frame->line && frame->column)
            fprintf(stream, ":%" PRIu32, frame->column);
    } else if (frame->module) {
        fputs(" (", stream);
        escape_line(stream, frame->module);
        fprintf(stream, "+0x%" PRIx64 ")", frame->has_offset ? frame->offset : 0);
    }
    putc('\n', stream);
}

static void write_lsan_record(const struct record *record, const struct view *view, FILE *stream)
{
    const char *callee = allocator_name(record->kind);
    size_t number = 0;

    fprintf(stream, "%s leak of %" PRIu64 " byte(s) in %" PRIu64 " object(s) allocated from:\n",
            record->verdict == VERDICT_LOST ? "Direct" : "Indirect", record->bytes, record->blocks);
    if (callee && (!record->frame_count || record->frames[0]->role != FRAME_ALLOCATOR))
        fprintf(stream, "    #%zu 0x%012x in %s\n", number++, 0, callee);
    for (size_t i = 0; i < record->frame_count; i++)
        write_lsan_frame(record->frames[i], number++, view, stream);
    putc('\n', stream);
}

/* Says whether the record is listed as a leak. Indirect leaks are always listed together with
 * direct leaks. */
static bool is_leak(const struct record *record, const struct view *view)
{
    return (record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT) &&
           (view->show[VERDICT_LOST] || view->show[VERDICT_INDIRECT]) &&
           (!record->suppressed_by || view->suppressed);
}

static void write_lsan_leaks(const struct process *process, const struct view *view, FILE *stream)
{
    size_t listed = 0;

    putc('\n', stream);
    for (int i = 0; i < 65; i++)
        putc('=', stream);
    fprintf(stream, "\n==%" PRId32 "==ERROR: LeakSanitizer: detected memory leaks\n\n",
            process->pid);
    for (size_t i = 0; i < process->record_count && (!view->top || listed < view->top); i++)
        if (is_leak(&process->records[i], view)) {
            write_lsan_record(&process->records[i], view, stream);
            listed++;
        }
}

/* ---- Writing notes, and the report ----------------------------------------------------------- */

static void write_note(const struct process *process, const struct verdict_total *total,
                       const char *words, FILE *stream)
{
    if (total->records)
        fprintf(stream,
                "==%" PRId32 "==NOTE: libleak: %" PRIu64 " bytes in %" PRIu64 " blocks %s\n",
                process->pid, total->bytes, total->blocks, words);
}

static void write_notes(const struct process *process, const struct view *view, FILE *stream)
{
    char words[TEXT_WARNING_SIZE];

    for (size_t i = 0; text_warning_at(process, i, words); i++) {
        fprintf(stream, "==%" PRId32 "==WARNING: libleak: ", process->pid);
        escape_line(stream, words);
        putc('\n', stream);
    }
    for (int v = 0; v < VERDICT_MAX; v++)
        if (v != VERDICT_LOST && v != VERDICT_INDIRECT && view->show[v])
            write_note(process, &process->totals.of[v], verdict_words[v], stream);
    if (process->totals.errors)
        fprintf(stream, "==%" PRId32 "==NOTE: libleak: %" PRIu64 " errors besides leaks\n",
                process->pid, process->totals.errors);
}

static void write_lsan_rules(const struct process *process, FILE *stream)
{
    static const char line[] = "-----------------------------------------------------\n";

    if (!process->rule_count)
        return;
    fprintf(stream, "%sSuppressions used:\n  count      bytes template\n", line);
    for (size_t i = 0; i < process->rule_count; i++) {
        const struct rule_use *use = &process->rules[i];
        const char *text = use->rule->text;

        fprintf(stream, "%7" PRIu64 " %10" PRIu64 " ", use->total.blocks, use->total.bytes);
        escape_line(stream, strncmp(text, "leak:", 5) == 0 ? text + 5 : text);
        putc('\n', stream);
    }
    fprintf(stream, "%s\n", line);
}

static void write_lsan_process(const struct process *process, const struct view *view, FILE *stream)
{
    const struct verdict_total *lost = &process->totals.of[VERDICT_LOST];
    const struct verdict_total *indirect = &process->totals.of[VERDICT_INDIRECT];
    bool leaks = lost->records || indirect->records;

    for (size_t i = 0; i < process->record_count && view->suppressed; i++)
        leaks |= is_leak(&process->records[i], view);
    if (!view->quiet) {
        write_notes(process, view, stream);
        if (leaks)
            write_lsan_leaks(process, view, stream);
        write_lsan_rules(process, stream);
    }
    if (lost->records || indirect->records)
        fprintf(stream,
                "SUMMARY: LeakSanitizer: %" PRIu64 " byte(s) leaked in %" PRIu64
                " allocation(s).\n",
                add_saturating(lost->bytes, indirect->bytes),
                add_saturating(lost->blocks, indirect->blocks));
}

void lsan_write(const struct report *report, const struct view *view, FILE *stream)
{
    for (size_t i = 0; i < report->process_count; i++)
        if (!report_omits_process(&report->processes[i], view))
            write_lsan_process(&report->processes[i], view, stream);
}
