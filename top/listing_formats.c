/* listing_formats.c - writes snapshots as CSV and JSON; described in listing.h. */
#include "top/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/term_text.h"
#include "common/encode/json_fields.h"
#include "common/view/json_parts.h"
#include "leak_store.h"

/* ---- CSV, where an unknown value is empty ---------------------------------------------------- */

void listing_write_csv_header(FILE *stream)
{
    fputs("time,pid,signature,kind,function,file,line,module,bytes,blocks,allocations,frees,"
          "delta_bytes,allocs_per_second,frees_per_second,first,last,growth,"
          "growth_bytes_per_second\n",
          stream);
}

/* Writes a comma and a quoted text. */
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

/* ---- JSON, where an unknown value is null ---------------------------------------------------- */

struct json_view {
    const struct heap_snapshot *snapshot;
    const size_t *rows; /* indices of the snapshot's rows, in the order of the output */
    size_t shown;
    uint64_t more;
};

struct site {
    const struct snapshot_row *row;
    const struct site_name *name;
    const struct counters *counts;
};

/* ---- JSON fields of the process -------------------------------------------------------------- */

static const struct json_field change_fields[] = {
    JSON_INTEGER(counter_delta, "delta_bytes", bytes, JSON_MAY_BE_NULL),
    JSON_NUMBER(counter_delta, "allocs_per_second", allocs, JSON_MAY_BE_NULL),
    JSON_NUMBER(counter_delta, "frees_per_second", frees, JSON_MAY_BE_NULL),
};

static const struct json_table change_table = JSON_TABLE(NULL, change_fields);

/* Includes the fields of a change; all are null in the first snapshot. */
#define CHANGE(s, m) JSON_INCLUDE(s, m, change_table, JSON_KNOWN_BY(s, m.known))

static bool has_end_value(const struct json_writer *json, const void *object)
{
    const struct heap_snapshot *snapshot = object;

    (void)json;
    return snapshot->how == END_EXIT || snapshot->how == END_SIGNAL;
}

static bool has_exe(const struct json_writer *json, const void *object)
{
    (void)json;
    return *((const struct heap_snapshot *)object)->exe;
}

static const struct json_field end_fields[] = {
    JSON_END(heap_snapshot, JSON_KNOWN_IF(has_end_value)),
};

static const struct json_table end_table = JSON_TABLE("end", end_fields);

static const struct json_field process_fields[] = {
    JSON_INTEGER(heap_snapshot, "pid", pid),
    JSON_TEXT(heap_snapshot, "exe", exe, JSON_KNOWN_IF(has_exe)),
    JSON_ARGV(heap_snapshot),
    JSON_TIME(heap_snapshot, "started", started_ns),
    JSON_GROUP("end", end_table),
    JSON_BOOLEAN(heap_snapshot, "sampled", sampled,
                 JSON_ABOUT("its numbers of blocks and bytes are estimates")),
};

static const struct json_table process_table = JSON_TABLE(NULL, process_fields);

static const struct json_field totals_fields[] = {
    JSON_COUNT(heap_snapshot, "live_bytes", total.bytes),
    JSON_COUNT(heap_snapshot, "live_blocks", total.blocks),
    JSON_COUNT(heap_snapshot, "allocations", total.allocs,
               JSON_ABOUT("since the start, like frees")),
    JSON_COUNT(heap_snapshot, "frees", total.frees),
    CHANGE(heap_snapshot, delta),
    JSON_COUNT(heap_snapshot, "peak_bytes", peak.bytes, JSON_NULL_IF_0),
    JSON_COUNT(heap_snapshot, "growing", growing, JSON_ABOUT("number of sites that grow")),
};

static const struct json_table totals_table = JSON_TABLE(NULL, totals_fields);

/* ---- Sites ----------------------------------------------------------------------------------- */

static void put_frames(struct json_writer *json, const char *key, const void *member)
{
    const struct site_name *name = *(const struct site_name *const *)member;

    json_frames(json, key, name->stack.frames, name->stack.count, name->user);
}

