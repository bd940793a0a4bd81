/* html_stacks.c - writes the stacks, frames and texts of an HTML page, and source lines; described
 * in html.h.
 */
#include "symbolize/formats/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES_MOST 1500 /* most frames with source lines */
#define SOURCE_AROUND 7   /* number of source lines before and after the line of a frame */
#define SOURCE_COLUMNS 240

/* Bits of a frame's number in the list "kind". The two lowest bits are the role of the frame: 0 =
 * user code, 1 = C or C++ runtime, 2 = wrapper. */
#define KIND_INLINED 4
#define KIND_NAMELESS 8

uint32_t html_frame_id(struct html_stacks *stacks, const struct frame *frame)
{
    uint64_t *slot = hashmap_put(&stacks->frame_ids, (uintptr_t)frame, NULL);

    if (!*slot) {
        stacks->frames = array_grow(stacks->frames, &stacks->frame_capacity,
                                    stacks->frame_count + 1, sizeof(*stacks->frames));
        stacks->frames[stacks->frame_count++] = frame;
        *slot = stacks->frame_count;
    }
    return (uint32_t)(*slot - 1);
}

static uint32_t add_stack(struct html_stacks *stacks, uint32_t up, uint32_t frame)
{
    stacks->stacks = array_grow(stacks->stacks, &stacks->stack_capacity, stacks->stack_count + 1,
                                sizeof(*stacks->stacks));
    stacks->stacks[stacks->stack_count] = (struct html_stack){up, frame};
    return (uint32_t)stacks->stack_count++;
}

static uint32_t stack_id(struct html_stacks *stacks, const struct frame *const *frames,
                         size_t count)
{
    uint32_t at = 0;

    if (!stacks->stack_count)
        add_stack(stacks, 0, 0);
    while (count--) {
        uint32_t frame = html_frame_id(stacks, frames[count]);
        uint64_t *slot = hashmap_put(&stacks->stack_ids, (uint64_t)at << 32 | frame, NULL);

        if (!*slot)
            *slot = add_stack(stacks, at, frame);
        at = (uint32_t)*slot;
    }
    return at;
}

static uint32_t add_text(struct html_stacks *stacks, const char *text)
{
    stacks->texts = array_grow(stacks->texts, &stacks->text_capacity, stacks->text_count + 1,
                               sizeof(*stacks->texts));
    if (!stacks->mem)
        stacks->mem = arena_begin();
    stacks->texts[stacks->text_count] = arena_copy_text(stacks->mem, text);
    return (uint32_t)stacks->text_count++;
}

uint32_t html_text_id(struct html_stacks *stacks, const char *text)
{
    if (!stacks->text_count)
        add_text(stacks, NULL);
    if (!text || !*text)
        return 0;
    /* tries other seeds, because different texts may have an equal hash */
    for (uint64_t seed = 0;; seed++) {
        uint64_t hash = hash_text(seed, text, strlen(text));
        uint64_t *slot = hashmap_put(&stacks->text_ids, hash, NULL);

        if (!*slot)
            *slot = add_text(stacks, text);
        if (strcmp(stacks->texts[*slot], text) == 0)
            return (uint32_t)*slot;
    }
}

/* ---- Writing the frames as one list for each property ---------------------------------------- */

enum column { COLUMN_FN, COLUMN_FILE, COLUMN_LINE, COLUMN_MODULE, COLUMN_KIND, COLUMN_MAX };

static const char *const column_name[COLUMN_MAX] = {"fn", "file", "line", "module", "kind"};

static uint32_t kind_of(const struct frame *frame)
{
    uint32_t role = frame->role == FRAME_USER ? 0 : frame->role == FRAME_WRAPPER ? 2 : 1;

    return role | (frame->inlined ? KIND_INLINED : 0) | (frame->function ? 0 : KIND_NAMELESS);
}

static uint32_t file_of(struct html_stacks *stacks, const struct frame *frame,
                        const struct view *view)
{
    char buffer[4096];

    if (!frame->file)
        return 0;
    return html_text_id(stacks, report_display_path(view, frame->file, buffer, sizeof(buffer)));
}

static uint32_t module_of(struct html_stacks *stacks, const struct frame *frame)
{
    char place[64];

    if (frame->module || !frame->has_offset)
        return html_text_id(stacks, frame->module ? base_name(frame->module) : NULL);
    snprintf(place, sizeof(place), "+0x%" PRIx64, frame->offset);
    return html_text_id(stacks, place);
}

