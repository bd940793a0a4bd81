/* counterparts.c - finds the function that by its name undoes what the function that allocates does;
 * described in records.h. */
#include "symbolize/records/records.h"

#include <string.h>

static bool is_named(const struct frame *frame, const char *function)
{
    return frame && frame->function && strcmp(frame->function, function) == 0;
}

static bool is_in_stack(const struct frame *const *frames, size_t count, const char *function)
{
    for (size_t i = 0; i < count; i++)
        if (is_named(frames[i], function))
            return true;
    return false;
}

static bool is_freed_in(const struct freed *freed, const char *function)
{
    const struct freed_place *at = &freed->place[0];

    return freed->places && (is_named(at->frame, function) || is_named(at->below, function) ||
                             is_named(at->common, function));
}

static bool is_owner_freed_in(const struct orphaned *orphaned, const char *function)
{
    return orphaned->blocks && is_named(orphaned->frames[orphaned->user], function);
}

bool record_tells_function(const struct record *record, const char *function)
{
    return is_in_stack(record->frames, record->frame_count, function) ||
           is_freed_in(&record->freed, function) || is_freed_in(&record->beside, function) ||
           is_owner_freed_in(&record->orphaned, function) ||
           is_owner_freed_in(&record->earlier, function);
}

static struct counterpart *make_counterpart(struct arena *mem, const char *function,
                                            const struct dwarf_frame *found, const struct frame *of)
{
    struct frame *frame = arena_alloc(mem, sizeof(*frame));
    struct counterpart *counterpart = arena_alloc(mem, sizeof(*counterpart));

    *frame = (struct frame){.function = function,
                            .file = arena_copy_text(mem, found->file),
                            .line = found->line,
                            .module = of->module,
                            .role = FRAME_USER};
    *counterpart = (struct counterpart){frame, of};
    return counterpart;
}

/* Says whether the frame is one of the functions at a node. */
static bool is_at_node(const struct resolved_place *place, const struct frame *frame)
{
    for (size_t i = 0; place && i < place->count; i++)
        if (&place->frames[i] == frame)
            return true;
    return false;
}

void counterparts_fill(struct arena *mem, struct signatures *signatures, uint32_t node,
                       struct record *record)
{
    const struct store *store = signatures->store;
    const struct store_module *module;
    const struct frame *user;
    struct dwarf_frame found;
    const char *function;

    if (record->verdict != VERDICT_LOST || record->user == record->frame_count ||
        (record->freed.places && record->freed.place[0].close))
        return;
    user = record->frames[record->user];
    while (node >= LEAK_NODE_FIRST && !is_at_node(signatures_place_at_node(signatures, node), user))
        node = store->nodes[node].parent;
    if (node < LEAK_NODE_FIRST || user->role != FRAME_USER || !user->function)
        return;
    module = store_find_module(store, store->nodes[node].pc, store->nodes[node].number);
    if (!module ||
        !binary_find_counterpart(signatures_module(signatures, module)->binary,
                                 store->nodes[node].pc - 1 - module->bias, user->function, &found))
        return;
    function = resolve_name(signatures->resolver, arena_copy_text(mem, found.name));
    if (record_tells_function(record, function))
        return;
    record->counterparts = make_counterpart(mem, function, &found, user);
    record->counterpart_count = 1;
}
