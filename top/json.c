/* json.c - see json.h. What is not known is null. */
#include "top/json.h"

#include <stdlib.h>

#include "common/view/json_parts.h"

static void write_change(struct json_writer *json, const struct change *change)
{
    if (!change->known) {
        json_put_null(json, "delta_bytes");
        json_put_null(json, "allocs_per_second");
        json_put_null(json, "frees_per_second");
        return;
    }
    json_put_signed(json, "delta_bytes", change->bytes);
    json_put_fraction(json, "allocs_per_second", change->allocs);
    json_put_fraction(json, "frees_per_second", change->frees);
}

static void write_process(struct json_writer *json, const struct glance *glance)
{
    json_open(json, "process", '{');
    json_put_signed(json, "pid", glance->pid);
    json_put_text(json, "exe", *glance->exe ? glance->exe : NULL);
    json_open(json, "argv", '[');
    for (size_t i = 0; i < glance->argc; i++)
        json_put_text(json, NULL, glance->argv[i]);
    json_close(json, ']');
    json_put_time(json, "started", glance->started_ns);
    json_open(json, "end", '{');
    json_put_text(json, "how", end_word[glance->how]);
    if (glance->how == END_EXIT || glance->how == END_SIGNAL)
        json_put_signed(json, "value", glance->end_value);
    else
        json_put_null(json, "value");
    json_close(json, '}');
    json_put_bool(json, "sampled", glance->sampled);
    json_close(json, '}');
}

static void write_totals(struct json_writer *json, const struct glance *glance)
{
    json_open(json, "totals", '{');
    json_put_number(json, "live_bytes", glance->total.bytes);
    json_put_number(json, "live_blocks", glance->total.blocks);
    json_put_number(json, "allocations", glance->total.allocs);
    json_put_number(json, "frees", glance->total.frees);
    write_change(json, &glance->change);
    json_put_known(json, "peak_bytes", glance->peak.bytes, glance->peak.bytes);
    json_put_number(json, "growing", glance->growing);
    json_close(json, '}');
}

static void write_site(struct json_writer *json, const struct glance *glance, size_t i)
{
    const struct row *row = &glance->rows[i];
    const struct counted *counts = &glance->counts[i];

    json_open(json, NULL, '{');
    json_put_id(json, "signature", row->name->signature);
    json_put_text(json, "kind", kind_word[row->name->kind]);
    json_put_number(json, "bytes", counts->bytes);
    json_put_number(json, "blocks", counts->blocks);
    json_put_number(json, "allocations", counts->allocs);
    json_put_number(json, "frees", counts->frees);
    write_change(json, &row->change);
    json_put_time(json, "first", row->first_ns);
    json_put_time(json, "last", row->last_ns);
    json_growth(json, row->growth);
    json_frames(json, "frames", row->name->stack.frames, row->name->stack.count, row->name->user);
    json_close(json, '}');
}

static void write_history(struct json_writer *json, const struct glance *glance)
{
    json_open(json, "history", '[');
    for (size_t i = 0; i < glance->history_count; i++) {
        json_open(json, NULL, '{');
        json_put_time(json, "t", glance->history[i].time_ns);
        json_put_number(json, "live_bytes", glance->history[i].bytes);
        json_put_number(json, "live_blocks", glance->history[i].blocks);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void json_write(const struct glance *glance, const struct listing_options *options, FILE *stream)
{
    struct json_writer json = {.stream = stream, .line = true, .mem = arena_begin()};
    size_t count, shown;
    size_t *rows = order_rows(glance, &options->ordering, &count);

    shown = options->top && options->top < count ? options->top : count;
    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak-top");
    json_put_number(&json, "version", 1);
    json_open(&json, "tool", '{');
    json_put_text(&json, "name", "libleak");
    json_put_text(&json, "version", LEAK_VERSION);
    json_close(&json, '}');
    json_put_time(&json, "time", glance->time_ns);
    write_process(&json, glance);
    write_totals(&json, glance);
    json_open(&json, "sites", '[');
    for (size_t i = 0; i < shown; i++)
        write_site(&json, glance, rows[i]);
    json_close(&json, ']');
    json_put_number(&json, "more_sites", count - shown);
    write_history(&json, glance);
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped);
    json_close(&json, '}');
    json_stack_end(&json);
    arena_end(json.mem);
    free(rows);
}
