/* merge.c - see merge.h. The same words as in the report on one process; a record says besides
 *
 *     in 12 processes on 3 hosts, 2026-11-20 10:15 to 2026-11-21 08:02 UTC
 */
#include "symbolize/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "common/encode/json_writer.h"
#include "symbolize/json/json.h"
#include "common/view/json_parts.h"
#include "symbolize/view/view.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text.h"

/* ---- Making ---------------------------------------------------------------------------------- */

static int compare_merge_entries(const void *left, const void *right, void *sort)
{
    const struct report_set_entry *a = left, *b = right;

    return a->rank != b->rank
               ? a->rank - b->rank
               : record_compare(&a->record, &b->record, *(const enum sort_order *)sort);
}

static void count_programs(struct merge *merge)
{
    const struct report_set *report_set = merge->report_set;
    struct hashmap names = {0};

    for (size_t i = 0; i < report_set->process_count; i++) {
        const struct report_set_process *process = &report_set->processes[i];
        const char *name = process->exe ? base_name(process->exe) : "";
        bool fresh;

        hashmap_put(&names, hash_text(1, name, strlen(name)), &fresh);
        merge->programs += fresh;
        merge->exe = process->exe ? process->exe : merge->exe;
        merge->sum.sample |= process->sampled ? 2 : 0;
        if (process->started_ns && (!merge->first_ns || process->started_ns < merge->first_ns))
            merge->first_ns = process->started_ns;
        if (process->started_ns > merge->last_ns)
            merge->last_ns = process->started_ns;
    }
    hashmap_end(&names);
}

static void add_record_total(struct process *sum, const struct record *record)
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

struct merge merge_make(struct report_set *report_set, enum sort_order sort)
{
    struct merge merge = {.report_set = report_set};

