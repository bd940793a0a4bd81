/* json_crash.c - see json_crash.h. */
#include "symbolize/json/json_crash.h"

#include "common/view/json_parts.h"

static void write_address(struct json *json, const char *key, const struct crash *crash)
{
    if (crash->has_address)
        json_put_address(json, key, crash->address);
    else
        json_put_null(json, key);
}

static void write_repeats(struct json *json, const struct crash *crash)
{
    json_open(json, "repeats", '[');
    for (size_t i = 0; i < crash->repeat_count; i++) {
        json_open(json, NULL, '{');
        json->flat = true;
        json_put_number(json, "first", crash->repeats[i].end - crash->repeats[i].frames);
        json_put_number(json, "frames", crash->repeats[i].frames);
        json_put_number(json, "times", crash->repeats[i].times);
        json_close(json, '}');
        json->flat = false;
    }
    json_close(json, ']');
}

static void write_signal(struct json *json, const struct crash *crash)
{
    json_open(json, "crash", '{');
    json_put_signed(json, "signal", crash->signal);
    json_put_signed(json, "code", crash->code);
    json_put_text(json, "cause", crash->words);
    write_address(json, "fault_address", crash);
    json_put_text(json, "near", crash->near);
    json_open(json, "registers", '{');
    for (size_t i = 0; i < crash->register_count; i++)
        json_put_address(json, crash->registers[i].name, crash->registers[i].value);
    json_close(json, '}');
    json_put_known(json, "depth", crash->depth != 0, crash->depth);
    write_repeats(json, crash);
    json_close(json, '}');
}

void json_crash(struct json *json, const struct crash *crash)
{
    const struct crash_block *block = NULL;
    const char *form = NULL;

    if (crash->block_count && !crash->blocks[0].register_name)
        block = &crash->blocks[0];
    if (block && block->allocated.count)
        form = kind_word[block->kind] ? kind_word[block->kind] : "malloc";
    json_put_text(json, "type", crash_type_name(crash));
    json_put_id(json, "signature", crash->signature);
    write_address(json, "address", crash);
    json_put_known(json, "size", block && block->size, block ? block->size : 0);
    json_put_known(json, "offset", block != NULL, block ? block->offset : 0);
    json_serial(json, &crash->thread);
    json_put_time(json, "time", crash->time_ns);
    json_put_number(json, "count", 1);
    json_trace(json, "allocated", form, block ? &block->allocated : NULL);
    json_trace(json, "freed", block && block->was_freed ? "free" : NULL,
               block ? &block->freed : NULL);
    json_put_null(json, "freed_again");
    write_signal(json, crash);
    json_stack(json, "frames", &crash->stack);
}
