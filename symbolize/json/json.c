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
#include "common/view/json_stack.h"

/* What grew and is no more comes last. */
static void write_records(struct emit *emit, const struct process *process, const struct view *view,
                          size_t most)
{
    emit_open(emit, "records", '[');
    for (size_t i = 0; i < process->record_count && i < most; i++) {
        if (view->growing && !record_grows(&process->records[i]))
            continue;
        emit_open(emit, NULL, '{');
        json_record(emit, process, &process->records[i]);
        emit_close(emit, '}');
    }
    for (size_t i = 0; i < process->grown_count && i < most; i++) {
        emit_open(emit, NULL, '{');
        json_record(emit, process, &process->grown[i]);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_errors(struct emit *emit, const struct process *process)
{
    emit_open(emit, "errors", '[');
    if (process->crash) {
        emit_open(emit, NULL, '{');
        json_crash(emit, process->crash);
        emit_close(emit, '}');
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        emit_open(emit, NULL, '{');
        json_mistake(emit, &process->mistakes[i]);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_resources(struct emit *emit, const struct process *process, size_t most)
{
    emit_open(emit, "resources", '[');
    for (size_t i = 0; i < process->resource_count && i < most; i++) {
        emit_open(emit, NULL, '{');
        json_resource(emit, &process->resources[i]);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
}

static void write_process(struct emit *emit, const struct process *process, const struct view *view)
{
    size_t most = view->quiet ? 0 : view->top ? view->top : SIZE_MAX;

    emit_open(emit, NULL, '{');
    json_process_head(emit, process);
    write_records(emit, process, view, most);
    if (view->quiet)
        emit_empty(emit, "errors");
    else
        write_errors(emit, process);
    write_resources(emit, process, most);
    json_process_rest(emit, process);
    if (view->by)
        json_by(emit, process, view);
    emit_close(emit, '}');
}

void json_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct emit emit = {.stream = stream};

    emit_open(&emit, NULL, '{');
    emit_text(&emit, "format", "libleak");
    emit_number(&emit, "version", 1);
    json_tool(&emit);
    emit_text(&emit, "host", report->host);
    json_suppressions(&emit, report);
    emit_open(&emit, "processes", '[');
    for (size_t i = 0; i < report->process_count; i++)
        write_process(&emit, &report->processes[i], view);
    emit_close(&emit, ']');
    emit_bool(&emit, "bytes_escaped", emit.bytes_escaped); /* known only now */
    emit_close(&emit, '}');
    json_stack_end(&emit);
}