static uint32_t value_of(struct html_stacks *stacks, const struct frame *frame,
                         const struct view *view, enum column column)
{
    char name[FRAME_NAME_SIZE];

    switch (column) {
    case COLUMN_FN:
        return html_text_id(stacks, frame->function ? frame->function : frame_name(frame, name));
    case COLUMN_FILE:
        return file_of(stacks, frame, view);
    case COLUMN_LINE:
        return frame->line;
    case COLUMN_MODULE:
        return module_of(stacks, frame);
    default:
        return kind_of(frame);
    }
}

static void write_frames(struct json_writer *json, struct html_stacks *stacks,
                         const struct view *view)
{
    json_open(json, "frames", '{');
    for (int column = 0; column < COLUMN_MAX; column++) {
        json_open(json, column_name[column], '[');
        json->flat = true;
        for (size_t i = 0; i < stacks->frame_count; i++)
            json_put_number(json, NULL,
                            value_of(stacks, stacks->frames[i], view, (enum column)column));
        json_close(json, ']');
        json->flat = false;
    }
    json_close(json, '}');
}

static void write_stacks(struct json_writer *json, struct html_stacks *stacks)
{
    stack_id(stacks, NULL, 0); /* adds the empty stack, which has index 0 */
    json_open(json, "stacks", '{');
    json->flat = true;
    json_open(json, "up", '[');
    for (size_t i = 0; i < stacks->stack_count; i++)
        /* the difference is mostly 1, which needs fewer bytes than an index */
        json_put_number(json, NULL, i - stacks->stacks[i].up);
    json_close(json, ']');
    json_open(json, "frame", '[');
    for (size_t i = 0; i < stacks->stack_count; i++)
        json_put_number(json, NULL, stacks->stacks[i].frame);
    json_close(json, ']');
    json_close(json, '}');
    json->flat = false;
}

static void write_texts(struct json_writer *json, struct html_stacks *stacks)
{
    html_text_id(stacks, NULL); /* adds the empty text, which has index 0 */
    json_open(json, "texts", '[');
    for (size_t i = 0; i < stacks->text_count; i++)
        json_put_text(json, NULL, stacks->texts[i]);
    json_close(json, ']');
}

/* ---- Writing source lines -------------------------------------------------------------------- */

struct lines {
    char text[2 * SOURCE_AROUND + 1][SOURCE_COLUMNS];
};

static void write_source(struct json_writer *json, const struct frame *frame,
                         const struct view *view, size_t id)
{
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

static void write_sources(struct json_writer *json, const struct html_stacks *stacks,
                          const struct view *view)
{
    size_t written = 0;

    json_open(json, "source", '{');
    for (size_t i = 0; i < stacks->frame_count && written < SOURCES_MOST; i++) {
        const struct frame *frame = stacks->frames[i];

        if (view->no_source || !frame->file || !frame->line || frame->role == FRAME_RUNTIME)
            continue;
        write_source(json, frame, view, i);
        written++;
    }
    json_close(json, '}');
}

void html_stacks_write(struct json_writer *json, struct html_stacks *stacks,
                       const struct view *view)
{
    write_frames(json, stacks, view);
    write_stacks(json, stacks);
    write_sources(json, stacks, view);
    write_texts(json, stacks);
}

void html_stacks_end(struct html_stacks *stacks)
{
    hashmap_end(&stacks->frame_ids);
    hashmap_end(&stacks->stack_ids);
    hashmap_end(&stacks->text_ids);
    free(stacks->frames);
    free(stacks->stacks);
    free(stacks->texts);
    arena_end(stacks->mem);
}

/* Returns the index of the first frame to write: frames of allocation functions are left out,
 * unless there are no others. */
static size_t first_shown_frame(const struct html_trace *trace, const struct view *view)
{
    return view->all_frames ? 0 : frame_first_caller(trace->frames, trace->count);
}

void html_put_stack(struct json_writer *json, struct html_stacks *stacks, const struct view *view,
                    const char *key, const char *user_key, const struct html_trace *trace)
{
    size_t first = first_shown_frame(trace, view);

    json_put_number(json, key, stack_id(stacks, trace->frames + first, trace->count - first));
    json_put_number(json, user_key, trace->user > first ? trace->user - first : 0);
}
