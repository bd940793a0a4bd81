/* merge.c - see merge.h. The same words as in the report on one process; a record says besides
 *
 *     in 12 processes on 3 hosts, 2026-11-20 10:15 to 2026-11-21 08:02 UTC
 */
#include "symbolize/compare/merge.h"

#include <stdlib.h>
#include <string.h>

#include "common/encode/json_writer.h"
#include "symbolize/json/json_process.h"
#include "symbolize/json/json_record.h"
#include "common/view/json_stack.h"
#include "symbolize/view/report_set_json.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text_frames.h"
#include "symbolize/text/text_head.h"
#include "symbolize/text/text_record.h"
#include "symbolize/text/text_summary.h"

/* ---- Making ---------------------------------------------------------------------------------- */

static int in_order(const void *left, const void *right, void *sort)
{
    const struct ledger_entry *a = left, *b = right;

    return a->rank != b->rank
               ? a->rank - b->rank
               : order_records(&a->record, &b->record, *(const enum sort_order *)sort);
}

static void count_programs(struct merge *merge)
{
    const struct ledger *ledger = merge->ledger;
    struct map names = {0};

    for (size_t i = 0; i < ledger->process_count; i++) {
        const struct ledger_process *process = &ledger->processes[i];
        const char *name = process->exe ? base_name(process->exe) : "";
        bool fresh;

        map_put(&names, hash_text(1, name, strlen(name)), &fresh);
        merge->programs += fresh;
        merge->exe = process->exe ? process->exe : merge->exe;
        merge->sum.sample |= process->sampled ? 2 : 0;
        if (process->started_ns && (!merge->first_ns || process->started_ns < merge->first_ns))
            merge->first_ns = process->started_ns;
        if (process->started_ns > merge->last_ns)
            merge->last_ns = process->started_ns;
    }
    map_end(&names);
}

static void add_record(struct process *sum, const struct record *record)
{
    struct verdict_total *total = &sum->totals.of[record->verdict];
    struct error *error = &sum->errors[record->verdict];

    total->bytes = add_saturating(total->bytes, record->bytes);
    total->blocks = add_saturating(total->blocks, record->blocks);
    total->records++;
    error->bytes = add_saturating(error->bytes, record->error.bytes);
    error->blocks = add_saturating(error->blocks, record->error.blocks);
    error->samples = add_saturating(error->samples, record->error.samples);
}

struct merge merge_make(struct ledger *ledger, enum sort_order sort)
{
    struct merge merge = {.ledger = ledger};

    if (ledger->count)
        qsort_r(ledger->entries, ledger->count, sizeof(*ledger->entries), in_order, &sort);
    count_programs(&merge);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];

        merge.sum.totals.errors += entry->class == LEDGER_ERROR;
        merge.sum.totals.resources += entry->class == LEDGER_RESOURCE;
        if (entry->class == LEDGER_RECORD)
            add_record(&merge.sum, &entry->record);
    }
    return merge;
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_head(const struct merge *merge, const struct view *view, FILE *stream)
{
    const struct ledger *ledger = merge->ledger;

    text_style(view, stream, STYLE_BOLD);
    fputs(show_count(ledger->process_count, "process").text, stream);
    if (merge->programs > 1)
        fprintf(stream, " of %s", show_count(merge->programs, "program").text);
    else if (merge->exe)
        fprintf(stream, " of %s",
                show(base_name(merge->exe), strlen(base_name(merge->exe)), 30).text);
    if (ledger->host_count)
        fprintf(stream, " on %s", show_count(ledger->host_count, "host").text);
    text_days(merge->first_ns, merge->last_ns, stream);
    if (!text_losses(&merge->sum, stream))
        fputs(":\nnothing of what --show names is in their reports", stream);
    text_style(view, stream, STYLE_PLAIN);
    putc('\n', stream);
}

/* An error, or a resource: "4 times double-free". */
static void write_other(const struct ledger_entry *entry, size_t number, const struct view *view,
                        FILE *stream)
{
    char head[128];
    int width = snprintf(head, sizeof(head), "%zu. ", number);

    fputs(head, stream);
    text_style(view, stream, STYLE_BOLD);
    width += snprintf(head, sizeof(head), "%.40s %.50s",
                      show_count(entry->record.blocks, entry->unit).text,
                      show(entry->words, strlen(entry->words), 50).text);
    fputs(head, stream);
    text_signature(entry->record.signature, width, view, stream);
    text_frames(&entry->record, TEXT_INDENT, view, stream);
    text_sighted(&entry->record, stream);
}

