/* sarif_place.c - see sarif_place.h. */
#include "symbolize/formats/sarif_place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/uri.h"

#define FLOW_MOST 10000 /* steps that hosts take */

/* ---- Files ---------------------------------------------------------------------------------- */

static void write_artifact(struct emit *emit, const char *path, const struct view *view)
{
    const char *near = source_near(view->relative, path);
    bool whole = *near == '/';
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (whole)
        fputs("file://", stream);
    uri_path(near, stream);
    fclose(stream);
    emit_open(emit, "artifactLocation", '{');
    emit_text(emit, "uri", text);
    if (!whole)
        emit_text(emit, "uriBaseId", SARIF_BASE);
    emit_close(emit, '}');
    free(text);
}

static void write_physical(struct emit *emit, const char *path, uint32_t line, uint32_t column,
                           const struct view *view)
{
    emit_open(emit, "physicalLocation", '{');
    write_artifact(emit, path, view);
    if (line) {
        emit_open(emit, "region", '{');
        emit_number(emit, "startLine", line);
        if (column)
            emit_number(emit, "startColumn", column);
        emit_close(emit, '}');
    }
    emit_close(emit, '}');
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* Braces are for arguments; brackets with a parenthesis behind them would be a link. */
char *sarif_words(const char *text)
{
    char *words = NULL;
    size_t size;
    FILE *stream = open_memstream(&words, &size);
    bool link = strstr(text, "](") != NULL;

    for (; *text; text++)
        if (*text == '{' || *text == '}')
            putc_unlocked(*text == '{' ? '(' : ')', stream);
        else if (link && (*text == '[' || *text == ']' || *text == '\\'))
            fprintf(stream, "\\%c", *text);
        else
            putc_unlocked(*text, stream);
    fclose(stream);
    return words;
}

static void write_message(struct emit *emit, const char *text)
{
    char *words = text ? sarif_words(text) : NULL;

    if (!words)
        return;
    emit_open(emit, "message", '{');
    emit_text(emit, "text", words);
    emit_close(emit, '}');
    free(words);
}

/* ---- Locations ------------------------------------------------------------------------------ */

static void write_logical(struct emit *emit, const struct frame *frame)
{
    char buffer[FRAME_NAME_SIZE];

    emit_open(emit, "logicalLocations", '[');
    emit_open(emit, NULL, '{');
    emit_text(emit, "fullyQualifiedName", frame_name(frame, buffer));
    if (frame->symbol)
        emit_text(emit, "decoratedName", frame->symbol);
    emit_text(emit, "kind", "function");
    emit_close(emit, '}');
    emit_close(emit, ']');
}

static void write_place(struct emit *emit, const struct frame *frame, const struct view *view)
{
    char buffer[PATH_MAX];

    if (frame->file)
        write_physical(emit, source_path(&view->source, frame->file, buffer, sizeof(buffer)),
                       frame->line, frame->column, view);
    else
        write_physical(emit, frame->module ? frame->module : "unknown", 0, 0, view);
}

void sarif_location(struct emit *emit, const char *key, const struct frame *frame, uint64_t id,
                    const char *message, const struct view *view)
{
    bool flat = emit->flat;

    emit_open(emit, key, '{');
    emit->flat = true;
    if (id)
        emit_number(emit, "id", id);
    write_place(emit, frame, view);
    write_logical(emit, frame);
    write_message(emit, message);
    emit_close(emit, '}');
    emit->flat = flat;
}

void sarif_file(struct emit *emit, const char *file, uint32_t line, uint64_t id,
                const char *message, const struct view *view)
{
    char buffer[PATH_MAX];

    emit_open(emit, NULL, '{');
    emit->flat = true;
    emit_number(emit, "id", id);
    write_physical(emit, source_path(&view->source, file, buffer, sizeof(buffer)), line, 0, view);
    write_message(emit, message);
    emit_close(emit, '}');
    emit->flat = false;
}

/* ---- Stacks --------------------------------------------------------------------------------- */

const struct frame *sarif_title(const struct frame *const *frames, size_t count, size_t user)
{
    for (size_t i = user; i < count; i++)
        if (frames[i]->file && frames[i]->role == FRAME_USER)
            return frames[i];
    if (user < count)
        return frames[user];
    return count ? frames[frame_first(frames, count)] : NULL;
}

static bool is_step(const struct frame *frame, const struct view *view)
{
    return frame->file && (frame->role == FRAME_USER || view->all_frames);
}

void sarif_flow(struct emit *emit, const struct frame *const *frames, size_t count, size_t user,
                const struct view *view)
{
    size_t first = view->all_frames || user == count ? 0 : user, steps = 0;

    for (size_t i = first; i < count; i++)
        steps += is_step(frames[i], view);
    if (!steps)
        return;
    emit_open(emit, "codeFlows", '[');
    emit_open(emit, NULL, '{');
    emit_open(emit, "threadFlows", '[');
    emit_open(emit, NULL, '{');
    emit_open(emit, "locations", '[');
    for (size_t i = count; i > first; i--) {
        char buffer[FRAME_NAME_SIZE];

        if (!is_step(frames[i - 1], view) || steps-- > FLOW_MOST)
            continue; /* the outer ones are missed least */
        emit_open(emit, NULL, '{');
        sarif_location(emit, "location", frames[i - 1], 0, frame_name(frames[i - 1], buffer), view);
        emit_close(emit, '}');
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
    emit_close(emit, ']');
    emit_close(emit, '}');
    emit_close(emit, ']');
}

void sarif_stack(struct emit *emit, const char *message, const struct stack *stack,
                 const struct view *view)
{
    emit_open(emit, NULL, '{');
    write_message(emit, message);
    emit_open(emit, "frames", '[');
    for (size_t i = 0; i < stack->count; i++) {
        const struct frame *frame = stack->frames[i];

        emit_open(emit, NULL, '{');
        emit->flat = true;
        sarif_location(emit, "location", frame, 0, NULL, view);
        if (frame->module)
            emit_text(emit, "module", frame->module);
        emit_close(emit, '}');
        emit->flat = false;
    }
    emit_close(emit, ']');
    emit_close(emit, '}');
}
