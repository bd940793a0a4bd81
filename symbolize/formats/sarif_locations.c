/* sarif_locations.c - writes frames, stacks and messages of SARIF; described in sarif.h. */
#include "symbolize/formats/sarif.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "leak_escape.h"
#include "common/encode/encode.h"

#define FLOW_MOST 10000 /* most steps of a code flow that hosts accept */

/* ---- Writing the location of a file ---------------------------------------------------------- */

static void write_artifact(struct json_writer *json, const char *path, const struct view *view)
{
    const char *near = source_relative_path(view->relative, path);
    bool whole = *near == '/';
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (whole)
        fputs("file://", stream);
    escape_uri_path(near, stream);
    fclose(stream);
    json_open(json, "artifactLocation", '{');
    json_put_text(json, "uri", text);
    if (!whole)
        json_put_text(json, "uriBaseId", SARIF_BASE);
    json_close(json, '}');
    free(text);
}

static void write_physical(struct json_writer *json, const char *path, uint32_t line,
                           uint32_t column, const struct view *view)
{
    json_open(json, "physicalLocation", '{');
    write_artifact(json, path, view);
    if (line) {
        json_open(json, "region", '{');
        json_put_number(json, "startLine", line);
        if (column)
            json_put_number(json, "startColumn", column);
        json_close(json, '}');
    }
    json_close(json, '}');
}

/* ---- Escaping texts -------------------------------------------------------------------------- */

/* Writes one character of a message. Braces would mark arguments, so they are replaced; if the text
 * has "](" (link), brackets would make a link, so they are escaped. */
static void write_sarif_character(char character, bool link, FILE *stream)
{
    if (character == '{' || character == '}')
        character = character == '{' ? '(' : ')';
    else if (link && strchr("[]\\", character))
        putc_unlocked('\\', stream);
    putc_unlocked(character, stream);
}

/* Control characters are shown as leak_escape.h describes, except line ends. */
char *sarif_escape(const char *text)
{
    char *words = NULL;
    size_t size;
    FILE *stream = open_memstream(&words, &size);
    bool link = strstr(text, "](") != NULL;

    while (*text) {
        char shown[LEAK_ESCAPE_SIZE];
        size_t length = leak_escape(text, shown);

        for (const char *at = *text == '\n' ? "\n" : shown; *at; at++)
            write_sarif_character(*at, link, stream);
        text += length;
    }
    fclose(stream);
    return words;
}

static void write_sarif_message(struct json_writer *json, const char *text)
{
    char *words = text ? sarif_escape(text) : NULL;

    if (!words)
        return;
    json_open(json, "message", '{');
    json_put_text(json, "text", words);
    json_close(json, '}');
    free(words);
}

/* ---- Writing locations of frames ------------------------------------------------------------- */

static void write_logical(struct json_writer *json, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];

    json_open(json, "logicalLocations", '[');
    json_open(json, NULL, '{');
    json_put_text(json, "fullyQualifiedName", frame_name(frame, buffer));
    if (frame->symbol)
        json_put_text(json, "decoratedName", frame->symbol);
    json_put_text(json, "kind", "function");
    json_close(json, '}');
    json_close(json, ']');
}

static void write_sarif_place(struct json_writer *json, const struct frame *frame,
                              const struct view *view)
{
    char buffer[PATH_MAX];

    if (frame->file)
        write_physical(json, source_map_path(&view->source, frame->file, buffer, sizeof(buffer)),
                       frame->line, frame->column, view);
    else
        write_physical(json, frame->module ? frame->module : "unknown", 0, 0, view);
}

void sarif_location(struct json_writer *json, const char *key, const struct frame *frame,
                    uint64_t id, const char *message, const struct view *view)
{
    bool flat = json->flat;

    json_open(json, key, '{');
    json->flat = true;
    if (id)
        json_put_number(json, "id", id);
    write_sarif_place(json, frame, view);
    write_logical(json, frame);
    write_sarif_message(json, message);
    json_close(json, '}');
    json->flat = flat;
}

void sarif_file(struct json_writer *json, const char *file, uint32_t line, uint64_t id,
                const char *message, const struct view *view)
{
    char buffer[PATH_MAX];

    json_open(json, NULL, '{');
    json->flat = true;
    json_put_number(json, "id", id);
    write_physical(json, source_map_path(&view->source, file, buffer, sizeof(buffer)), line, 0,
                   view);
    write_sarif_message(json, message);
    json_close(json, '}');
    json->flat = false;
}

/* ---- Writing stacks -------------------------------------------------------------------------- */

const struct frame *sarif_title_frame(const struct frame *const *frames, size_t count, size_t user)
{
    for (size_t i = user; i < count; i++)
        if (frames[i]->file && frames[i]->role == FRAME_USER)
            return frames[i];
    if (user < count)
        return frames[user];
    return count ? frames[frame_first_caller(frames, count)] : NULL;
}

static bool is_step(const struct frame *frame, const struct view *view)
{
    return frame->file && (frame->role == FRAME_USER || view->all_frames);
}

void sarif_flow(struct json_writer *json, const struct frame *const *frames, size_t count,
                size_t user, const struct view *view)
{
    size_t first = view->all_frames || user == count ? 0 : user, steps = 0;

    for (size_t i = first; i < count; i++)
        steps += is_step(frames[i], view);
    if (!steps)
        return;
    json_open(json, "codeFlows", '[');
    json_open(json, NULL, '{');
    json_open(json, "threadFlows", '[');
    json_open(json, NULL, '{');
    json_open(json, "locations", '[');
    for (size_t i = count; i > first; i--) {
        char buffer[FRAME_NAME_SIZE];

        if (!is_step(frames[i - 1], view) || steps-- > FLOW_MOST)
            continue; /* left out beyond the limit: the outermost frames are the least important */
        json_open(json, NULL, '{');
        sarif_location(json, "location", frames[i - 1], 0, frame_name(frames[i - 1], buffer), view);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
    json_close(json, ']');
}

void sarif_stack(struct json_writer *json, const char *message, const struct stack *stack,
                 const struct view *view)
{
    json_open(json, NULL, '{');
    write_sarif_message(json, message);
    json_open(json, "frames", '[');
    for (size_t i = 0; i < stack->count; i++) {
        const struct frame *frame = stack->frames[i];

        json_open(json, NULL, '{');
        json->flat = true;
        sarif_location(json, "location", frame, 0, NULL, view);
        if (frame->module)
            json_put_text(json, "module", frame->module);
        json_close(json, '}');
        json->flat = false;
    }
    json_close(json, ']');
    json_close(json, '}');
}
