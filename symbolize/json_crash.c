/* json_crash.c - see json_crash.h. */
#include "symbolize/json_crash.h"

#include <inttypes.h>
#include <stdio.h>

static void write_thread(struct emit *emit, const struct crash *crash)
{
    char serial[32];

    snprintf(serial, sizeof(serial), "T%" PRIu32, crash->thread.serial);
    emit_text(emit, "thread", crash->thread.serial ? serial : NULL);
}

static void write_number(struct emit *emit, const char *key, bool known, uint64_t number)
{
    if (known)
        emit_number(emit, key, number);
    else
        emit_null(emit, key);
}

static void write_address(struct emit *emit, const char *key, const struct crash *crash)
{
    if (crash->has_address)
        emit_address(emit, key, crash->address);
    else
        emit_null(emit, key);
}

static void
write_trace(struct emit *emit, const char *key, const char *form, const struct stack *stack,
            void (*write_stack)(struct emit *emit, const char *key, const struct stack *stack))
{
    emit_open(emit, key, '{');
    emit_text(emit, "form", form);
    write_stack(emit, "frames", stack);
    emit_close(emit, '}');
}

static void write_repeats(struct emit *emit, const struct crash *crash)
{
    emit_open(emit, "repeats", '[');
    for (size_t i = 0; i < crash->repeat_count; i++) {
        emit_open(emit, NULL, '{');
        emit->flat = true;
        emit_number(emit, "first", crash->repeats[i].end - crash->repeats[i].frames);
        emit_number(emit, "frames", crash->repeats[i].frames);
        emit_number(emit, "times", crash->repeats[i].times);
        emit_close(emit, '}');
        emit->flat = false;
    }
    emit_close(emit, ']');
}

static void write_signal(struct emit *emit, const struct crash *crash)
{
    emit_open(emit, "crash", '{');
    emit_signed(emit, "signal", crash->signal);
    emit_signed(emit, "code", crash->code);
    emit_text(emit, "cause", crash->words);
    write_address(emit, "fault_address", crash);
    emit_text(emit, "near", crash->near);
    emit_open(emit, "registers", '{');
    for (size_t i = 0; i < crash->register_count; i++)
        emit_address(emit, crash->registers[i].name, crash->registers[i].value);
    emit_close(emit, '}');
    write_number(emit, "depth", crash->depth != 0, crash->depth);
    write_repeats(emit, crash);
    emit_close(emit, '}');
}

void json_crash(struct emit *emit, const struct process *process,
                void (*write_stack)(struct emit *emit, const char *key, const struct stack *stack))
{
    const struct crash *crash = process->crash;
    const struct crash_block *block = NULL;

    if (!crash)
        return;
    if (crash->block_count && !crash->blocks[0].register_name)
        block = &crash->blocks[0];
    emit_open(emit, NULL, '{');
    emit_text(emit, "type", crash_type(crash));
    write_address(emit, "address", crash);
    write_number(emit, "size", block && block->size, block ? block->size : 0);
    write_number(emit, "offset", block != NULL, block ? block->offset : 0);
    write_thread(emit, crash);
    emit_time(emit, "time", crash->time_ns);
    emit_number(emit, "count", 1);
    if (block && block->allocated.count)
        write_trace(emit, "allocated", kind_word[block->kind] ? kind_word[block->kind] : "malloc",
                    &block->allocated, write_stack);
    else
        emit_null(emit, "allocated");
    if (block && block->was_freed)
        write_trace(emit, "freed", "free", &block->freed, write_stack);
    else
        emit_null(emit, "freed");
    emit_null(emit, "freed_again");
    write_signal(emit, crash);
    write_stack(emit, "frames", &crash->stack);
    emit_close(emit, '}');
}
