/* sarif_run.c - see sarif_run.h. */
#include "symbolize/formats/sarif_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbolize/formats/sarif_place.h"
#include "symbolize/formats/sarif_rules.h"
#include "common/base/term_text.h"
#include "common/base/uri.h"

void sarif_tool(struct emit *emit)
{
    emit_open(emit, "tool", '{');
    emit_open(emit, "driver", '{');
    emit_text(emit, "name", "libleak");
    emit_text(emit, "semanticVersion", LEAK_VERSION);
    sarif_rules(emit);
    emit_close(emit, '}');
    emit_close(emit, '}');
}

void sarif_base(struct emit *emit, const struct view *view)
{
    char *uri = NULL;
    size_t size;
    FILE *stream;

    if (!view->relative)
        return;
    stream = open_memstream(&uri, &size);
    fputs("file://", stream);
    uri_path(view->relative, stream);
    fputs("/", stream);
    fclose(stream);
    emit_open(emit, "originalUriBaseIds", '{');
    emit_open(emit, SARIF_BASE, '{');
    emit_text(emit, "uri", uri);
    emit_close(emit, '}');
    emit_close(emit, '}');
    free(uri);
}

static void write_notification(struct emit *emit, const char *level, const char *text)
{
    char *words = sarif_words(text);

    emit_open(emit, NULL, '{');
    emit_text(emit, "level", level);
    emit_open(emit, "message", '{');
    emit_text(emit, "text", words);
    emit_close(emit, '}');
    emit_close(emit, '}');
    free(words);
}

void sarif_invocation(struct emit *emit, const struct report *report, uint64_t left)
{
    char text[160];

    emit_open(emit, "invocations", '[');
    emit_open(emit, NULL, '{');
    emit_bool(emit, "executionSuccessful", true);
    emit_open(emit, "toolExecutionNotifications", '[');
    if (left) {
        snprintf(text, sizeof(text),
                 "%.60s more, the least of all, left out: hosts take 25,000 of a run, and 10 MB.",
                 show_count(left, "result").text);
        write_notification(emit, "warning", text);
    }
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].note_count; k++)
            write_notification(emit, "note", report->processes[i].notes[k]);
    emit_close(emit, ']');
    emit_close(emit, '}');
    emit_close(emit, ']');
}
