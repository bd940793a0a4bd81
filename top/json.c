/* json.c - see json.h. What is not known is null. */
#include "top/json.h"

#include <stdlib.h>

#include "common/view/json_growth.h"
#include "common/view/json_stack.h"

static void write_change(struct emit *emit, const struct change *change)
{
    if (!change->known) {
        emit_null(emit, "delta_bytes");
        emit_null(emit, "allocs_per_second");
        emit_null(emit, "frees_per_second");
        return;
    }
    emit_signed(emit, "delta_bytes", change->bytes);
    emit_fraction(emit, "allocs_per_second", change->allocs);
    emit_fraction(emit, "frees_per_second", change->frees);
}

static void write_process(struct emit *emit, const struct glance *glance)
{
    emit_open(emit, "process", '{');
    emit_signed(emit, "pid", glance->pid);
    emit_text(emit, "exe", *glance->exe ? glance->exe : NULL);
    emit_open(emit, "argv", '[');
    for (size_t i = 0; i < glance->argc; i++)
        emit_text(emit, NULL, glance->argv[i]);
    emit_close(emit, ']');
    emit_time(emit, "started", glance->started_ns);
    emit_open(emit, "end", '{');
    emit_text(emit, "how", end_word[glance->how]);
    if (glance->how == END_EXIT || glance->how == END_SIGNAL)
        emit_signed(emit, "value", glance->end_value);
    else
        emit_null(emit, "value");
    emit_close(emit, '}');
    emit_bool(emit, "sampled", glance->sampled);
    emit_close(emit, '}');
}

static void write_totals(struct emit *emit, const struct glance *glance)
{
    emit_open(emit, "totals", '{');
    emit_number(emit, "live_bytes", glance->total.bytes);
    emit_number(emit, "live_blocks", glance->total.blocks);
    emit_number(emit, "allocations", glance->total.allocs);
    emit_number(emit, "frees", glance->total.frees);
    write_change(emit, &glance->change);
    emit_known(emit, "peak_bytes", glance->peak.bytes, glance->peak.bytes);
    emit_number(emit, "growing", glance->growing);
    emit_close(emit, '}');
}

static void write_site(struct emit *emit, const struct glance *glance, size_t i)
{
    const struct row *row = &glance->rows[i];
    const struct counted *counts = &glance->counts[i];

    emit_open(emit, NULL, '{');
    emit_id(emit, "signature", row->name->signature);
    emit_text(emit, "kind", kind_word[row->name->kind]);
    emit_number(emit, "bytes", counts->bytes);
    emit_number(emit, "blocks", counts->blocks);
    emit_number(emit, "allocations", counts->allocs);
    emit_number(emit, "frees", counts->frees);
    write_change(emit, &row->change);
    emit_time(emit, "first", row->first_ns);
    emit_time(emit, "last", row->last_ns);
    json_growth(emit, row->growth);
    json_frames(emit, "frames", row->name->stack.frames, row->name->stack.count, row->name->user);
    emit_close(emit, '}');
}

static void write_history(struct emit *emit, const struct glance *glance)
{
    emit_open(emit, "history", '[');
    for (size_t i = 0; i < glance->history_count; i++) {
        emit_open(emit, NULL, '{');
        emit_time(emit, "t", glance->history[i].time_ns);
        emit_number(emit, "live_bytes", glance->history[i].bytes);
        emit_number(emit, "live_blocks", glance->history[i].blocks);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

void json_write(const struct glance *glance, const struct listing_options *options, FILE *stream)
{
    struct emit emit = {.stream = stream, .line = true, .mem = mem_begin()};
    size_t count, shown;
    size_t *rows = order_rows(glance, &options->ordering, &count);

    shown = options->top && options->top < count ? options->top : count;
    emit_open(&emit, NULL, '{');
    emit_text(&emit, "format", "libleak-top");
    emit_number(&emit, "version", 1);
    emit_open(&emit, "tool", '{');
    emit_text(&emit, "name", "libleak");
    emit_text(&emit, "version", LEAK_VERSION);
    emit_close(&emit, '}');
    emit_time(&emit, "time", glance->time_ns);
    write_process(&emit, glance);
    write_totals(&emit, glance);
    emit_open(&emit, "sites", '[');
    for (size_t i = 0; i < shown; i++)
        write_site(&emit, glance, rows[i]);
    emit_close(&emit, ']');
    emit_number(&emit, "more_sites", count - shown);
    write_history(&emit, glance);
    emit_bool(&emit, "bytes_escaped", emit.bytes_escaped);
    emit_close(&emit, '}');
    json_stack_end(&emit);
    mem_end(emit.mem);
    free(rows);
}
