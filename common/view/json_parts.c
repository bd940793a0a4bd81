/* json_parts.c - writes frames, stacks and other parts of JSON reports. */
#include "common/view/json_parts.h"

#include <stdlib.h>

/* ---- Frames and stacks ----------------------------------------------------------------------- */

struct marked_frame {
    const struct frame *frame;
    bool user;
};

static const struct json_field frame_fields[] = {
    JSON_TEXT(frame, "function", function, JSON_MAY_BE_NULL),
    JSON_TEXT(frame, "file", file, JSON_MAY_BE_NULL),
    JSON_COUNT(frame, "line", line, JSON_NULL_IF_0),
    JSON_COUNT(frame, "column", column, JSON_NULL_IF_0),
    JSON_TEXT(frame, "module", module, JSON_MAY_BE_NULL),
    JSON_TEXT(frame, "build_id", build_id, JSON_MAY_BE_NULL,
              JSON_LIMITS("'pattern': '^([0-9a-f]{2})+$'")),
    JSON_COUNT(frame, "offset", offset, JSON_KNOWN_BY(frame, has_offset),
               JSON_ABOUT("the address that was looked up (return address - 1) in the address "
                          "space of the module; where module is null, the address itself")),
    JSON_BOOLEAN(frame, "inlined", inlined, JSON_ABOUT("into the next frame")),
    JSON_BOOLEAN(frame, "python", python, JSON_OPTIONAL, JSON_KNOWN_BY(frame, python),
                 JSON_ABOUT("a function in Python, executed by the frame of the interpreter "
                            "further out; left out of other frames")),
};

static const struct json_table frame_table = JSON_TABLE(NULL, frame_fields);

static const struct json_field marked_frame_fields[] = {
    JSON_INCLUDE_POINTER(marked_frame, frame, frame_table),
    JSON_BOOLEAN(marked_frame, "user", user, JSON_ABOUT("the frame that the record is about")),
};

const struct json_table json_frame =
    JSON_TABLE("frame", marked_frame_fields, JSON_ABOUT("One function on the stack."));

static const struct json_field frame_or_index_fields[] = {JSON_GROUP("frame", json_frame)};

const struct json_table json_frame_or_index =
    JSON_TABLE("frame_or_index", frame_or_index_fields,
               JSON_ABOUT("A frame, or its index in the list frames of the report, when it has one "
                          "(--json-frames=table)."),
               .schema = "'anyOf': [{'$ref': '#/definitions/frame'}, "
                         "{'type': 'integer', 'minimum': 0}]");

/* The JSON text of a frame, made once and written in each stack that has the frame. */
struct frame_text {
    const char *text;
    size_t length, index;
    bool bytes_escaped;
};

static struct frame_text *render_frame(struct arena *mem, const struct frame *frame, bool user)
{
    struct frame_text *made = arena_alloc(mem, sizeof(*made));
    char *text;
    struct json_writer json = {.flat = true, .depth = 1};

    json.stream = open_memstream(&text, &made->length);
    json_write_object(&json, NULL, &json_frame, &(struct marked_frame){frame, user});
    fclose(json.stream);
    made->text = arena_copy(mem, text, made->length);
    made->bytes_escaped = json.bytes_escaped;
    free(text);
    return made;
}

static const struct frame_text *cached_frame(struct json_writer *json, const struct frame *frame,
                                             bool user)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&json->written, (uintptr_t)frame + user, &fresh);
    struct frame_text *text;

    if (!fresh)
        return (const void *)(uintptr_t)*slot;
    if (!json->mem)
        json->mem = arena_begin();
    text = render_frame(json->mem, frame, user);
    text->index = json->frame_count;
    *slot = (uintptr_t)text;
    json->frame_texts = array_grow(json->frame_texts, &json->frame_capacity, json->frame_count + 1,
                                   sizeof(*json->frame_texts));
    json->frame_texts[json->frame_count++] = text;
    return text;
}

static void write_cached_frame(struct json_writer *json, const struct frame *frame, bool user)
{
    const struct frame_text *text = cached_frame(json, frame, user);

    if (json->frame_table)
        json_put_number(json, NULL, text->index);
    else
        json_put_raw(json, NULL, text->text, text->length);
    json->bytes_escaped |= text->bytes_escaped;
}

void json_put_frame_table(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    if (!json->frame_table)
        return;
    json_open(json, key, '[');
    for (size_t i = 0; i < json->frame_count; i++)
        json_put_raw(json, NULL, json->frame_texts[i]->text, json->frame_texts[i]->length);
    json_close(json, ']');
}

void json_stack_end(struct json_writer *json)
{
    hashmap_end(&json->written);
    arena_end(json->mem);
    free(json->frame_texts);
    json->mem = NULL;
    json->frame_texts = NULL;
    json->frame_count = json->frame_capacity = 0;
}

void json_frames(struct json_writer *json, const char *key, const struct frame *const *frames,
                 size_t count, size_t user)
{
    bool flat = json->flat;

    json->flat |= json->frame_table;
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        write_cached_frame(json, frames[i], i == user);
    json_close(json, ']');
    json->flat = flat;
}

void json_put_stack(struct json_writer *json, const char *key, const void *stack)
{
    const struct stack *at = stack;

    json_frames(json, key, at->frames, at->count, frame_first_user(at->frames, at->count));
}

/* ---- Tables of threads, growth, moments and the tool ----------------------------------------- */

static const struct json_field thread_fields[] = {
    JSON_COUNT(thread_ref, "serial", serial, JSON_MAY_BE_NULL),
    JSON_TEXT(thread_ref, "name", name, JSON_MAY_BE_NULL),
};

const struct json_table json_thread =
    JSON_TABLE("thread", thread_fields,
               JSON_ABOUT("T1 is the main thread; a null serial stands for further threads, whose "
                          "number is unknown"));

static void put_whole_number(struct json_writer *json, const char *key, const void *number)
{
    json_put_number(json, key, *(const uint64_t *)number);
}

static const struct json_field growth_fields[] = {
    JSON_WORD(growth, "verdict", verdict, growth_word, GROWTH_MAX),
    JSON_PUT(growth, "bytes_per_second", NUMBER, bytes_per_second, put_whole_number,
             JSON_ABOUT("0 unless it grows")),
    JSON_COUNT(growth, "peak_bytes", peak_bytes),
    JSON_NUMBER(growth, "confidence", confidence, JSON_ABOUT("0 to 1")),
    JSON_TEXT(growth, "reason", reason, JSON_ABOUT("one sentence for people")),
};

const struct json_table json_growth = JSON_TABLE("growth", growth_fields);

static const struct json_field moment_fields[] = {
    JSON_TIME(moment, "t", time_ns),
    JSON_COUNT(moment, "live_bytes", bytes),
    JSON_COUNT(moment, "live_blocks", blocks),
};

const struct json_table json_moment = JSON_TABLE("moment", moment_fields);

static void put_tool_version(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    json_put_text(json, key, LEAK_VERSION);
}

static const struct json_field tool_fields[] = {
    JSON_CONSTANT("name", "libleak"),
    JSON_COMPUTED("version", TEXT, put_tool_version),
};

const struct json_table json_tool = JSON_TABLE("tool", tool_fields);

void json_put_version(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    json_put_number(json, key, 1);
}

void json_put_bytes_escaped(struct json_writer *json, const char *key, const void *object)
{
    (void)object;
    json_put_bool(json, key, json->bytes_escaped);
}
