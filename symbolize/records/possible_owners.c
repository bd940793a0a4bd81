/* possible_owners.c - see record_sums.h. */
#include "symbolize/records/record_sums.h"

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

/* The number of the record that it belongs to; 0: none. */
static size_t find_owner(const struct hashmap *numbers, const struct record *record)
{
    const struct path_step *step = record->verdict == VERDICT_POSSIBLE && is_held_by_start(record)
                                       ? last_interior(record->path)
                                       : NULL;

    return step ? hashmap_get(numbers, step->signature) : 0;
}

void possible_owners_fill(struct record_sums *drafts)
{
    struct hashmap numbers = {0}; /* of possible records that are held inside, by signature */

    for (size_t i = 0; i < drafts->count; i++) {
        const struct record *record = &drafts->draft[i].record;

        if (record->verdict == VERDICT_POSSIBLE && !is_held_by_start(record))
            *hashmap_put(&numbers, record->signature, NULL) = i + 1;
    }
    for (size_t i = 0; i < drafts->count; i++) {
        size_t owner = find_owner(&numbers, &drafts->draft[i].record);

        if (owner)
            drafts->draft[i].record.owner = owner;
    }
    hashmap_end(&numbers);
}
