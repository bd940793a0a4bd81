/* possible_owners.c - see records.h. */
#include "symbolize/records/records.h"

#include "common/base/hashmap.h"

/* True if pointers to the start lead from possibly lost blocks to all of the record. */
static bool is_held_by_start(const struct record *record)
{
    for (size_t i = 0; i < record->interior_count; i++)
        if (record->interiors[i].offset)
            return false;
    return record->interior_count > 0;
}

/* The block on the path to the record that an interior pointer reaches, the last such; NULL: none. */
static const struct path_step *last_interior(const struct path *path)
{
    for (size_t i = path ? path->count : 0; i > 1; i--)
        if (path->steps[i - 2].into && path->steps[i - 2].known)
            return &path->steps[i - 2];
    return NULL;
}

static bool may_own(const struct record *owner, const struct record *record)
{
    return owner != record && !is_held_by_start(owner) && !owner->suppressed_by &&
           !record->suppressed_by;
}

void possible_owners_fill(struct process *process)
{
    struct hashmap numbers = {0}; /* of possible records, by signature */

    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].verdict == VERDICT_POSSIBLE)
            *hashmap_put(&numbers, process->records[i].signature, NULL) = i + 1;
    for (size_t i = 0; i < process->record_count; i++) {
        struct record *record = &process->records[i];
        const struct path_step *step =
            record->verdict == VERDICT_POSSIBLE && is_held_by_start(record)
                ? last_interior(record->path)
                : NULL;
        size_t owner = step ? hashmap_get(&numbers, step->signature) : 0;

        if (owner && may_own(&process->records[owner - 1], record))
            record->owner = owner;
    }
    hashmap_end(&numbers);
}