static const struct json_field name_fields[] = {
    JSON_ID(site_name, "signature", signature),
    JSON_KIND(site_name, "kind", kind),
};

static const struct json_table name_table = JSON_TABLE(NULL, name_fields);

static const struct json_field counted_fields[] = {
    JSON_COUNT(counters, "bytes", bytes, JSON_ABOUT("live ones, like blocks")),
    JSON_COUNT(counters, "blocks", blocks),
    JSON_COUNT(counters, "allocations", allocs),
    JSON_COUNT(counters, "frees", frees),
};

static const struct json_table counted_table = JSON_TABLE(NULL, counted_fields);

static const struct json_field row_fields[] = {
    CHANGE(snapshot_row, delta),
    JSON_TIME(snapshot_row, "first", first_ns,
              JSON_ABOUT("its first allocation; last: its last one")),
    JSON_TIME(snapshot_row, "last", last_ns),
    JSON_GROWTH(snapshot_row, "growth", growth),
};

static const struct json_table row_table = JSON_TABLE(NULL, row_fields);

static const struct json_field site_fields[] = {
    JSON_INCLUDE_POINTER(site, name, name_table),
    JSON_INCLUDE_POINTER(site, counts, counted_table),
    JSON_INCLUDE_POINTER(site, row, row_table),
    JSON_PUT(site, "frames", LIST, name, put_frames, .table = &json_frame, JSON_INNERMOST_FIRST),
};

static const struct json_table site_table = JSON_TABLE("site", site_fields);

static void put_sites(struct json_writer *json, const char *key, const void *object)
{
    const struct json_view *view = object;

    json_open(json, key, '[');
    for (size_t i = 0; i < view->shown; i++) {
        const struct snapshot_row *row = &view->snapshot->rows[view->rows[i]];
        struct site site = {row, row->name, &view->snapshot->counts[view->rows[i]]};

        json_write_object(json, NULL, &site_table, &site);
    }
    json_close(json, ']');
}

/* ---- The whole JSON document ----------------------------------------------------------------- */

static const struct json_field head_fields[] = {
    JSON_FORMAT("libleak-top"),
    JSON_TOOL,
    JSON_TIME(heap_snapshot, "time", time_ns),
    JSON_GROUP("process", process_table),
    JSON_GROUP("totals", totals_table),
};

static const struct json_table head_table = JSON_TABLE(NULL, head_fields);

static const struct json_field tail_fields[] = {
    JSON_HISTORY(heap_snapshot, "the heap over time, ascending, fewer moments as they get older"),
    JSON_BYTES_ESCAPED,
};

static const struct json_table tail_table = JSON_TABLE(NULL, tail_fields);

static const struct json_field snapshot_fields[] = {
    JSON_INCLUDE_POINTER(json_view, snapshot, head_table),
    JSON_COMPUTED("sites", LIST, put_sites, .table = &site_table,
                  JSON_ABOUT("in the order of --sort; sites that have no live blocks, did nothing "
                             "since the refresh before and do not grow are left out")),
    JSON_COUNT(json_view, "more_sites", more, JSON_ABOUT("left out by --top")),
    JSON_INCLUDE_POINTER(json_view, snapshot, tail_table),
};

const struct json_table json_snapshot = JSON_TABLE(
    NULL, snapshot_fields,
    JSON_ABOUT(
        "What leaktop --json writes, on a line of its own for each refresh. Changes are since "
        "the refresh before, and null in the first one. What schema.json says about texts and "
        "unknown values is true here, too."));

void listing_write_json(const struct heap_snapshot *snapshot, const struct listing_options *options,
                        FILE *stream)
{
    struct json_writer json = {.stream = stream, .line = true};
    size_t count;
    size_t *rows = order_rows(snapshot, &options->ordering, &count);
    struct json_view view = {snapshot, rows, count, 0};

    if (options->top && options->top < count) {
        view.shown = options->top;
        view.more = count - options->top;
    }
    json_write_object(&json, NULL, &json_snapshot, &view);
    json_stack_end(&json);
    free(rows);
}
