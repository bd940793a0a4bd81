/* json_parts.c - see json_parts.h. */
#include "common/view/json_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* A rendered frame, which many stacks share. */
struct frame_text {
    const char *text;
    size_t length;
    bool bytes_escaped;
};

static const struct frame_text *render_frame(struct arena *mem, const struct frame *frame,
                                             bool user)
{
    struct frame_text *made = arena_alloc(mem, sizeof(*made));
    char *text;
    struct json_writer json = {.flat = true, .depth = 1};

    json.stream = open_memstream(&text, &made->length);
    json_open(&json, NULL, '{');
    json_put_text(&json, "function", frame->function);
    json_put_text(&json, "file", frame->file);
    json_put_known(&json, "line", frame->line != 0, frame->line);
    json_put_known(&json, "column", frame->column != 0, frame->column);
    json_put_text(&json, "module", frame->module);
    json_put_text(&json, "build_id", frame->build_id);
    json_put_known(&json, "offset", frame->has_offset, frame->offset);
    json_put_bool(&json, "inlined", frame->inlined);
    json_put_bool(&json, "user", user);
    json_close(&json, '}');
    fclose(json.stream);
    made->text = arena_copy(mem, text, made->length);
    made->bytes_escaped = json.bytes_escaped;
    free(text);
    return made;
}

static void write_cached_frame(struct json_writer *json, const struct frame *frame, bool user)
{
    bool fresh;
    uint64_t *slot = hashmap_put(&json->written, (uintptr_t)frame + user, &fresh);
    const struct frame_text *text;

    if (!json->mem)
        json->mem = arena_begin();
    if (fresh)
        *slot = (uintptr_t)render_frame(json->mem, frame, user);
    text = (const void *)(uintptr_t)*slot;
    json_put_raw(json, NULL, text->text, text->length);
    json->bytes_escaped |= text->bytes_escaped;
}

void json_stack_end(struct json_writer *json)
{
    hashmap_end(&json->written);
    arena_end(json->mem);
    json->mem = NULL;
}

void json_frames(struct json_writer *json, const char *key, const struct frame *const *frames,
                 size_t count, size_t user)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        write_cached_frame(json, frames[i], i == user);
    json_close(json, ']');
}

void json_stack(struct json_writer *json, const char *key, const struct stack *stack)
{
    json_frames(json, key, stack->frames, stack->count,
                frame_first_user(stack->frames, stack->count));
}

void json_stack_or_null(struct json_writer *json, const char *key, const struct stack *stack)
{
    if (stack->count)
        json_stack(json, key, stack);
    else
        json_put_null(json, key);
}

void json_trace(struct json_writer *json, const char *key, const char *form,
                const struct stack *stack)
{
    if (!form) {
        json_put_null(json, key);
        return;
    }
    json_open(json, key, '{');
    json_put_text(json, "form", form);
    json_stack(json, "frames", stack);
    json_close(json, '}');
}

void json_thread(struct json_writer *json, const char *key, const struct thread_ref *thread)
{
    json_open(json, key, '{');
    json_put_number(json, "serial", thread->serial);
    json_put_text(json, "name", thread->name);
    json_close(json, '}');
}

void json_serial(struct json_writer *json, const struct thread_ref *thread)
{
    char text[16];

    snprintf(text, sizeof(text), "T%" PRIu32, thread->serial);
    json_put_text(json, "thread", thread->serial ? text : NULL);
}

void json_growth(struct json_writer *json, const struct growth *growth)
{
    if (!growth) {
        json_put_null(json, "growth");
        return;
    }
    json_open(json, "growth", '{');
    json_put_text(json, "verdict", growth_word[growth->verdict]);
    json_put_number(json, "bytes_per_second", growth->bytes_per_second);
    json_put_number(json, "peak_bytes", growth->peak_bytes);
    json_put_fraction(json, "confidence", growth->confidence);
    json_put_text(json, "reason", growth->reason);
    json_close(json, '}');
}
