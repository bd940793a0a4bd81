/* json_mistakes.c - see json_mistakes.h and docs/schema.json. */
#include "symbolize/json_mistakes.h"

#include <inttypes.h>

#include "leak_store.h"

typedef void write_frames(struct emit *emit, const char *key, const struct stack *stack);

static void write_trace(struct emit *emit, const char *key, const char *form,
                        const struct stack *stack, write_frames *frames)
{
    if (!form) {
        emit_null(emit, key);
        return;
    }
    emit_open(emit, key, '{');
    emit_text(emit, "form", form);
    frames(emit, "frames", stack);
    emit_close(emit, '}');
}

static void write_thread(struct emit *emit, const struct thread_ref *thread)
{
    char text[16];

    snprintf(text, sizeof(text), "T%" PRIu32, thread->serial);
    emit_text(emit, "thread", thread->serial ? text : NULL);
}

static void write_block(struct emit *emit, const struct mistake *mistake)
{
    if (mistake->has_block) {
        emit_number(emit, "size", mistake->size);
        emit_signed(emit, "offset", mistake->offset);
    } else {
        emit_null(emit, "size");
        emit_null(emit, "offset");
    }
}

static void write_mistake(struct emit *emit, const struct mistake *mistake, write_frames *frames)
{
    bool again = mistake->type == LEAK_EVENT_DOUBLE_FREE;
    const char *form = form_word[mistake->form];
    const char *first = mistake->first_form ? form_word[mistake->first_form] : "unknown";

    emit_open(emit, NULL, '{');
    emit_text(emit, "type", mistake_word[mistake->type]);
    if (mistake->address)
        emit_address(emit, "address", mistake->address);
    else
        emit_null(emit, "address");
    write_block(emit, mistake);
    write_thread(emit, &mistake->thread);
    emit_time(emit, "time", mistake->time_ns);
    emit_number(emit, "count", mistake->count);
    write_trace(emit, "allocated", mistake->kind ? kind_word[mistake->kind] : NULL,
                &mistake->allocated, frames);
    if (again)
        write_trace(emit, "freed", first, &mistake->first, frames);
    else
        write_trace(emit, "freed", form, &mistake->released, frames);
    write_trace(emit, "freed_again", again ? form : NULL, &mistake->released, frames);
    emit_null(emit, "crash");
    frames(emit, "frames", &mistake->released);
    emit_close(emit, '}');
}

void json_mistakes(struct emit *emit, const struct process *process, write_frames *frames)
{
    for (size_t i = 0; i < process->mistake_count; i++)
        write_mistake(emit, &process->mistakes[i], frames);
}