static bool is_listed(const struct ledger_entry *entry, const struct view *view)
{
    return entry->class != LEDGER_RECORD || view->show[entry->record.verdict];
}

static void write_list(const struct merge *merge, const struct view *view, FILE *stream)
{
    size_t number = 0, hidden = 0;

    for (size_t i = 0; i < merge->ledger->count; i++) {
        const struct ledger_entry *entry = &merge->ledger->entries[i];

        if (!is_listed(entry, view))
            continue;
        if (view->top && number >= view->top) {
            hidden++;
            continue;
        }
        putc('\n', stream);
        if (entry->class == LEDGER_RECORD)
            text_record(&merge->sum, &entry->record, ++number, view, stream);
        else
            write_other(entry, ++number, view, stream);
    }
    if (hidden)
        fprintf(stream, "\n... and %s (--top=0).\n", show_count(hidden, "more record").text);
    putc('\n', stream);
}

void merge_write_text(const struct merge *merge, const struct view *view, FILE *stream)
{
    if (!view->quiet) {
        write_head(merge, view, stream);
        write_list(merge, view, stream);
    }
    fprintf(stream, "libleak: processes=%zu hosts=%zu", merge->ledger->process_count,
            merge->ledger->host_count);
    text_totals(&merge->sum.totals, stream);
}

/* ---- For programs ---------------------------------------------------------------------------- */

static void emit_processes(struct emit *emit, const struct ledger *ledger)
{
    emit_open(emit, "processes", '[');
    for (size_t i = 0; i < ledger->process_count; i++) {
        const struct ledger_process *process = &ledger->processes[i];

        emit_open(emit, NULL, '{');
        emit_text(emit, "host", process->host);
        emit_known(emit, "pid", process->pid != 0, (uint64_t)process->pid);
        emit_text(emit, "exe", process->exe);
        emit_time(emit, "started", process->started_ns);
        emit_bool(emit, "sampled", process->sampled);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void emit_seen(struct emit *emit, const struct seen *seen)
{
    emit_number(emit, "processes", seen->processes);
    emit_number(emit, "hosts", seen->host_count);
    emit_open(emit, "on", '[');
    for (size_t i = 0; i < seen->host_count; i++)
        emit_text(emit, NULL, seen->hosts[i]);
    emit_close(emit, ']');
}

static void emit_entry(struct emit *emit, const struct merge *merge,
                       const struct ledger_entry *entry)
{
    const struct record *record = &entry->record;

    emit_open(emit, NULL, '{');
    emit_id(emit, "signature", record->signature);
    if (entry->class == LEDGER_RECORD) {
        emit_text(emit, "verdict", verdict_word[record->verdict]);
        emit_text(emit, "kind", kind_word[record->kind]);
        emit_number(emit, "bytes", record->bytes);
        emit_number(emit, "blocks", record->blocks);
        json_error(emit, &merge->sum, &record->error);
        json_retained(emit, record);
        json_tags(emit, record);
    } else {
        emit_text(emit, "type", entry->sort);
        emit_number(emit, "count", record->blocks);
        emit_known(emit, "bytes", record->bytes != 0, record->bytes);
    }
    emit_time(emit, "first", record->first_ns);
    emit_time(emit, "last", record->last_ns);
    emit_seen(emit, &record->seen);
    json_frames(emit, "frames", record->frames, record->frame_count, record->user);
    emit_close(emit, '}');
}

static void emit_entries(struct emit *emit, const char *key, const struct merge *merge,
                         enum ledger_class class, const struct view *view)
{
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    emit_open(emit, key, '[');
    for (size_t i = 0; i < merge->ledger->count && most; i++)
        if (merge->ledger->entries[i].class == class) {
            emit_entry(emit, merge, &merge->ledger->entries[i]);
            most--;
        }
    emit_close(emit, ']');
}

void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream)
{
    struct emit emit = {.stream = stream};

    emit_open(&emit, NULL, '{');
    emit_text(&emit, "format", LEDGER_MERGED);
    emit_number(&emit, "version", 1);
    json_tool(&emit);
    emit_number(&emit, "hosts", merge->ledger->host_count);
    emit_processes(&emit, merge->ledger);
    json_summary(&emit, &merge->sum);
    emit_entries(&emit, "records", merge, LEDGER_RECORD, view);
    emit_entries(&emit, "errors", merge, LEDGER_ERROR, view);
    emit_entries(&emit, "resources", merge, LEDGER_RESOURCE, view);
    emit_bool(&emit, "bytes_escaped", emit.bytes_escaped);
    emit_close(&emit, '}');
    json_stack_end(&emit);
}
