/* json_crash.c - see json_crash.h. */
#include "symbolize/json/json_crash.h"

#include "common/view/json_stack.h"

static void write_address(struct emit *emit, const char *key, const struct crash *crash)
{
    if (crash->has_address)
        emit_address(emit, key, crash->address);
    else
        emit_null(emit, key);
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
    emit_known(emit, "depth", crash->depth != 0, crash->depth);
    write_repeats(emit, crash);
    emit_close(emit, '}');
}

void json_crash(struct emit *emit, const struct crash *crash)
{
    const struct crash_block *block = NULL;
    const char *form = NULL;

    if (crash->block_count && !crash->blocks[0].register_name)
        block = &crash->blocks[0];
    if (block && block->allocated.count)
        form = kind_word[block->kind] ? kind_word[block->kind] : "malloc";
    emit_text(emit, "type", crash_type(crash));
    emit_id(emit, "signature", crash->signature);
    write_address(emit, "address", crash);
    emit_known(emit, "size", block && block->size, block ? block->size : 0);
    emit_known(emit, "offset", block != NULL, block ? block->offset : 0);
    json_serial(emit, &crash->thread);
    emit_time(emit, "time", crash->time_ns);
    emit_number(emit, "count", 1);
    json_trace(emit, "allocated", form, block ? &block->allocated : NULL);
    json_trace(emit, "freed", block && block->was_freed ? "free" : NULL,
               block ? &block->freed : NULL);
    emit_null(emit, "freed_again");
    write_signal(emit, crash);
    json_stack(emit, "frames", &crash->stack);
}