    if (report_set->count)
        qsort_r(report_set->entries, report_set->count, sizeof(*report_set->entries),
                compare_merge_entries, &sort);
    count_programs(&merge);
    for (size_t i = 0; i < report_set->count; i++) {
        const struct report_set_entry *entry = &report_set->entries[i];

        merge.sum.totals.errors += entry->class == REPORT_SET_ERROR;
        merge.sum.totals.resources += entry->class == REPORT_SET_RESOURCE;
        if (entry->class == REPORT_SET_RECORD)
            add_record_total(&merge.sum, &entry->record);
    }
    return merge;
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_head(const struct merge *merge, const struct view *view, FILE *stream)
{
    const struct report_set *report_set = merge->report_set;

    text_style(view, stream, STYLE_BOLD);
    fputs(term_count(report_set->process_count, "process").text, stream);
    if (merge->programs > 1)
        fprintf(stream, " of %s", term_count(merge->programs, "program").text);
    else if (merge->exe)
        fprintf(stream, " of %s",
                term_text(base_name(merge->exe), strlen(base_name(merge->exe)), 30).text);
    if (report_set->host_count)
        fprintf(stream, " on %s", term_count(report_set->host_count, "host").text);
    text_dates(merge->first_ns, merge->last_ns, stream);
    if (!text_losses(&merge->sum, stream))
        fputs(":\nnothing of what --show names is in their reports", stream);
    text_style(view, stream, STYLE_PLAIN);
    putc('\n', stream);
}

/* Writes an error or a resource: "4 times double-free". */
static void write_error_or_resource(const struct report_set_entry *entry, size_t number,
                                    const struct view *view, FILE *stream)
{
    char head[128];
    int width = snprintf(head, sizeof(head), "%zu. ", number);

    fputs(head, stream);
    text_style(view, stream, STYLE_BOLD);
    width += snprintf(head, sizeof(head), "%.40s %.50s",
                      term_count(entry->record.blocks, entry->unit).text,
                      term_text(entry->words, strlen(entry->words), 50).text);
    fputs(head, stream);
    text_signature(entry->record.signature, width, view, stream);
    text_frames(&entry->record, TEXT_INDENT, view, stream);
    text_occurrences(&entry->record, stream);
}

static bool is_listed(const struct report_set_entry *entry, const struct view *view)
{
    return entry->class != REPORT_SET_RECORD || view->show[entry->record.verdict];
}

static void write_list(const struct merge *merge, const struct view *view, FILE *stream)
{
    size_t number = 0, hidden = 0;

    for (size_t i = 0; i < merge->report_set->count; i++) {
        const struct report_set_entry *entry = &merge->report_set->entries[i];

        if (!is_listed(entry, view))
            continue;
        if (view->top && number >= view->top) {
            hidden++;
            continue;
        }
        putc('\n', stream);
        if (entry->class == REPORT_SET_RECORD)
            text_record(&merge->sum, &entry->record, ++number, view, stream);
        else
            write_error_or_resource(entry, ++number, view, stream);
    }
    if (hidden)
        fprintf(stream, "\n... and %s (--top=0).\n", term_count(hidden, "more record").text);
    putc('\n', stream);
}

void merge_write_text(const struct merge *merge, const struct view *view, FILE *stream)
{
    if (!view->quiet) {
        write_head(merge, view, stream);
        write_list(merge, view, stream);
    }
    fprintf(stream, "libleak: processes=%zu hosts=%zu", merge->report_set->process_count,
            merge->report_set->host_count);
    text_totals(&merge->sum.totals, stream);
}

/* ---- For programs ---------------------------------------------------------------------------- */

static void emit_processes(struct json_writer *json, const struct report_set *report_set)
{
    json_open(json, "processes", '[');
    for (size_t i = 0; i < report_set->process_count; i++) {
        const struct report_set_process *process = &report_set->processes[i];

        json_open(json, NULL, '{');
        json_put_text(json, "host", process->host);
        json_put_known(json, "pid", process->pid != 0, (uint64_t)process->pid);
        json_put_text(json, "exe", process->exe);
        json_put_time(json, "started", process->started_ns);
        json_put_bool(json, "sampled", process->sampled);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void emit_seen(struct json_writer *json, const struct seen *seen)
{
    json_put_number(json, "processes", seen->processes);
    json_put_number(json, "hosts", seen->host_count);
    json_open(json, "on", '[');
    for (size_t i = 0; i < seen->host_count; i++)
        json_put_text(json, NULL, seen->hosts[i]);
    json_close(json, ']');
}

static void emit_entry(struct json_writer *json, const struct merge *merge,
                       const struct report_set_entry *entry)
{
    const struct record *record = &entry->record;

    json_open(json, NULL, '{');
    json_put_id(json, "signature", record->signature);
    if (entry->class == REPORT_SET_RECORD) {
        json_put_text(json, "verdict", verdict_word[record->verdict]);
        json_put_text(json, "kind", kind_word[record->kind]);
        json_put_number(json, "bytes", record->bytes);
        json_put_number(json, "blocks", record->blocks);
        json_error(json, &merge->sum, &record->error);
        json_retained(json, record);
        json_tags(json, record);
    } else {
        json_put_text(json, "type", entry->sort);
        json_put_number(json, "count", record->blocks);
        json_put_known(json, "bytes", record->bytes != 0, record->bytes);
    }
    json_put_time(json, "first", record->first_ns);
    json_put_time(json, "last", record->last_ns);
    emit_seen(json, &record->seen);
    json_frames(json, "frames", record->frames, record->frame_count, record->user);
    json_close(json, '}');
}

static void emit_entries(struct json_writer *json, const char *key, const struct merge *merge,
                         enum report_set_class class, const struct view *view)
{
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    json_open(json, key, '[');
    for (size_t i = 0; i < merge->report_set->count && most; i++)
        if (merge->report_set->entries[i].class == class) {
            emit_entry(json, merge, &merge->report_set->entries[i]);
            most--;
        }
    json_close(json, ']');
}

void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream)
{
    struct json_writer json = {.stream = stream};

    json_open(&json, NULL, '{');
    json_put_text(&json, "format", REPORT_SET_MERGED_FORMAT);
    json_put_number(&json, "version", 1);
    json_tool(&json);
    json_put_number(&json, "hosts", merge->report_set->host_count);
    emit_processes(&json, merge->report_set);
    json_summary(&json, &merge->sum);
    emit_entries(&json, "records", merge, REPORT_SET_RECORD, view);
    emit_entries(&json, "errors", merge, REPORT_SET_ERROR, view);
    emit_entries(&json, "resources", merge, REPORT_SET_RESOURCE, view);
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped);
    json_close(&json, '}');
    json_stack_end(&json);
}
