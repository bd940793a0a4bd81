/* ledger.c - see ledger.h. */
#include "symbolize/ledger.h"

#include <stdlib.h>

#include "symbolize/order.h"

enum { RANK_ERROR = 0, RANK_VERDICT = 1, RANK_RESOURCE = RANK_VERDICT + VERDICT_MAX };

struct ledger ledger_begin(struct mem *mem, const bool shows[VERDICT_MAX])
{
    struct ledger ledger = {.mem = mem};

    for (int v = 0; v < VERDICT_MAX; v++)
        ledger.shows[v] = shows[v];
    return ledger;
}

void ledger_end(struct ledger *ledger)
{
    free(ledger->entries);
    map_end(&ledger->by_signature);
}

static void add(struct ledger *ledger, const struct ledger_entry *entry)
{
    uint64_t *slot = map_put(&ledger->by_signature, entry->signature, NULL);
    struct ledger_entry *sum;

    if (!*slot) {
        ledger->entries = mem_more(ledger->entries, &ledger->capacity, ledger->count + 1,
                                   sizeof(*ledger->entries));
        ledger->entries[ledger->count++] = *entry;
        *slot = ledger->count;
        return;
    }
    sum = &ledger->entries[*slot - 1];
    sum->bytes = add_saturating(sum->bytes, entry->bytes);
    sum->count = add_saturating(sum->count, entry->count);
    if (entry->rank >= sum->rank)
        return;
    sum->rank = entry->rank;
    sum->sort = entry->sort;
    sum->words = entry->words;
}

void ledger_add_record(struct ledger *ledger, uint64_t signature, enum verdict verdict,
                       uint64_t bytes, uint64_t blocks, const struct frame *title)
{
    struct ledger_entry entry = {.signature = signature,
                                 .sort = verdict_word[verdict],
                                 .words = verdict_words[verdict],
                                 .rank = RANK_VERDICT + order_of_verdict(verdict),
                                 .bytes = bytes,
                                 .count = blocks,
                                 .unit = "block",
                                 .title = title};

    if (ledger->shows[verdict])
        add(ledger, &entry);
}

void ledger_add_error(struct ledger *ledger, uint64_t signature, const char *type, uint64_t count,
                      const struct frame *title)
{
    struct ledger_entry entry = {.signature = signature,
                                 .sort = type,
                                 .words = type,
                                 .rank = RANK_ERROR,
                                 .count = count,
                                 .unit = "time",
                                 .title = title};

    add(ledger, &entry);
}

void ledger_add_resource(struct ledger *ledger, uint64_t signature, const char *type,
                         uint64_t count, const struct frame *title)
{
    struct ledger_entry entry = {.signature = signature,
                                 .sort = type,
                                 .words = mem_format(ledger->mem, "left open (%s)", type),
                                 .rank = RANK_RESOURCE,
                                 .count = count,
                                 .unit = "time",
                                 .title = title};

    add(ledger, &entry);
}

static const struct frame *title_of(const struct stack *stack)
{
    size_t user = frame_user(stack->frames, stack->count);

    return user < stack->count ? stack->frames[user] : NULL;
}

void ledger_add_process(struct ledger *ledger, const struct process *process)
{
    const struct crash *crash = process->crash;

    for (size_t i = 0; i < process->record_count; i++) {
        const struct record *record = &process->records[i];

        if (!record->suppressed_by)
            ledger_add_record(ledger, record->signature, record->verdict, record->bytes,
                              record->blocks, record_title(record));
    }
    for (size_t i = 0; i < process->mistake_count; i++) {
        const struct mistake *mistake = &process->mistakes[i];

        ledger_add_error(ledger, mistake->signature, mistake_word[mistake->type], mistake->count,
                         title_of(&mistake->released));
    }
    if (crash)
        ledger_add_error(ledger, crash->signature, crash_type(crash), 1, title_of(&crash->stack));
    for (size_t i = 0; i < process->resource_count; i++) {
        const struct resource *resource = &process->resources[i];

        if (resource_matters(resource) && !resource->record.suppressed_by)
            ledger_add_resource(ledger, resource->record.signature, resource->type,
                                resource->record.blocks, record_title(&resource->record));
    }
}

struct ledger_entry *ledger_find(const struct ledger *ledger, uint64_t signature)
{
    uint64_t at = map_get(&ledger->by_signature, signature);

    return at ? &ledger->entries[at - 1] : NULL;
}
