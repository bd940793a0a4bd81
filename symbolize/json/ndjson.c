/* ndjson.c - see ndjson.h. */
#include "symbolize/json/ndjson.h"

#include "common/encode/json_writer.h"
#include "symbolize/json/json_crash.h"
#include "symbolize/json/json_bad_frees.h"
#include "symbolize/json/json_process.h"
#include "symbolize/json/json_record.h"
#include "common/view/json_parts.h"

struct writing {
    struct json json;
    size_t index; /* of the process */
};

static struct json *begin_line(struct writing *writing, const char *what)
{
    writing->json.some = writing->json.bytes_escaped = false;
    json_open(&writing->json, NULL, '{');
    json_put_text(&writing->json, "line", what);
    return &writing->json;
}

static struct json *begin_part(struct writing *writing, const char *what)
{
    struct json *json = begin_line(writing, what);

    json_put_number(json, "process", writing->index);
    return json;
}

static void end_line(struct json *json)
{
    json_put_bool(json, "bytes_escaped", json->bytes_escaped);
    json_close(json, '}');
}

static void write_record(struct writing *writing, const struct process *process,
                         const struct record *record)
{
    struct json *json = begin_part(writing, "record");

    json_record(json, process, record);
    end_line(json);
}

static void write_parts(struct writing *writing, const struct process *process,
                        const struct view *view, size_t most)
{
    struct json *json;

    for (size_t i = 0; i < process->record_count && i < most; i++)
        if (!view->growing || record_is_growing(&process->records[i]))
            write_record(writing, process, &process->records[i]);
    for (size_t i = 0; i < process->grown_count && i < most; i++)
        write_record(writing, process, &process->grown[i]);
    if (process->crash) {
        json = begin_part(writing, "error");
        json_crash(json, process->crash);
        end_line(json);
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        json = begin_part(writing, "error");
        json_mistake(json, &process->mistakes[i]);
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
    struct json *json = begin_line(&writing, "report");

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
        json_process_rest(json, process);
        end_line(json);
        if (!view->quiet)
            write_parts(&writing, process, view, view->top ? view->top : SIZE_MAX);
    }
    json_stack_end(&writing.json);
}
