/* csv.c - writes a row for each record, for spreadsheets and scripts; described in formats.h.
 *
 * The format is RFC 4180 with line feeds: texts are in quotes. Spreadsheets execute a text that
 * begins with = + - or @, and the program chooses the names, so such a text gets an apostrophe in
 * front.
 */
#include "symbolize/formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "leak_escape.h"

static const char head[] =
    "verdict,bytes,blocks,retained_bytes,kind,type,function,file,line,module,oldest_seconds,"
    "newest_seconds,growth_bytes_per_second,threads,signature,suppressed_by,program,pid,stack\n";

static void write_inside_quotes(const char *text, FILE *stream)
{
    while (*text) {
        char shown[LEAK_ESCAPE_SIZE];
        size_t length = leak_escape(text, shown);

        if (*text == '"')
            putc('"', stream);
        fputs(shown, stream);
        text += length;
    }
}

/* Writes a text and a comma; NULL = an empty cell. */
static void write_csv_text(const char *text, FILE *stream)
{
    if (text) {
        fputs(*text && strchr("=+-@", *text) ? "\"'" : "\"", stream);
        write_inside_quotes(text, stream);
        putc('"', stream);
    }
    putc(',', stream);
}

static void write_csv_number(bool known, uint64_t number, FILE *stream)
{
    if (known)
        fprintf(stream, "%" PRIu64, number);
    putc(',', stream);
}

/* Writes how many seconds before the end of the process the time was. */
static void write_csv_age(const struct process *process, uint64_t time_ns, FILE *stream)
{
    uint64_t end = process->until_ns;

    if (time_ns && end)
        fprintf(stream, "%.3f", end > time_ns ? (double)(end - time_ns) / 1e9 : 0);
    putc(',', stream);
}

static void write_csv_threads(const struct record *record, FILE *stream)
{
    for (size_t i = 0; i < record->thread_count; i++)
        fprintf(stream, "%sT%" PRIu32, i ? " " : "", record->threads[i].serial);
    fputs(record->more_threads ? " ...," : ",", stream);
}

static void write_csv_place(const struct record *record, FILE *stream)
{
    const struct frame *frame = record_title_frame(record);
    char buffer[FRAME_NAME_SIZE];

    write_csv_text(frame ? frame_name(frame, buffer) : NULL, stream);
    write_csv_text(frame ? frame->file : NULL, stream);
    write_csv_number(frame && frame->file && frame->line, frame ? frame->line : 0, stream);
    write_csv_text(frame ? frame->module : NULL, stream);
}

/* Writes the last cell, the stack: "main (shelf.c:71) > careless_customer (shelf.c:34)". */
static void write_csv_stack(const struct record *record, bool all_frames, FILE *stream)
{
    size_t first = all_frames ? 0 : frame_first_caller(record->frames, record->frame_count);

    putc('"', stream);
    for (size_t i = record->frame_count; i > first; i--) {
        const struct frame *frame = record->frames[i - 1];
        char buffer[FRAME_NAME_SIZE];

        fputs(i == record->frame_count ? "" : " > ", stream);
        write_inside_quotes(frame_name(frame, buffer), stream);
        if (!frame->file)
            continue;
        fputs(" (", stream);
        write_inside_quotes(base_name(frame->file), stream);
        fprintf(stream, ":%" PRIu32 ")", frame->line);
    }
    fputs("\"\n", stream);
}

static void write_csv_record(const struct process *process, const struct record *record,
                             const struct view *view, FILE *stream)
{
    bool grows = record_is_growing(record);

    write_csv_text(verdict_word[record->verdict], stream);
    write_csv_number(true, record->bytes, stream);
    write_csv_number(true, record->blocks, stream);
    write_csv_number(record->retained.blocks, record->retained.bytes, stream);
    write_csv_text(kind_word[record->kind], stream);
    write_csv_text(record->type_count ? record->types[0].type->name : NULL, stream);
    write_csv_place(record, stream);
    write_csv_age(process, record->first_ns, stream);
    write_csv_age(process, record->last_ns, stream);
    write_csv_number(grows, grows ? record->growth->bytes_per_second : 0, stream);
    write_csv_threads(record, stream);
    fprintf(stream, "\"%016" PRIx64 "\",", record->signature);
    write_csv_text(record->suppressed_by ? record->suppressed_by->text : NULL, stream);
    write_csv_text(process_name(process), stream);
    write_csv_number(process->pid, (uint64_t)process->pid, stream);
    write_csv_stack(record, view->all_frames, stream);
}

void csv_write(const struct report *report, const struct view *view, FILE *stream)
{
    fputs(head, stream);
    for (size_t i = 0; i < report->process_count; i++) {
        struct listing listing = {.process = &report->processes[i], .view = view};
        const struct record *record;

        while ((record = listing_next(&listing)))
            write_csv_record(listing.process, record, view, stream);
    }
}
