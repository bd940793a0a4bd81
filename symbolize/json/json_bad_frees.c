/* json_bad_frees.c - see json_bad_frees.h and docs/schema.json. */
#include "symbolize/json/json_bad_frees.h"

#include "leak_store.h"
#include "common/view/json_stack.h"

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

void json_mistake(struct emit *emit, const struct mistake *mistake)
{
    bool again = mistake->type == LEAK_EVENT_DOUBLE_FREE;
    const char *form = form_word[mistake->form];
    const char *first = mistake->first_form ? form_word[mistake->first_form] : "unknown";

    emit_text(emit, "type", mistake_word[mistake->type]);
    emit_id(emit, "signature", mistake->signature);
    if (mistake->address)
        emit_address(emit, "address", mistake->address);
    else
        emit_null(emit, "address");
    write_block(emit, mistake);
    if (mistake->block_pool)
        emit_text(emit, "pool", mistake->block_pool);
    if (mistake->call_pool)
        emit_text(emit, "to_pool", mistake->call_pool);
    json_serial(emit, &mistake->thread);
    emit_time(emit, "time", mistake->time_ns);
    emit_number(emit, "count", mistake->count);
    json_trace(emit, "allocated", mistake->kind ? kind_word[mistake->kind] : NULL,
               &mistake->allocated);
    if (again)
        json_trace(emit, "freed", first, &mistake->first);
    else
        json_trace(emit, "freed", form, &mistake->released);
    json_trace(emit, "freed_again", again ? form : NULL, &mistake->released);
    emit_null(emit, "crash");
    json_stack(emit, "frames", &mistake->released);
}
