/* memreport.c - writes the XML of LeakFinder; described in formats.h.
 *
 * LeakFinder writes a LEAK for each block, this module one for each record: size is the sum of the
 * blocks; requestID is the serial of the largest block (its number among the allocations of its
 * thread, from 1), 0 if unknown. Further attributes have the other data of the record. The offsets
 * from the start of a function or line, and the base address of a module, are unknown and left out.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <limits.h>
#include <time.h>

#include "symbolize/view/view.h"
#include "common/encode/encode.h"

static void number_attribute(FILE *stream, const char *name, uint64_t number)
{
    fprintf(stream, " %s=\"%" PRIu64 "\"", name, number);
}

static void write_memreport_frame(const struct frame *frame, const struct view *view, FILE *stream)
{
    char buffer[PATH_MAX];

    fputs("    <STACKENTRY", stream);
    escape_attribute(stream, "decl", frame->function ? frame->function : "?");
    if (frame->file)
        escape_attribute(stream, "srcfile",
                         source_map_path(&view->source, frame->file, buffer, sizeof(buffer)));
    if (frame->line)
        number_attribute(stream, "line", frame->line);
    escape_attribute(stream, "module", frame->module);
    if (frame->has_offset)
        fprintf(stream, " offset=\"0x%" PRIx64 "\"", frame->offset);
    fputs("/>\n", stream);
}

static void write_memreport_record(const struct process *process, const struct record *record,
                                   const struct view *view, FILE *stream)
{
    const char *callee = allocator_name(record->kind);

    fputs("  <LEAK", stream);
    number_attribute(stream, "requestID", record->sample_count ? record->samples[0].count : 0);
    number_attribute(stream, "size", record->bytes);
    number_attribute(stream, "blocks", record->blocks);
    escape_attribute(stream, "verdict", verdict_word[record->verdict]);
    fprintf(stream, " signature=\"%016" PRIx64 "\" pid=\"%" PRId32 "\"", record->signature,
            process->pid);
    if (record->suppressed_by)
        escape_attribute(stream, "suppressed_by", record->suppressed_by->text);
    fputs(">\n", stream);
    if (callee && (!record->frame_count || record->frames[0]->role != FRAME_ALLOCATOR))
        fprintf(stream, "    <STACKENTRY decl=\"%s\"/>\n", callee);
    for (size_t i = 0; i < record->frame_count; i++)
        write_memreport_frame(record->frames[i], view, stream);
    fputs("  </LEAK>\n", stream);
}

/* Writes the end time of the first process in the form of LeakFinder, in UTC. */
static void write_date(const struct report *report, FILE *stream)
{
    uint64_t ns = report->process_count ? report->processes[0].ended_ns : 0;
    time_t seconds = (time_t)(ns / 1000000000);
    char text[64];
    struct tm tm;

    if (ns && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof(text), " date=\"%m/%d/%Y\" time=\"%H:%M:%S\"", &tm))
        fputs(text, stream);
}

void memreport_write(const struct report *report, const struct view *view, FILE *stream)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<MEMREPORT", stream);
    write_date(report, stream);
    fputs(">\n", stream);
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];
        size_t end = report_omits_process(process, view) ? 0 : report_listed_end(process, view);

        for (size_t k = 0; k < end; k++)
            if (report_lists_record(&process->records[k], view))
                write_memreport_record(process, &process->records[k], view, stream);
    }
    fputs("</MEMREPORT>\n", stream);
}
