/* json_errors.c - writes the list "errors": bad frees, and the crash; described in json.h. */
#include "symbolize/json/json.h"

#include <inttypes.h>

#include "leak_store.h"
#include "common/view/json_parts.h"

/* ---- Making one struct json_error from a bad free or a crash --------------------------------- */

struct json_error json_error_of_bad_free(const struct bad_free *mistake)
{
    bool again = mistake->type == LEAK_EVENT_DOUBLE_FREE;
    struct json_trace last = {form_word[mistake->form], mistake->released};
    struct json_trace first = {mistake->first_form ? form_word[mistake->first_form] : "unknown",
                               mistake->first};

    return (struct json_error){
        .type = bad_free_word[mistake->type],
        .signature = mistake->signature,
        .address = mistake->address,
        .has_address = mistake->address != 0,
        .size = mistake->size,
        .offset = mistake->offset,
        .has_size = mistake->has_block,
        .has_offset = mistake->has_block,
        .pool = mistake->block_pool,
        .to_pool = mistake->call_pool,
        .thread = mistake->thread,
        .time_ns = mistake->time_ns,
        .count = mistake->count,
        .allocated = {mistake->kind ? kind_word[mistake->kind] : NULL, mistake->allocated},
        .freed = again ? first : last,
        .freed_again = again ? last : (struct json_trace){0},
        .stack = mistake->released,
    };
}

struct json_error json_error_of_crash(const struct crash *crash)
{
    const struct crash_block *block = crash->blocks;
    struct json_error error = {
        .type = crash_type_name(crash),
        .signature = crash->signature,
        .address = crash->address,
        .has_address = crash->has_address,
        .thread = crash->thread,
        .time_ns = crash->time_ns,
        .count = 1,
        .crash = crash,
        .stack = crash->stack,
    };

    if (!crash->block_count || block->register_name)
        return error;
    error.size = block->size;
    error.has_size = block->size != 0;
    error.offset = (int64_t)block->offset;
    error.has_offset = true;
    if (block->allocated.count)
        error.allocated = (struct json_trace){
            kind_word[block->kind] ? kind_word[block->kind] : "malloc", block->allocated};
    if (block->was_freed)
        error.freed = (struct json_trace){"free", block->freed};
    return error;
}

/* ---- JSON fields of the crash ---------------------------------------------------------------- */

static void put_registers(struct json_writer *json, const char *key, const void *object)
{
    const struct crash *crash = object;

    json_open(json, key, '{');
    for (size_t i = 0; i < crash->register_count; i++)
        json_put_address(json, crash->registers[i].name, crash->registers[i].value);
    json_close(json, '}');
}

static void put_first(struct json_writer *json, const char *key, const void *object)
{
    const struct crash_repeat *repeat = object;

    json_put_number(json, key, repeat->end - repeat->frames);
}

static const struct json_field repeat_fields[] = {
    JSON_COMPUTED("first", COUNT, put_first),
    JSON_COUNT(crash_repeat, "frames", frames),
    JSON_COUNT(crash_repeat, "times", times),
};

static const struct json_table repeat_table = JSON_TABLE(NULL, repeat_fields, .flat = true);

static const struct json_field crash_fields[] = {
    JSON_INTEGER(crash, "signal", signal),
    JSON_INTEGER(crash, "code", code, JSON_ABOUT("si_code, as Linux numbers it")),
    JSON_TEXT(crash, "cause", words, JSON_ABOUT("signal and code in words")),
    JSON_ADDRESS(crash, "fault_address", address, JSON_KNOWN_BY(crash, has_address)),
    JSON_TEXT(crash, "near", near, JSON_MAY_BE_NULL, JSON_ABOUT("what the address is near")),
    JSON_COMPUTED("registers", OTHER, put_registers,
                  JSON_LIMITS("'type': 'object', 'additionalProperties': {'type': 'string'}")),
    JSON_BOOLEAN(crash, "answers_wrong_free", answers,
                 JSON_ABOUT("the allocator ended the process for the first wrong free; the two "
                            "count as one error")),
    JSON_COUNT(crash, "depth", depth, JSON_NULL_IF_0,
               JSON_ABOUT("number of frames without inlined ones")),
    JSON_LIST(crash, "repeats", repeats, repeat_count, repeat_table,
              JSON_ABOUT("Recursion: so many frames, from the first one on, repeat so many more "
                         "times")),
};

static const struct json_table crash_table = JSON_TABLE("crash", crash_fields);

/* ---- JSON fields of an error ----------------------------------------------------------------- */

static void put_serial(struct json_writer *json, const char *key, const void *serial)
{
    char text[16];

    snprintf(text, sizeof(text), "T%" PRIu32, *(const uint32_t *)serial);
    json_put_text(json, key, text);
}

static const struct json_field trace_fields[] = {
    JSON_TEXT(json_trace, "form", form, JSON_ABOUT("the function that was called")),
    JSON_STACK(json_trace, "frames", stack, JSON_INNERMOST_FIRST),
};

static const struct json_table trace_table = JSON_TABLE("trace", trace_fields);

#define TRACE(k, m, about)                                                                         \
    JSON_PART(json_error, k, m, trace_table, JSON_KNOWN_BY(json_error, m.form), JSON_ABOUT(about))

#define TYPES                                                                                      \
    "'enum': ['mismatched-free', 'double-free', 'invalid-free', 'interior-free', 'foreign-free', " \
    "'bad-realloc', 'size-mismatch', 'alignment-mismatch', 'pool-leak', 'crash', "                 \
    "'stack-overflow']"

static const struct json_field error_fields[] = {
    JSON_TEXT(json_error, "type", type, JSON_LIMITS(TYPES)),
    JSON_ID(json_error, "signature", signature),
    JSON_ADDRESS(json_error, "address", address, JSON_KNOWN_BY(json_error, has_address),
                 JSON_ABOUT("that the call had, the first time")),
    JSON_COUNT(json_error, "size", size, JSON_KNOWN_BY(json_error, has_size),
               JSON_ABOUT("of the block")),
    JSON_INTEGER(json_error, "offset", offset, JSON_KNOWN_BY(json_error, has_offset),
                 JSON_ABOUT("of the address from the start of the block; below 0: before it")),
    JSON_TEXT(
        json_error, "pool", pool, JSON_KNOWN_BY(json_error, pool), JSON_OPTIONAL,
        JSON_ABOUT("name of the pool of the program that the block is from, if there is one")),
    JSON_TEXT(json_error, "to_pool", to_pool, JSON_KNOWN_BY(json_error, to_pool), JSON_OPTIONAL,
              JSON_ABOUT("name of the pool that it was released to, or that was destroyed")),
    JSON_PUT(json_error, "thread", TEXT, thread.serial, put_serial,
             JSON_KNOWN_BY(json_error, thread.serial), JSON_LIMITS("'pattern': '^T[0-9]+$'")),
    JSON_TIME(json_error, "time", time_ns),
    JSON_COUNT(json_error, "count", count,
               JSON_ABOUT("equal ones: of one type, stack and place of allocation")),
    TRACE("allocated", allocated, "the allocation of the block"),
    TRACE("freed", freed, "this release; of a double free the first one"),
    TRACE("freed_again", freed_again, "of a double free: this release"),
    JSON_POINTER(json_error, "crash", crash, crash_table, JSON_MAY_BE_NULL),
    JSON_STACK(json_error, "frames", stack, JSON_INNERMOST_FIRST),
};

const struct json_table json_error = JSON_TABLE("error", error_fields);
