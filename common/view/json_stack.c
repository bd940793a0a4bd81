/* json_stack.c - see json_stack.h and docs/schema.json. */
#include "common/view/json_stack.h"

#include <inttypes.h>
#include <stdlib.h>

/* A frame as it is written: it is shared by many stacks. */
struct frame_text {
    const char *text;
    size_t length;
    bool bytes_escaped;
};

static const struct frame_text *make_text(struct mem *mem, const struct frame *frame, bool user)
{
    struct frame_text *made = mem_take(mem, sizeof(*made));
    char *text;
    struct emit emit = {.flat = true, .depth = 1};

    emit.stream = open_memstream(&text, &made->length);
    emit_open(&emit, NULL, '{');
    emit_text(&emit, "function", frame->function);
    emit_text(&emit, "file", frame->file);
    emit_known(&emit, "line", frame->line != 0, frame->line);
    emit_known(&emit, "column", frame->column != 0, frame->column);
    emit_text(&emit, "module", frame->module);
    emit_text(&emit, "build_id", frame->build_id);
    emit_known(&emit, "offset", frame->has_offset, frame->offset);
    emit_bool(&emit, "inlined", frame->inlined);
    emit_bool(&emit, "user", user);
    emit_close(&emit, '}');
    fclose(emit.stream);
    made->text = mem_copy(mem, text, made->length);
    made->bytes_escaped = emit.bytes_escaped;
    free(text);
    return made;
}

static void write_frame(struct emit *emit, const struct frame *frame, bool user)
{
    bool fresh;
    uint64_t *slot = map_put(&emit->written, (uintptr_t)frame + user, &fresh);
    const struct frame_text *text;

    if (!emit->mem)
        emit->mem = mem_begin();
    if (fresh)
        *slot = (uintptr_t)make_text(emit->mem, frame, user);
    text = (const void *)(uintptr_t)*slot;
    emit_made(emit, NULL, text->text, text->length);
    emit->bytes_escaped |= text->bytes_escaped;
}

void json_stack_end(struct emit *emit)
{
    map_end(&emit->written);
    mem_end(emit->mem);
    emit->mem = NULL;
}

void json_frames(struct emit *emit, const char *key, const struct frame *const *frames,
                 size_t count, size_t user)
{
    emit_open(emit, key, '[');
    for (size_t i = 0; i < count; i++)
        write_frame(emit, frames[i], i == user);
    emit_close(emit, ']');
}

void json_stack(struct emit *emit, const char *key, const struct stack *stack)
{
    json_frames(emit, key, stack->frames, stack->count, frame_user(stack->frames, stack->count));
}

void json_stack_or_null(struct emit *emit, const char *key, const struct stack *stack)
{
    if (stack->count)
        json_stack(emit, key, stack);
    else
        emit_null(emit, key);
}

void json_trace(struct emit *emit, const char *key, const char *form, const struct stack *stack)
{
    if (!form) {
        emit_null(emit, key);
        return;
    }
    emit_open(emit, key, '{');
    emit_text(emit, "form", form);
    json_stack(emit, "frames", stack);
    emit_close(emit, '}');
}

void json_thread(struct emit *emit, const char *key, const struct thread_ref *thread)
{
    emit_open(emit, key, '{');
    emit_number(emit, "serial", thread->serial);
    emit_text(emit, "name", thread->name);
    emit_close(emit, '}');
}

void json_serial(struct emit *emit, const struct thread_ref *thread)
{
    char text[16];

    snprintf(text, sizeof(text), "T%" PRIu32, thread->serial);
    emit_text(emit, "thread", thread->serial ? text : NULL);
}
