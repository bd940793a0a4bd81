/* ndjson.c - see ndjson.h. */
#include "symbolize/json/ndjson.h"

#include "common/encode/json_writer.h"
#include "symbolize/json/json_crash.h"
#include "symbolize/json/json_bad_frees.h"
#include "symbolize/json/json_process.h"
#include "symbolize/json/json_record.h"
#include "common/view/json_stack.h"

struct writing {
    struct emit emit;
    size_t index; /* of the process */
};

static struct emit *begin_line(struct writing *writing, const char *what)
{
    writing->emit.some = writing->emit.bytes_escaped = false;
    emit_open(&writing->emit, NULL, '{');
    emit_text(&writing->emit, "line", what);
    return &writing->emit;
}

static struct emit *begin_part(struct writing *writing, const char *what)
{
    struct emit *emit = begin_line(writing, what);

    emit_number(emit, "process", writing->index);
    return emit;
}

static void end_line(struct emit *emit)
{
    emit_bool(emit, "bytes_escaped", emit->bytes_escaped);
    emit_close(emit, '}');
}

static void write_record(struct writing *writing, const struct process *process,
                         const struct record *record)
{
    struct emit *emit = begin_part(writing, "record");

    json_record(emit, process, record);
    end_line(emit);
}

static void write_parts(struct writing *writing, const struct process *process,
                        const struct view *view, size_t most)
{
    struct emit *emit;

    for (size_t i = 0; i < process->record_count && i < most; i++)
        if (!view->growing || record_grows(&process->records[i]))
            write_record(writing, process, &process->records[i]);
    for (size_t i = 0; i < process->grown_count && i < most; i++)
        write_record(writing, process, &process->grown[i]);
    if (process->crash) {
        emit = begin_part(writing, "error");
        json_crash(emit, process->crash);
        end_line(emit);
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        emit = begin_part(writing, "error");
        json_mistake(emit, &process->mistakes[i]);
        end_line(emit);
    }
    for (size_t i = 0; i < process->resource_count && i < most; i++) {
        emit = begin_part(writing, "resource");
        json_resource(emit, &process->resources[i]);
        end_line(emit);
    }
}

void ndjson_write(const struct report *report, const struct view *view, FILE *stream)
{
    struct writing writing = {.emit = {.stream = stream, .line = true}};
    struct emit *emit = begin_line(&writing, "report");

    emit_text(emit, "format", "libleak");
    emit_number(emit, "version", 1);
    json_tool(emit);
    emit_text(emit, "host", report->host);
    json_suppressions(emit, report);
    end_line(emit);
    for (writing.index = 0; writing.index < report->process_count; writing.index++) {
        const struct process *process = &report->processes[writing.index];

        emit = begin_part(&writing, "process");
        json_process_head(emit, process);
        json_process_rest(emit, process);
        end_line(emit);
        if (!view->quiet)
            write_parts(&writing, process, view, view->top ? view->top : SIZE_MAX);
    }
    json_stack_end(&writing.emit);
}
