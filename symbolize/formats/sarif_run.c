/* sarif_run.c - see sarif_run.h. */
#include "symbolize/formats/sarif_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbolize/formats/sarif_place.h"
#include "symbolize/formats/sarif_rules.h"
#include "common/base/text.h"
#include "common/encode/encode.h"

void sarif_tool(struct json *json)
{
    json_open(json, "tool", '{');
    json_open(json, "driver", '{');
    json_put_text(json, "name", "libleak");
    json_put_text(json, "semanticVersion", LEAK_VERSION);
    sarif_rules(json);
    json_close(json, '}');
    json_close(json, '}');
}

void sarif_base(struct json *json, const struct view *view)
{
    char *uri = NULL;
    size_t size;
    FILE *stream;

    if (!view->relative)
        return;
    stream = open_memstream(&uri, &size);
    fputs("file://", stream);
    escape_uri_path(view->relative, stream);
    fputs("/", stream);
    fclose(stream);
    json_open(json, "originalUriBaseIds", '{');
    json_open(json, SARIF_BASE, '{');
    json_put_text(json, "uri", uri);
    json_close(json, '}');
    json_close(json, '}');
    free(uri);
}

static void write_notification(struct json *json, const char *level, const char *text)
{
    char *words = sarif_words(text);

    json_open(json, NULL, '{');
    json_put_text(json, "level", level);
    json_open(json, "message", '{');
    json_put_text(json, "text", words);
    json_close(json, '}');
    json_close(json, '}');
    free(words);
}

void sarif_invocation(struct json *json, const struct report *report, uint64_t left)
{
    char text[160];

    json_open(json, "invocations", '[');
    json_open(json, NULL, '{');
    json_put_bool(json, "executionSuccessful", true);
    json_open(json, "toolExecutionNotifications", '[');
    if (left) {
        snprintf(text, sizeof(text),
                 "%.60s more, the least of all, left out: hosts take 25,000 of a run, and 10 MB.",
                 term_count(left, "result").text);
        write_notification(json, "warning", text);
    }
    for (size_t i = 0; i < report->process_count; i++)
        for (size_t k = 0; k < report->processes[i].note_count; k++)
            write_notification(json, "note", report->processes[i].notes[k]);
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
}
