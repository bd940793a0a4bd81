/* csv.c - see csv.h. */
#include "top/csv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/text.h"

void csv_write_head(FILE *stream)
{
    fputs("time,pid,signature,kind,function,file,line,module,bytes,blocks,allocations,frees,"
          "delta_bytes,allocs_per_second,frees_per_second,first,last,growth,"
          "growth_bytes_per_second\n",
          stream);
}

/* With the comma before it. */
static void write_text(const char *text, FILE *stream)
{
    fputs(",\"", stream);
    for (; text && *text; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void write_time(uint64_t ns, FILE *stream)
{
    char text[TIME_TEXT_SIZE];
    const char *iso = time_format_iso(ns, text);

    fprintf(stream, ",%s", iso ? iso : "");
}

static void write_frame(const struct frame *frame, FILE *stream)
{
    write_text(frame ? frame->function : NULL, stream);
    write_text(frame ? frame->file : NULL, stream);
    if (frame && frame->line)
        fprintf(stream, ",%" PRIu32, frame->line);
    else
        fputs(",", stream);
    write_text(frame ? frame->module : NULL, stream);
}

static void write_site(const struct glance *glance, size_t i, FILE *stream)
{
    const struct row *row = &glance->rows[i];
    const struct counted *counts = &glance->counts[i];
    char text[TIME_TEXT_SIZE];
    const char *time = time_format_iso(glance->time_ns, text);

    fprintf(stream, "%s,%d,%016" PRIx64, time ? time : "", glance->pid, row->name->signature);
    write_text(kind_word[row->name->kind], stream);
    write_frame(row->name->title, stream);
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, counts->bytes, counts->blocks,
            counts->allocs, counts->frees);
    if (row->change.known)
        fprintf(stream, ",%" PRId64 ",%.1f,%.1f", row->change.bytes, row->change.allocs,
                row->change.frees);
    else
        fputs(",,,", stream);
    write_time(row->first_ns, stream);
    write_time(row->last_ns, stream);
    if (row->growth)
        fprintf(stream, ",%s,%" PRIu64 "\n", growth_word[row->growth->verdict],
                row->growth->bytes_per_second);
    else
        fputs(",,\n", stream);
}

void csv_write(const struct glance *glance, const struct listing_options *options, FILE *stream)
{
    size_t count;
    size_t *rows = order_rows(glance, &options->ordering, &count);

    for (size_t i = 0; i < count && (!options->top || i < options->top); i++)
        write_site(glance, rows[i], stream);
    free(rows);
}
