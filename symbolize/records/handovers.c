/* handovers.c - finds the functions to which a caller passes the blocks of a record, or what holds
 * them, and those that return the blocks; described in records.h. */
#include "symbolize/records/records.h"

#include <string.h>

#include "common/names/names.h"

#define HANDOVERS_MOST 3
#define CALLERS_MOST 7 /* callers outside of the user frame whose code is read */

/* A frame of the stack that has code of its own, and the function that is called there. */
struct calling {
    struct binary *binary;
    const char *module;
    uint64_t address; /* address in the call instruction, as in the file */
    const struct frame *frame, *called;
};

/* Says whether two functions have the same first word, as cbor_build_tag and cbor_decref. */
static bool share_first_word(const char *function, const char *other)
{
    char words[2][NAME_WORD_SIZE], others[2][NAME_WORD_SIZE];

    return name_first_words(function, words) && name_first_words(other, others) &&
           strcmp(words[0], others[0]) == 0;
}

/* Says whether a call frees other blocks of the record, which the report says anyway. */
static bool is_known_free(const struct record *record, const struct calling *calling,
                          const struct passing_call *call)
{
    const struct freed_place *at = &record->freed.place[0];
    const struct frame *frees = at->common ? at->common : at->frame;

    return record->freed.places && frees->name_hash == calling->frame->name_hash &&
           frees->line == call->line;
}

/* Says whether a function is worth to be named: it is the program's own, or of the library that
 * returned the block, and is not named anyway. */
static bool is_worth_a_name(const struct record *record, const struct calling *calling,
                            const struct passing_call *call, const char *function)
{
    return classify_frame(calling->module, function, NULL) == FRAME_USER &&
           (!call->imported || share_first_word(function, calling->called->function)) &&
           !record_tells_function(record, function) && !is_known_free(record, calling, call);
}

static struct handover make_handover(struct arena *mem, const struct calling *calling,
                                     const struct passing_call *call, const char *function)
{
    struct frame *frame = arena_alloc(mem, sizeof(*frame));

    *frame = (struct frame){.function = function,
                            .file = arena_copy_text(mem, call->file),
                            .line = call->line,
                            .module = calling->module,
                            .role = FRAME_USER};
    return (struct handover){frame, calling->frame, calling->called};
}

/* Takes over the functions to which a caller passes what it gets. The caller farthest out that has
 * any counts: it has what holds the blocks in its hands last. */
static void take_calls(struct arena *mem, struct signatures *signatures,
                       const struct calling *calling, struct record *record)
{
    struct block_question question = {.address = calling->address};
    struct handover found[HANDOVERS_MOST], *kept;
    struct passing_calls calls;
    size_t count = 0;

    if (!binary_find_calls(calling->binary, &question, &calls) || !calls.pointer)
        return;
    for (size_t i = 0; i < calls.count && count < HANDOVERS_MOST; i++) {
        const struct passing_call *call = &calls.calls[i];
        const char *function = call->function ? resolve_name(signatures->resolver,
                                                             arena_copy_text(mem, call->function))
                                              : NULL;

        if (function && is_worth_a_name(record, calling, call, function))
            found[count++] = make_handover(mem, calling, call, function);
    }
    if (!count)
        return;
    kept = arena_alloc_array(mem, count, sizeof(*kept));
    memcpy(kept, found, count * sizeof(*kept));
    record->handovers = kept;
    record->handover_count = count;
}

/* Finds the frame with code of its own at a node; `inner` is the one of the node before. False: the
 * node's frame says nothing. */
static bool find_calling(struct signatures *signatures, uint32_t node, const struct frame *inner,
                         struct calling *calling)
{
    const struct store *store = signatures->store;
    const struct store_module *module =
        store_find_module(store, store->nodes[node].pc, store->nodes[node].number);
    const struct resolved_place *place = signatures_place_at_node(signatures, node);

    if (!module || !place || !place->count)
        return false;
    *calling = (struct calling){.binary = signatures_module(signatures, module)->binary,
                                .address = store->nodes[node].pc - 1 - module->bias,
                                .frame = &place->frames[place->count - 1],
                                .called = inner};
    calling->module = calling->frame->module;
    return true;
}

static bool is_at_place(const struct resolved_place *place, const struct frame *frame)
{
    for (size_t i = 0; place && i < place->count; i++)
        if (&place->frames[i] == frame)
            return true;
    return false;
}

static bool has_mark(const struct record *record)
{
    return record->freed.places && record->freed.place[0].close;
}

/* Says whether a function returns to its caller what it gets from the call in it. */
static bool is_returned(const struct calling *calling)
{
    struct block_question question = {.address = calling->address};
    struct passing_calls calls;

    return binary_find_calls(calling->binary, &question, &calls) && calls.returned;
}

void handovers_check_mark(struct signatures *signatures, uint32_t node, struct record *record)
{
    const struct frame *inner = NULL;
    struct freed_place *at = &record->freed.place[0];

    if (record->verdict != VERDICT_LOST || !has_mark(record))
        return;
    for (; node >= LEAK_NODE_FIRST; node = signatures->store->nodes[node].parent) {
        struct calling calling;

        if (!find_calling(signatures, node, inner, &calling))
            continue;
        inner = calling.frame;
        if (calling.frame->name_hash != at->common->name_hash)
            continue;
        at->close = !is_returned(&calling);
        return;
    }
}

void handovers_fill(struct arena *mem, struct signatures *signatures, uint32_t node,
                    struct record *record)
{
    const struct frame *inner = NULL;
    size_t callers = 0;
    bool user = false; /* true from the user frame on */

    if (record->verdict != VERDICT_LOST || record->user == record->frame_count || has_mark(record))
        return;
    for (; node >= LEAK_NODE_FIRST && callers <= CALLERS_MOST;
         node = signatures->store->nodes[node].parent) {
        struct calling calling;

        if (!find_calling(signatures, node, inner, &calling))
            continue;
        inner = calling.frame;
        user |=
            is_at_place(signatures_place_at_node(signatures, node), record->frames[record->user]);
        if (!user || calling.frame->role != FRAME_USER)
            continue;
        if (callers++ && calling.called && calling.called->function)
            take_calls(mem, signatures, &calling, record);
    }
}
