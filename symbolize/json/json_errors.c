/* json_errors.c - the elements of "errors": invalid frees, and the crash; see json.h and
 * docs/schema.json. */
#include "symbolize/json/json.h"
#include "leak_store.h"
#include "common/view/json_parts.h"

/* ---- Invalid frees --------------------------------------------------------------------------- */

static void write_json_block(struct json_writer *json, const struct bad_free *mistake)
{
    if (mistake->has_block) {
        json_put_number(json, "size", mistake->size);
        json_put_signed(json, "offset", mistake->offset);
    } else {
        json_put_null(json, "size");
        json_put_null(json, "offset");
    }
}

void json_bad_free(struct json_writer *json, const struct bad_free *mistake)
{
    bool again = mistake->type == LEAK_EVENT_DOUBLE_FREE;
    const char *form = form_word[mistake->form];
    const char *first = mistake->first_form ? form_word[mistake->first_form] : "unknown";

    json_put_text(json, "type", bad_free_word[mistake->type]);
    json_put_id(json, "signature", mistake->signature);
    if (mistake->address)
        json_put_address(json, "address", mistake->address);
    else
        json_put_null(json, "address");
    write_json_block(json, mistake);
    if (mistake->block_pool)
        json_put_text(json, "pool", mistake->block_pool);
    if (mistake->call_pool)
        json_put_text(json, "to_pool", mistake->call_pool);
    json_serial(json, &mistake->thread);
    json_put_time(json, "time", mistake->time_ns);
    json_put_number(json, "count", mistake->count);
    json_trace(json, "allocated", mistake->kind ? kind_word[mistake->kind] : NULL,
               &mistake->allocated);
    if (again)
        json_trace(json, "freed", first, &mistake->first);
    else
        json_trace(json, "freed", form, &mistake->released);
    json_trace(json, "freed_again", again ? form : NULL, &mistake->released);
    json_put_null(json, "crash");
    json_stack(json, "frames", &mistake->released);
}

/* ---- The crash ------------------------------------------------------------------------------- */

static void write_address(struct json_writer *json, const char *key, const struct crash *crash)
{
    if (crash->has_address)
        json_put_address(json, key, crash->address);
    else
        json_put_null(json, key);
}

static void write_json_repeats(struct json_writer *json, const struct crash *crash)
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

static void write_signal(struct json_writer *json, const struct crash *crash)
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
    write_json_repeats(json, crash);
    json_close(json, '}');
}

void json_crash(struct json_writer *json, const struct crash *crash)
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
