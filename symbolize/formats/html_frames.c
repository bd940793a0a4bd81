/* html_frames.c - the frames of a page and their source; see html.h. */
#include "symbolize/formats/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"

#define SOURCES_MOST 1500 /* frames with source */
#define SOURCE_AROUND 7   /* lines of source before and after each */
#define SOURCE_COLUMNS 240

uint64_t html_frames_id(struct html_frames *frames, const struct frame *frame)
{
    uint64_t *slot = hashmap_put(&frames->ids, (uintptr_t)frame, NULL);

    if (!*slot) {
        frames->frames = array_grow(frames->frames, &frames->capacity, frames->count + 1,
                                    sizeof(*frames->frames));
        frames->frames[frames->count++] = frame;
        *slot = frames->count;
    }
    return *slot - 1;
}

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static void write_frames(struct json_writer *json, const struct html_frames *frames,
                         const struct view *view)
{
    json_open(json, "frames", '[');
    for (size_t i = 0; i < frames->count; i++) {
        const struct frame *frame = frames->frames[i];
        char buffer[4096], place[64], name[FRAME_NAME_SIZE];
        const char *path = frame->file;

        if (path)
            path = report_display_path(view, path, buffer, sizeof(buffer));
        snprintf(place, sizeof(place), "+0x%" PRIx64, frame->offset);
        json_open(json, NULL, '[');
        json->flat = true;
        json_put_text(json, NULL, text_or_null(frame->function));
        json_put_text(json, NULL, path);
        json_put_number(json, NULL, frame->line);
        json_put_text(json, NULL,
                      frame->module       ? base_name(frame->module)
                      : frame->has_offset ? place
                                          : NULL);
        json_put_number(json, NULL,
                        frame->role == FRAME_USER      ? 0
                        : frame->role == FRAME_WRAPPER ? 2
                                                       : 1);
        json_put_bool(json, NULL, frame->inlined);
        json_put_text(json, NULL, frame->function ? NULL : frame_name(frame, name));
        json_close(json, ']');
        json->flat = false;
    }
    json_close(json, ']');
}

/* ---- Source ---------------------------------------------------------------------------------- */

struct lines {
    char text[2 * SOURCE_AROUND + 1][SOURCE_COLUMNS];
};

static void write_source(struct json_writer *json, const struct html_frames *frames,
                         const struct view *view, size_t id)
{
    const struct frame *frame = frames->frames[id];
    uint32_t first = frame->line > SOURCE_AROUND ? frame->line - SOURCE_AROUND : 1;
    struct source_name name = {frame->file, frame->module};
    struct lines lines;
    size_t count = source_read_lines(&view->source, &name, first, lines.text[0],
                                     2 * SOURCE_AROUND + 1, SOURCE_COLUMNS);
    char key[24];

    if (first + count <= frame->line)
        return;
    snprintf(key, sizeof(key), "%zu", id);
    json_open(json, key, '[');
    json->flat = true;
    json_put_number(json, NULL, first);
    json_open(json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        json_put_text(json, NULL, lines.text[i]);
    json_close(json, ']');
    json_close(json, ']');
    json->flat = false;
}

static void write_sources(struct json_writer *json, const struct html_frames *frames,
                          const struct view *view)
{
    size_t written = 0;

    json_open(json, "source", '{');
    for (size_t i = 0; i < frames->count && written < SOURCES_MOST; i++) {
        const struct frame *frame = frames->frames[i];

        if (view->no_source || !frame->file || !frame->line || frame->role == FRAME_RUNTIME)
            continue;
        write_source(json, frames, view, i);
        written++;
    }
    json_close(json, '}');
}

void html_frames_write(struct json_writer *json, const struct html_frames *frames,
                       const struct view *view)
{
    write_frames(json, frames, view);
    write_sources(json, frames, view);
}

void html_frames_end(struct html_frames *frames)
{
    hashmap_end(&frames->ids);
    free(frames->frames);
}
