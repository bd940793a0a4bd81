/* json_bad_frees.c - see json_bad_frees.h and docs/schema.json. */
#include "symbolize/json/json_bad_frees.h"

#include "leak_store.h"
#include "common/view/json_parts.h"

static void write_block(struct json *json, const struct mistake *mistake)
{
    if (mistake->has_block) {
        json_put_number(json, "size", mistake->size);
        json_put_signed(json, "offset", mistake->offset);
    } else {
        json_put_null(json, "size");
        json_put_null(json, "offset");
    }
}

void json_mistake(struct json *json, const struct mistake *mistake)
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
    write_block(json, mistake);
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
