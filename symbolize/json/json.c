/* json.c - writes the model as JSON; see json.h and docs/schema.json.
 *
 * One function per object of the schema. Nothing is left out for being unknown: that is null, or an
 * empty list where no such thing was looked for.
 */
#include "symbolize/json/json.h"

#include "common/encode/json_writer.h"
#include "symbolize/json/json_by.h"
#include "symbolize/json/json_crash.h"
#include "symbolize/json/json_bad_frees.h"
#include "symbolize/json/json_process.h"
#include "symbolize/json/json_record.h"
#include "common/view/json_parts.h"

/* What grew and is no more comes last. */
static void write_records(struct json *json, const struct process *process, const struct view *view,
                          size_t most)
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

static void write_errors(struct json *json, const struct process *process)
{
    json_open(json, "errors", '[');
    if (process->crash) {
        json_open(json, NULL, '{');
        json_crash(json, process->crash);
        json_close(json, '}');
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        json_open(json, NULL, '{');
        json_mistake(json, &process->mistakes[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_resources(struct json *json, const struct process *process, size_t most)
{
    json_open(json, "resources", '[');
    for (size_t i = 0; i < process->resource_count && i < most; i++) {
        json_open(json, NULL, '{');
        json_resource(json, &process->resources[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_process(struct json *json, const struct process *process, const struct view *view)
{
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    json_open(json, NULL, '{');
    json_process_head(json, process);
    write_records(json, process, view, most);
    if (view->quiet)
        json_put_empty(json, "errors");
    else
        write_errors(json, process);
    write_resources(json, process, most);
    json_process_rest(json, process);
    if (view->by)
        json_by(json, process, view);
    json_close(json, '}');
}

void json_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct json json = {.stream = stream};

    json_open(&json, NULL, '{');
    json_put_text(&json, "format", "libleak");
    json_put_number(&json, "version", 1);
    json_tool(&json);
    json_put_text(&json, "host", report->host);
    json_suppressions(&json, report);
    json_open(&json, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        write_process(&json, &report->processes[i], view);
    json_close(&json, ']');
    json_put_bool(&json, "bytes_escaped", json.bytes_escaped); /* known only now */
    json_close(&json, '}');
    json_stack_end(&json);
}
