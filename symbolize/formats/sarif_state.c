/* sarif_state.c - see sarif_state.h. */
#include "symbolize/formats/sarif_state.h"

struct sarif_states sarif_states_begin(const struct report *report, const struct report_set *baseline)
{
    struct sarif_states states = {.then = baseline};

    if (!baseline)
        return states;
    states.mem = arena_begin();
    states.now = report_set_begin(states.mem, baseline->shows);
    states.now.suppressed = true; /* by the baseline, most likely */
    for (size_t i = 0; i < report->process_count; i++)
        report_set_add_process(&states.now, &report->processes[i]);
    return states;
}

void sarif_states_end(struct sarif_states *states)
{
    if (!states->then)
        return;
    report_set_end(&states->now);
    arena_end(states->mem);
}

const char *sarif_state(const struct sarif_states *states, enum report_set_class class,
                        uint64_t signature)
{
    const struct report_set_entry *old, *now;

    if (!states->then)
        return NULL;
    old = report_set_find(states->then, class, signature);
    now = report_set_find(&states->now, class, signature);
    if (!now) /* of a verdict that the baseline was not read for */
        return NULL;
    if (!old)
        return "new";
    return old->record.bytes == now->record.bytes && old->record.blocks == now->record.blocks
               ? "unchanged"
               : "updated";
}

const struct report_set_entry *sarif_absent(const struct sarif_states *states, size_t *at)
{
    while (states->then && *at < states->then->count) {
        const struct report_set_entry *entry = &states->then->entries[(*at)++];

        if (!report_set_find(&states->now, entry->class, entry->record.signature))
            return entry;
    }
    return NULL;
}
