/* possible_owners.c - finds the records that own possibly lost blocks; described in
 * record_sums.h. */
#include "symbolize/records/record_sums.h"

#include "common/base/hashmap.h"

/* Says whether all pointers to the blocks of the record point to their start. Such a record is
 * possibly lost only because the blocks that contain these pointers are. */
static bool is_held_by_start(const struct record *record)
{
    for (size_t i = 0; i < record->interior_count; i++)
        if (record->interiors[i].offset)
            return false;
    return record->interior_count > 0;
}

/* Returns the last block on the path to which an interior pointer leads; NULL: there is none. */
static const struct path_step *last_interior(const struct path *path)
{
    for (size_t i = path ? path->count : 0; i > 1; i--)
        if (path->steps[i - 2].into && path->steps[i - 2].known)
            return &path->steps[i - 2];
    return NULL;
}

/* Returns the number (from 1) of the record that owns this one; 0: none does. */
static size_t find_owner(const struct hashmap *numbers, const struct record *record)
{
    const struct path_step *step = record->verdict == VERDICT_POSSIBLE && is_held_by_start(record)
                                       ? last_interior(record->path)
                                       : NULL;

    return step ? hashmap_get(numbers, step->signature) : 0;
}

void possible_owners_fill(struct record_sums *drafts)
{
    /* signature -> number of a possibly lost record whose blocks interior pointers hold */
    struct hashmap numbers = {0};

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
