/* merge.c - merges reports into one; described in compare.h. The text is like the report of one
 * process; each record also has a line like
 *
 *     in 12 processes on 3 hosts, 2026-11-20 10:15 to 2026-11-21 08:02 UTC
 */
#include "symbolize/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "symbolize/json/json.h"
#include "common/view/json_parts.h"
#include "symbolize/view/view.h"
#include "common/view/text_frame.h"
#include "symbolize/text/text.h"

/* ---- Merging the reports of a set ------------------------------------------------------------ */

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

/* ---- Writing the merged report as text ------------------------------------------------------- */

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
    if (!text_losses(&merge->sum, NULL, stream))
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

/* ---- Writing the merged report as JSON ------------------------------------------------------- */

static const struct json_field process_fields[] = {
    JSON_TEXT(report_set_process, "host", host, JSON_MAY_BE_NULL),
    JSON_INTEGER(report_set_process, "pid", pid, JSON_NULL_IF_0),
    JSON_TEXT(report_set_process, "exe", exe, JSON_MAY_BE_NULL),
    JSON_TIME(report_set_process, "started", started_ns),
    JSON_BOOLEAN(report_set_process, "sampled", sampled,
                 JSON_ABOUT("its numbers of blocks and bytes are estimates")),
};

static const struct json_table process_table =
    JSON_TABLE("process", process_fields,
               JSON_ABOUT("Host, pid and time identify a process: a repeated one is left out"));

/* The last fields of every entry of the merged JSON. */
static const struct json_field seen_fields[] = {
    JSON_TIME(record, "first", first_ns),
    JSON_TIME(record, "last", last_ns),
    JSON_COUNT(record, "processes", seen.processes, JSON_LIMITS("'minimum': 1"),
               JSON_ABOUT("in which it occurs")),
    JSON_COUNT(record, "hosts", seen.host_count, JSON_ABOUT("known ones in which it occurs")),
    JSON_TEXTS(record, "on", seen.hosts, seen.host_count, JSON_LIMITS("'uniqueItems': true"),
               JSON_ABOUT("the known hosts")),
    JSON_COMPUTED("frames", LIST, json_put_record_frames, .table = &json_frame,
                  JSON_ABOUT("innermost first, of the process that was read first")),
};

static const struct json_table seen_table = JSON_TABLE(NULL, seen_fields);

static const struct json_field record_fields[] = {
    JSON_ID(report_set_entry, "signature", record.signature),
    JSON_WORD(report_set_entry, "verdict", record.verdict, verdict_word, VERDICT_MAX),
    JSON_KIND(report_set_entry, "kind", record.kind),
    JSON_COUNT(report_set_entry, "bytes", record.bytes),
    JSON_COUNT(report_set_entry, "blocks", record.blocks),
    JSON_ESTIMATE(report_set_entry, record.error),
    JSON_RETAINED(report_set_entry, record.retained),
    JSON_TAGS(report_set_entry, record.tags, record.tag_count),
    JSON_INCLUDE(report_set_entry, record, seen_table),
};

static const struct json_table record_table = JSON_TABLE("record", record_fields);

static const struct json_field other_fields[] = {
    JSON_ID(report_set_entry, "signature", record.signature),
    JSON_TEXT(report_set_entry, "type", sort, JSON_ABOUT("as in errors and resources of a report")),
    JSON_COUNT(report_set_entry, "count", record.blocks),
    JSON_COUNT(report_set_entry, "bytes", record.bytes, JSON_NULL_IF_0, JSON_ABOUT("of mappings")),
    JSON_INCLUDE(report_set_entry, record, seen_table),
};

static const struct json_table other_table = JSON_TABLE("other", other_fields);

static void put_entries(struct json_writer *json, const char *key, const struct merge *merge,
                        enum report_set_class class)
{
    const struct view *view = json_context_of(json)->view;
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    json_open(json, key, '[');
    for (size_t i = 0; i < merge->report_set->count && most; i++)
        if (merge->report_set->entries[i].class == class) {
            json_write_object(json, NULL, class == REPORT_SET_RECORD ? &record_table : &other_table,
                              &merge->report_set->entries[i]);
            most--;
        }
    json_close(json, ']');
}

static void put_records(struct json_writer *json, const char *key, const void *merge)
{
    put_entries(json, key, merge, REPORT_SET_RECORD);
}

static void put_errors(struct json_writer *json, const char *key, const void *merge)
{
    put_entries(json, key, merge, REPORT_SET_ERROR);
}

static void put_resources(struct json_writer *json, const char *key, const void *merge)
{
    put_entries(json, key, merge, REPORT_SET_RESOURCE);
}

static const struct json_field set_fields[] = {
    JSON_COUNT(report_set, "hosts", host_count, JSON_ABOUT("different ones")),
    JSON_LIST(report_set, "processes", processes, process_count, process_table,
              JSON_ABOUT("all that were read, including those without records")),
};

static const struct json_table set_table = JSON_TABLE(NULL, set_fields);

static const struct json_field merge_fields[] = {
    JSON_FORMAT(REPORT_SET_MERGED_FORMAT),
    JSON_TOOL,
    JSON_INCLUDE_POINTER(merge, report_set, set_table),
    JSON_PART(merge, "summary", sum, json_summary,
              JSON_ABOUT("over all processes; half widths of estimates are added up")),
    JSON_COMPUTED(
        "records", LIST, put_records, .table = &record_table,
        JSON_ABOUT("of all verdicts, the worst first; a signature comes again with another "
                   "verdict or kind")),
    JSON_COMPUTED("errors", LIST, put_errors, .table = &other_table),
    JSON_COMPUTED("resources", LIST, put_resources, .table = &other_table,
                  JSON_ABOUT("without those opened once")),
    JSON_BYTES_ESCAPED,
};

const struct json_table json_merge = JSON_TABLE(
    NULL, merge_fields,
    JSON_ABOUT("What leakreport merge --format=json writes: records of many processes, each once. "
               "diff, merge and --baseline read it. What schema.json says about texts and unknown "
               "values is true here, too."));

void merge_write_json(const struct merge *merge, const struct view *view, FILE *stream)
{
    struct json_context context = {.process = &merge->sum, .view = view};
    struct json_writer json = {.stream = stream, .context = &context};

    json_write_object(&json, NULL, &json_merge, merge);
    json_stack_end(&json);
}
