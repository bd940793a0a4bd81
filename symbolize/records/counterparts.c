/* counterparts.c - finds functions that by their names undo what functions of a record's stack do;
 * described in records.h. */
#include "symbolize/records/records.h"

#include <string.h>

#define COUNTERPARTS 2 /* most counterparts of a record */
#define FUNCTIONS_MOST                                                                             \
    6 /* functions of the user that are asked for, from the user frame outwards */

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

struct search {
    struct arena *mem;
    struct signatures *signatures;
    const struct record *record;
    struct counterpart *found; /* at most COUNTERPARTS */
    size_t count, asked;       /* asked: functions of the stack so far */
};

static bool is_owner_freed_in(const struct orphaned *orphaned, const char *function)
{
    return orphaned->blocks && is_named(orphaned->frames[orphaned->user], function);
}

/* Says whether a function is in the record's stack, or the report names it for another reason. */
static bool is_told(const struct search *search, const char *function)
{
    const struct record *record = search->record;

    for (size_t i = 0; i < search->count; i++)
        if (is_named(search->found[i].frame, function))
            return true;
    return is_in_stack(record->frames, record->frame_count, function) ||
           is_freed_in(&record->freed, function) || is_freed_in(&record->beside, function) ||
           is_owner_freed_in(&record->orphaned, function) ||
           is_owner_freed_in(&record->earlier, function);
}

static const char *copy(struct arena *mem, const char *text)
{
    return text ? arena_copy(mem, text, strlen(text)) : NULL;
}

static void add_counterpart(struct search *search, const struct dwarf_frame *found,
                            const struct frame *of)
{
    struct arena *mem = search->mem;
    const char *function = resolve_name(search->signatures->resolver, copy(mem, found->name));
    struct frame *frame;

    if (is_told(search, function))
        return;
    frame = arena_alloc(mem, sizeof(*frame));
    *frame = (struct frame){.function = function,
                            .file = copy(mem, found->file),
                            .line = found->line,
                            .module = of->module,
                            .role = FRAME_USER};
    if (!search->found)
        search->found = arena_alloc_array(mem, COUNTERPARTS, sizeof(*search->found));
    search->found[search->count++] = (struct counterpart){frame, of};
}

/* Searches the counterparts of the functions at a node. */
static void search_node(struct search *search, uint32_t node)
{
    struct signatures *signatures = search->signatures;
    const struct store_node *at = &signatures->store->nodes[node];
    const struct store_module *module = store_find_module(signatures->store, at->pc, at->number);
    const struct resolved_place *place = signatures_place_at_node(signatures, node);
    struct dwarf_frame found;

    for (size_t i = 0; place && module && i < place->count; i++) {
        const struct frame *frame = &place->frames[i];

        if ((!search->asked && frame != search->record->frames[search->record->user]) ||
            frame->role != FRAME_USER || !frame->function || search->count == COUNTERPARTS)
            continue;
        if (search->asked++ < FUNCTIONS_MOST &&
            binary_find_counterpart(signatures_module(signatures, module)->binary,
                                    at->pc - 1 - module->bias, frame->function, &found))
            add_counterpart(search, &found, frame);
    }
}

void counterparts_fill(struct arena *mem, struct signatures *signatures, uint32_t node,
                       struct record *record)
{
    struct search search = {.mem = mem, .signatures = signatures, .record = record};

    if (record->verdict != VERDICT_LOST || record->user == record->frame_count ||
        (record->freed.places && record->freed.place[0].close))
        return;
    for (; node >= LEAK_NODE_FIRST && search.asked < FUNCTIONS_MOST;
         node = signatures->store->nodes[node].parent)
        search_node(&search, node);
    record->counterparts = search.found;
    record->counterpart_count = search.count;
}
