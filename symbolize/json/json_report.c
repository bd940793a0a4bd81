/* json_report.c - writes the report as one JSON object, and as NDJSON; described in json.h. */
#include "symbolize/json/json.h"

#include "common/view/json_parts.h"
#include "symbolize/view/view.h"

/* ---- Sums by a key (--by) -------------------------------------------------------------------- */

static void put_by_word(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    json_put_text(json, key, group_by_word[json_context_of(json)->view->by]);
}

static void put_verdicts(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    json_open(json, key, '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        if (group_by_includes(json_context_of(json)->view, (enum verdict)v))
            json_put_text(json, NULL, verdict_word[v]);
    json_close(json, ']');
}

static bool is_by_site(const struct json_writer *json, const void *row)
{
    (void)row;
    return json_context_of(json)->view->by == BY_SITE;
}

static void put_row_signature(struct json_writer *json, const char *key, const void *row)
{
    json_put_id(json, key, ((const struct group_by_row *)row)->first->signature);
}

static void put_share(struct json_writer *json, const char *key, const void *row)
{
    json_put_fraction(json, key, group_by_share(json_context_of(json)->by, row));
}

static const struct json_field row_fields[] = {
    JSON_TEXT(group_by_row, "name", name,
              JSON_ABOUT("of size: the least and the most bytes of a block on average, a power of "
                         "two apart")),
    JSON_COMPUTED("signature", ID, put_row_signature, JSON_KNOWN_IF(is_by_site),
                  JSON_ABOUT("of a site")),
    JSON_INCLUDE(group_by_row, sum, json_total),
    JSON_COMPUTED("share", NUMBER, put_share, JSON_LIMITS("'minimum': 0, 'maximum': 1"),
                  JSON_ABOUT("of the bytes of the total")),
};

static const struct json_table row_table = JSON_TABLE(NULL, row_fields);

static const struct json_field by_fields[] = {
    JSON_COMPUTED("key", WORD, put_by_word, .words = group_by_word, .word_count = BY_MAX),
    JSON_COMPUTED("verdicts", LIST, put_verdicts, .words = verdict_word, .word_count = VERDICT_MAX),
    JSON_PART(group_by_table, "total", all, json_total, JSON_ABOUT("of all listed records")),
    JSON_PART(group_by_table, "rest", rest, json_total,
              JSON_ABOUT("what --top left out of the rows; by tag a record may be in several, and "
                         "is left out when none of them is listed")),
    JSON_LIST(group_by_table, "rows", rows, shown, row_table, JSON_ABOUT("by falling bytes")),
};

static const struct json_table by_table = JSON_TABLE(
    "by", by_fields,
    JSON_ABOUT("only with --by: sums of the records of these verdicts, without suppressed "
               "ones"));

/* Writes the member "by", the sums that the option --by asks for; nothing without this option. */
static void put_by(struct json_writer *json, const char *key, const void *process)
{
    const struct json_context *context = json_context_of(json);
    struct json_context inside = *context;
    struct group_by_table table;

    if (!context->view->by)
        return;
    table = group_by_make(process, context->view);
    inside.by = &table;
    json->context = &inside;
    json_write_object(json, key, &by_table, &table);
    json->context = context;
    group_by_end(&table);
}

/* ---- Records, errors and resources, as elements of lists or as lines of NDJSON --------------- */

static void begin_line(struct json_writer *json, const char *what)
{
    json->some = json->bytes_escaped = false;
    json_open(json, NULL, '{');
    json_put_text(json, "line", what);
}

static void end_line(struct json_writer *json)
{
    json_put_bool(json, "bytes_escaped", json->bytes_escaped);
    json_close(json, '}');
}

static void write_part(struct json_writer *json, const char *what, const struct json_table *table,
                       const void *object)
{
    if (!json->line) {
        json_write_object(json, NULL, table, object);
        return;
    }
    begin_line(json, what);
    json_put_number(json, "process", json_context_of(json)->index);
    json_write_fields(json, table, object);
    end_line(json);
}

static size_t most_parts(const struct view *view)
{
    return view->quiet ? 0 : view->top ? view->top : SIZE_MAX;
}

/* Writes the records; last those that grew and whose blocks are all freed by now. */
static void write_json_records(struct json_writer *json, const struct process *process)
{
    const struct view *view = json_context_of(json)->view;
    size_t most = most_parts(view);
    bool flat = json->flat;

    /* without indentation, because it would be half of the bytes of a large report */
    json->flat |= json->frame_table;
    for (size_t i = 0; i < process->record_count && i < most; i++)
        if (!view->growing || record_is_growing(&process->records[i]))
            write_part(json, "record", &json_record, &process->records[i]);
    for (size_t i = 0; i < process->grown_count && i < most; i++)
        write_part(json, "record", &json_record, &process->grown[i]);
    json->flat = flat;
}

static void write_json_errors(struct json_writer *json, const struct process *process)
{
    struct json_error error;

    if (json_context_of(json)->view->quiet)
        return;
    if (process->crash) {
        error = json_error_of_crash(process->crash);
        write_part(json, "error", &json_error, &error);
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        error = json_error_of_bad_free(&process->mistakes[i]);
        write_part(json, "error", &json_error, &error);
    }
}

static void write_json_resources(struct json_writer *json, const struct process *process)
{
    size_t most = most_parts(json_context_of(json)->view);

    for (size_t i = 0; i < process->resource_count && i < most; i++)
        write_part(json, "resource", &json_resource, &process->resources[i]);
}

static void put_parts(struct json_writer *json, const char *key, const struct process *process,
                      void (*write)(struct json_writer *json, const struct process *process))
{
    json_open(json, key, '[');
    write(json, process);
    json_close(json, ']');
}

static void put_records(struct json_writer *json, const char *key, const void *process)
{
    put_parts(json, key, process, write_json_records);
}

static void put_errors(struct json_writer *json, const char *key, const void *process)
{
    put_parts(json, key, process, write_json_errors);
}

static void put_resources(struct json_writer *json, const char *key, const void *process)
{
    put_parts(json, key, process, write_json_resources);
}

/* ---- Documents ------------------------------------------------------------------------------- */

static const struct json_field process_fields[] = {
    JSON_GROUP(NULL, json_process_head),
    JSON_COMPUTED("records", LIST, put_records, .table = &json_record),
    JSON_COMPUTED("errors", LIST, put_errors, .table = &json_error),
    JSON_COMPUTED(
        "resources", LIST, put_resources, .table = &json_resource,
        JSON_ABOUT("What matters first: closes that hit another resource, what a stack "
                   "left open many times, other bad closes, what was opened once; each by "
                   "falling count. Empty for a process that exec replaced")),
    JSON_GROUP(NULL, json_process_tail),
    JSON_COMPUTED("by", OBJECT, put_by, .table = &by_table, JSON_OPTIONAL),
};

static const struct json_table process_table = JSON_TABLE("process", process_fields);

static void put_processes(struct json_writer *json, const char *key, const void *object)
{
    const struct json_context *context = json_context_of(json);
    const struct report *report = object;

    json_open(json, key, '[');
    for (size_t i = 0; i < report->process_count; i++) {
        struct json_context inside = {.process = &report->processes[i], .view = context->view};

        json->context = &inside;
        json_write_object(json, NULL, &process_table, inside.process);
    }
    json->context = context;
    json_close(json, ']');
}

static const struct json_field suppressions_fields[] = {
    JSON_LIST_OF_POINTERS(report, "unused", unused, unused_count, json_rule,
                          JSON_ABOUT("those that match nothing in any process")),
    JSON_LIST_OF_POINTERS(report, "expired", expired, expired_count, json_rule,
                          JSON_ABOUT("those past their last day: they suppress nothing")),
};

static const struct json_table suppressions_table = JSON_TABLE(NULL, suppressions_fields);

/* Members of the JSON report that the line "report" of NDJSON has, too. */
static const struct json_field head_fields[] = {
    JSON_FORMAT("libleak"),
    JSON_TOOL,
    JSON_TEXT(report, "host", host, JSON_MAY_BE_NULL),
    JSON_GROUP("suppressions", suppressions_table),
};

static const struct json_table head_table = JSON_TABLE(NULL, head_fields);

static const struct json_field report_fields[] = {
    JSON_GROUP(NULL, head_table),
    JSON_COMPUTED("processes", LIST, put_processes, .table = &process_table),
    JSON_COMPUTED("frames", LIST, json_put_frame_table, .table = &json_frame, JSON_OPTIONAL,
                  JSON_ABOUT("only with --json-frames=table, the default from 10,000 records on: "
                             "each frame once; the elements of all stacks are indices in it")),
    JSON_BYTES_ESCAPED,
};

const struct json_table json_report = JSON_TABLE(
    NULL, report_fields,
    JSON_ABOUT(
        "What leakreport --format=json writes. Every key is always present, except those that "
        "are not required: what is unknown is null, a list that nothing was recorded for is "
        "empty. In a text that is no valid UTF-8 each byte from 0x80 on is written as "
        "\\u00XX, and bytes_escaped is true."));

/* From this number of records on, stacks are written as indices in a table of frames, unless the
 * user chose otherwise. */
#define TABLE_FROM 10000

static bool wants_frame_table(const struct report *report, const struct view *view)
{
    size_t records = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        size_t count = report->processes[i].record_count, most = most_parts(view);

        records += count < most ? count : most;
    }
    return view->json_frames == JSON_FRAMES_TABLE ||
           (view->json_frames == JSON_FRAMES_AUTO && records >= TABLE_FROM);
}

void json_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct json_context context = {.view = view};
    struct json_writer json = {
        .stream = stream, .context = &context, .frame_table = wants_frame_table(report, view)};

    json_write_object(&json, NULL, &json_report, report);
    json_stack_end(&json);
}

void ndjson_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct json_context context = {.view = view};
    struct json_writer json = {.stream = stream, .line = true, .context = &context};

    begin_line(&json, "report");
    json_write_fields(&json, &head_table, report);
    end_line(&json);
    for (; context.index < report->process_count; context.index++) {
        context.process = &report->processes[context.index];
        begin_line(&json, "process");
        json_put_number(&json, "process", context.index);
        json_write_fields(&json, &json_process_head, context.process);
        json_write_fields(&json, &json_process_tail, context.process);
        end_line(&json);
        write_json_records(&json, context.process);
        write_json_errors(&json, context.process);
        write_json_resources(&json, context.process);
    }
    json_stack_end(&json);
}
