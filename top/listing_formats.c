/* listing_formats.c - snapshots as CSV and JSON; see listing.h. */
#include "top/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/text.h"
#include "common/view/json_parts.h"

/* ---- CSV: an unknown value is empty ---------------------------------------------------------- */

void listing_write_csv_header(FILE *stream)
{
    fputs("time,pid,signature,kind,function,file,line,module,bytes,blocks,allocations,frees,"
          "delta_bytes,allocs_per_second,frees_per_second,first,last,growth,"
          "growth_bytes_per_second\n",
          stream);
}

/* Each writes the comma before its value. */
static void write_csv_text(const char *text, FILE *stream)
{
    fputs(",\"", stream);
    for (; text && *text; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void write_csv_time(uint64_t ns, FILE *stream)
{
    char text[TIME_TEXT_SIZE];
    const char *iso = time_format_iso(ns, text);

    fprintf(stream, ",%s", iso ? iso : "");
}

static void write_csv_frame(const struct frame *frame, FILE *stream)
{
    write_csv_text(frame ? frame->function : NULL, stream);
    write_csv_text(frame ? frame->file : NULL, stream);
    if (frame && frame->line)
        fprintf(stream, ",%" PRIu32, frame->line);
    else
        fputs(",", stream);
    write_csv_text(frame ? frame->module : NULL, stream);
}

static void write_csv_site(const struct heap_snapshot *snapshot, size_t i, FILE *stream)
{
    const struct snapshot_row *row = &snapshot->rows[i];
    const struct counters *counts = &snapshot->counts[i];
    char text[TIME_TEXT_SIZE];
    const char *time = time_format_iso(snapshot->time_ns, text);

    fprintf(stream, "%s,%d,%016" PRIx64, time ? time : "", snapshot->pid, row->name->signature);
    write_csv_text(kind_word[row->name->kind], stream);
    write_csv_frame(row->name->title, stream);
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, counts->bytes, counts->blocks,
            counts->allocs, counts->frees);
    if (row->delta.known)
        fprintf(stream, ",%" PRId64 ",%.1f,%.1f", row->delta.bytes, row->delta.allocs,
                row->delta.frees);
    else
        fputs(",,,", stream);
    write_csv_time(row->first_ns, stream);
    write_csv_time(row->last_ns, stream);
    if (row->growth)
        fprintf(stream, ",%s,%" PRIu64 "\n", growth_word[row->growth->verdict],
                row->growth->bytes_per_second);
    else
        fputs(",,\n", stream);
}

void listing_write_csv(const struct heap_snapshot *snapshot, const struct listing_options *options,
                       FILE *stream)
{
    size_t count;
    size_t *rows = order_rows(snapshot, &options->ordering, &count);

    for (size_t i = 0; i < count && (!options->top || i < options->top); i++)
        write_csv_site(snapshot, rows[i], stream);
    free(rows);
}

/* ---- JSON: an unknown value is null ---------------------------------------------------------- */

static void write_json_delta(struct json_writer *json, const struct counter_delta *delta)
{
    if (!delta->known) {
        json_put_null(json, "delta_bytes");
        json_put_null(json, "allocs_per_second");
        json_put_null(json, "frees_per_second");
        return;
    }
    json_put_signed(json, "delta_bytes", delta->bytes);
    json_put_fraction(json, "allocs_per_second", delta->allocs);
    json_put_fraction(json, "frees_per_second", delta->frees);
}

static void write_json_process(struct json_writer *json, const struct heap_snapshot *snapshot)
{
    json_open(json, "process", '{');
    json_put_signed(json, "pid", snapshot->pid);
    json_put_text(json, "exe", *snapshot->exe ? snapshot->exe : NULL);
    json_open(json, "argv", '[');
    for (size_t i = 0; i < snapshot->argc; i++)
        json_put_text(json, NULL, snapshot->argv[i]);
    json_close(json, ']');
    json_put_time(json, "started", snapshot->started_ns);
    json_open(json, "end", '{');
    json_put_text(json, "how", end_word[snapshot->how]);
    if (snapshot->how == END_EXIT || snapshot->how == END_SIGNAL)
        json_put_signed(json, "value", snapshot->end_value);
    else
        json_put_null(json, "value");
    json_close(json, '}');
    json_put_bool(json, "sampled", snapshot->sampled);
    json_close(json, '}');
}

static void write_json_totals(struct json_writer *json, const struct heap_snapshot *snapshot)
{
    json_open(json, "totals", '{');
    json_put_number(json, "live_bytes", snapshot->total.bytes);
    json_put_number(json, "live_blocks", snapshot->total.blocks);
    json_put_number(json, "allocations", snapshot->total.allocs);
    json_put_number(json, "frees", snapshot->total.frees);
    write_json_delta(json, &snapshot->delta);
    json_put_known(json, "peak_bytes", snapshot->peak.bytes, snapshot->peak.bytes);
    json_put_number(json, "growing", snapshot->growing);
    json_close(json, '}');
}

static void write_json_site(struct json_writer *json, const struct heap_snapshot *snapshot,
                            size_t i)
{
    const struct snapshot_row *row = &snapshot->rows[i];
    const struct counters *counts = &snapshot->counts[i];

    json_open(json, NULL, '{');
    json_put_id(json, "signature", row->name->signature);
    json_put_text(json, "kind", kind_word[row->name->kind]);
    json_put_number(json, "bytes", counts->bytes);
    json_put_number(json, "blocks", counts->blocks);
    json_put_number(json, "allocations", counts->allocs);
    json_put_number(json, "frees", counts->frees);
    write_json_delta(json, &row->delta);
    json_put_time(json, "first", row->first_ns);
    json_put_time(json, "last", row->last_ns);
    json_growth(json, row->growth);
    json_frames(json, "frames", row->name->stack.frames, row->name->stack.count, row->name->user);
    json_close(json, '}');
}

static void write_json_history(struct json_writer *json, const struct heap_snapshot *snapshot)
{
    json_open(json, "history", '[');
    for (size_t i = 0; i < snapshot->history_count; i++) {
        json_open(json, NULL, '{');
        json_put_time(json, "t", snapshot->history[i].time_ns);
        json_put_number(json, "live_bytes", snapshot->history[i].bytes);
        json_put_number(json, "live_blocks", snapshot->history[i].blocks);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void listing_write_json(const struct heap_snapshot *snapshot, const struct listing_options *options,
                        FILE *stream)
{
    struct json_writer json = {.stream = stream, .line = true, .mem = arena_begin()};
    size_t count, shown;
    size_t *rows = order_rows(snapshot, &options->ordering, &count);

    shown = options->top && options->top < count ? options->top : count;
    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak-top");
    json_put_number(&json, "version", 1);
    json_open(&json, "tool", '{');
    json_put_text(&json, "name", "libleak");
    json_put_text(&json, "version", LEAK_VERSION);
    json_close(&json, '}');
    json_put_time(&json, "time", snapshot->time_ns);
    write_json_process(&json, snapshot);
    write_json_totals(&json, snapshot);
    json_open(&json, "sites", '[');
    for (size_t i = 0; i < shown; i++)
        write_json_site(&json, snapshot, rows[i]);
    json_close(&json, ']');
    json_put_number(&json, "more_sites", count - shown);
    write_json_history(&json, snapshot);
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped);
    json_close(&json, '}');
    json_stack_end(&json);
    arena_end(json.mem);
    free(rows);
}
