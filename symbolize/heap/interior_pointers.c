/* interior_pointers.c - describes the interior pointers that hold blocks; described in heap.h. */
#include "symbolize/heap/heap.h"

#include <stdlib.h>
#include <string.h>

struct interiors interiors_begin(const struct store *store, const uint32_t *sum_of_found,
                                 size_t sums)
{
    const struct store_leak_check *look = store->look;
    struct interiors interiors = {.store = store};

    if (!look || !look->interior_count)
        return interiors;
    interiors.first = array_grow(NULL, &(size_t){0}, sums + 1, sizeof(*interiors.first));
    interiors.next = array_grow(NULL, &(size_t){0}, look->interior_count, sizeof(*interiors.next));
    memset(interiors.first, 0, (sums + 1) * sizeof(*interiors.first));
    for (size_t i = 0; i < look->interior_count; i++) {
        uint32_t sum = sum_of_found[look->interiors[i].found];

        interiors.next[i] = interiors.first[sum];
        interiors.first[sum] = (uint32_t)i + 1;
    }
    return interiors;
}

void interiors_end(struct interiors *interiors)
{
    free(interiors->first);
    free(interiors->next);
}

void interiors_request(struct signatures *signatures)
{
    const struct store_leak_check *look = signatures->store->look;

    for (size_t i = 0; look && i < look->interior_count; i++)
        if (look->interiors[i].holder != STORE_NO_SITE)
            signatures_request(signatures,
                               signatures->store->sites[look->interiors[i].holder].node);
}

static int compare_places(const struct interior *one, const struct interior *other)
{
    uintptr_t frame = (uintptr_t)one->holder, other_frame = (uintptr_t)other->holder;

    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    if (one->root != other->root)
        return one->root ? -1 : 1;
    return frame < other_frame ? -1 : frame > other_frame;
}

static int by_place(const void *left, const void *right)
{
    return compare_places(left, right);
}

/* Orders interior pointers: most blocks first, then by offset, then by the function of the block
 * with the pointer. */
static int by_blocks(const void *left, const void *right)
{
    const struct interior *one = left, *other = right;

    if (one->blocks != other->blocks)
        return one->blocks < other->blocks ? 1 : -1;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    if (!one->holder || !other->holder)
        return !other->holder - !one->holder;
    return one->holder->name_hash < other->holder->name_hash ? -1 : 1;
}

/* Merges interior pointers that have an equal offset and stand in blocks that the same function
 * allocated. Returns the number that is left. */
static size_t merge_places(struct interior *all, size_t count)
{
    size_t merged = 0;

    qsort(all, count, sizeof(*all), by_place);
    for (size_t i = 0; i < count; i++)
        if (merged && compare_places(&all[merged - 1], &all[i]) == 0)
            all[merged - 1].blocks = add_saturating(all[merged - 1].blocks, all[i].blocks);
        else
            all[merged++] = all[i];
    return merged;
}

void interiors_fill(const struct interiors *interiors, struct root_paths *paths, uint32_t sum,
                    struct record *record)
{
    const struct store_interior *rows = interiors->first ? interiors->store->look->interiors : NULL;
    struct interior *all;
    size_t count = 0;

    for (uint32_t at = rows ? interiors->first[sum] : 0; at; at = interiors->next[at - 1])
        count++;
    if (!count)
        return;
    all = arena_alloc_array(paths->mem, count, sizeof(*all));
    count = 0;
    for (uint32_t at = interiors->first[sum]; at; at = interiors->next[at - 1]) {
        const struct store_interior *row = &rows[at - 1];
        struct interior one = {.offset = row->offset, .blocks = row->blocks};

        if (row->holder != STORE_NO_SITE)
            one.holder = root_paths_site_frame(paths, row->holder);
        one.root = row->holder == STORE_NO_SITE;
        all[count++] = one;
    }
    count = merge_places(all, count);
    qsort(all, count, sizeof(*all), by_blocks);
    record->interiors = all;
    record->interior_count = count < INTERIORS_SHOWN ? count : INTERIORS_SHOWN;
}
