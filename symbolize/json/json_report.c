/* json_report.c - the report as one JSON object, and as lines; see json.h and docs/schema.json.
 *
 * Each object of the schema has one function, here or in the other files of this folder.
 */
#include "symbolize/json/json.h"

#include "common/encode/json_writer.h"
#include "common/view/json_parts.h"
#include "symbolize/view/view.h"

/* ---- Sums by a key (--by) -------------------------------------------------------------------- */

static void write_json_part(struct json_writer *json, const char *key,
                            const struct verdict_total *sum)
{
    json_open(json, key, '{');
    json_total(json, sum);
    json_close(json, '}');
}

static void write_verdicts(struct json_writer *json, const struct view *view)
{
    json_open(json, "verdicts", '[');
    for (int v = 0; v < VERDICT_MAX; v++)
        if (group_by_includes(view, (enum verdict)v))
            json_put_text(json, NULL, verdict_word[v]);
    json_close(json, ']');
}

static void write_json_by(struct json_writer *json, const struct process *process,
                          const struct view *view)
{
    struct group_by_table table = group_by_make(process, view);

    json_open(json, "by", '{');
    json_put_text(json, "key", group_by_word[view->by]);
    write_verdicts(json, view);
    write_json_part(json, "total", &table.all);
    write_json_part(json, "rest", &table.rest);
    json_open(json, "rows", '[');
    for (size_t i = 0; i < table.shown; i++) {
        json_open(json, NULL, '{');
        json_put_text(json, "name", table.rows[i].name);
        if (view->by == BY_SITE)
            json_put_id(json, "signature", table.rows[i].first->signature);
        else
            json_put_null(json, "signature");
        json_total(json, &table.rows[i].sum);
        json_put_fraction(json, "share", group_by_share(&table, &table.rows[i]));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    group_by_end(&table);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Records that grew and were freed come last. */
static void write_json_records(struct json_writer *json, const struct process *process,
                               const struct view *view, size_t most)
{
    json_open(json, "records", '[');
    for (size_t i = 0; i < process->record_count && i < most; i++) {
        if (view->growing && !record_is_growing(&process->records[i]))
            continue;
        json_open(json, NULL, '{');
        json_record(json, process, &process->records[i]);
        json_close(json, '}');
    }
    for (size_t i = 0; i < process->grown_count && i < most; i++) {
        json_open(json, NULL, '{');
        json_record(json, process, &process->grown[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_errors(struct json_writer *json, const struct process *process)
{
    json_open(json, "errors", '[');
    if (process->crash) {
        json_open(json, NULL, '{');
        json_crash(json, process->crash);
        json_close(json, '}');
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        json_open(json, NULL, '{');
        json_bad_free(json, &process->mistakes[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_resources(struct json_writer *json, const struct process *process,
                                 size_t most)
{
    json_open(json, "resources", '[');
    for (size_t i = 0; i < process->resource_count && i < most; i++) {
        json_open(json, NULL, '{');
        json_resource(json, &process->resources[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_json_process(struct json_writer *json, const struct process *process,
                               const struct view *view)
{
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    json_open(json, NULL, '{');
    json_process_head(json, process);
    write_json_records(json, process, view, most);
    if (view->quiet)
        json_put_empty(json, "errors");
    else
        write_json_errors(json, process);
    write_json_resources(json, process, most);
    json_process_tail(json, process);
    if (view->by)
        write_json_by(json, process, view);
    json_close(json, '}');
}

void json_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct json_writer json = {.stream = stream};

    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak");
    json_put_number(&json, "version", 1);
    json_tool(&json);
    json_put_text(&json, "host", report->host);
    json_suppressions(&json, report);
    json_open(&json, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        write_json_process(&json, &report->processes[i], view);
    json_close(&json, ']');
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped); /* known only at the end */
    json_close(&json, '}');
    json_stack_end(&json);
}

/* ---- NDJSON ---------------------------------------------------------------------------------- */

struct writing {
    struct json_writer json;
    size_t index; /* of the current process */
};

static struct json_writer *begin_line(struct writing *writing, const char *what)
{
    writing->json.some = writing->json.bytes_escaped = false;
    json_open(&writing->json, NULL, '{');
    json_put_text(&writing->json, "line", what);
    return &writing->json;
}

static struct json_writer *begin_part(struct writing *writing, const char *what)
{
    struct json_writer *json = begin_line(writing, what);

    json_put_number(json, "process", writing->index);
    return json;
}

static void end_line(struct json_writer *json)
{
    json_put_bool(json, "bytes_escaped", json->bytes_escaped);
    json_close(json, '}');
}

static void write_ndjson_record(struct writing *writing, const struct process *process,
                                const struct record *record)
{
    struct json_writer *json = begin_part(writing, "record");

    json_record(json, process, record);
    end_line(json);
}

static void write_ndjson_parts(struct writing *writing, const struct process *process,
                               const struct view *view, size_t most)
{
    struct json_writer *json;

    for (size_t i = 0; i < process->record_count && i < most; i++)
        if (!view->growing || record_is_growing(&process->records[i]))
            write_ndjson_record(writing, process, &process->records[i]);
    for (size_t i = 0; i < process->grown_count && i < most; i++)
        write_ndjson_record(writing, process, &process->grown[i]);
    if (process->crash) {
        json = begin_part(writing, "error");
        json_crash(json, process->crash);
        end_line(json);
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        json = begin_part(writing, "error");
        json_bad_free(json, &process->mistakes[i]);
        end_line(json);
    }
    for (size_t i = 0; i < process->resource_count && i < most; i++) {
        json = begin_part(writing, "resource");
        json_resource(json, &process->resources[i]);
        end_line(json);
    }
}

void ndjson_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.json = {.stream = stream, .line = true}};
    struct json_writer *json = begin_line(&writing, "report");

    json_put_text(json, "format", "libleak");
    json_put_number(json, "version", 1);
    json_tool(json);
    json_put_text(json, "host", report->host);
    json_suppressions(json, report);
    end_line(json);
    for (writing.index = 0; writing.index < report->process_count; writing.index++) {
        const struct process *process = &report->processes[writing.index];

        json = begin_part(&writing, "process");
        json_process_head(json, process);
        json_process_tail(json, process);
        end_line(json);
        if (!view->quiet)
            write_ndjson_parts(&writing, process, view, view->top ? view->top : SIZE_MAX);
    }
    json_stack_end(&writing.json);
}
