/* record_types.c - see types.h. */
#include "symbolize/types/types.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

#define SHARES_MOST 64 /* of a record whose stacks are asked, the largest ones */

static int compare_shares(const void *left, const void *right)
{
    const struct share *const *a = left, *const *b = right;

    if ((*a)->bytes != (*b)->bytes)
        return (*a)->bytes > (*b)->bytes ? -1 : 1;
    return COMPARE((*a)->site, (*b)->site);
}

static bool is_same_type(const struct block_type *a, const struct block_type *b)
{
    return a == b || (a->layout == b->layout && strcmp(a->name, b->name) == 0);
}

static void add_type(struct type_sum *sums, size_t *count, const struct site_type *found,
                     const struct share *share)
{
    size_t i = 0;

    while (i < *count && !is_same_type(sums[i].type, found->type))
        i++;
    if (i == *count)
        sums[(*count)++] = (struct type_sum){.type = found->type, .block_size = found->block_size};
    sums[i].bytes = add_saturating(sums[i].bytes, share->bytes);
    sums[i].blocks = add_saturating(sums[i].blocks, share->blocks);
    if (sums[i].block_size != found->block_size)
        sums[i].block_size = 0;
}

/* ---- Copies of one call ---------------------------------------------------------------------- */

/* The innermost frame of a site that is not libleak's. */
static uint32_t frame_node(struct types *types, const struct share *share)
{
    const struct store *store = types->store;
    uint32_t node = store->sites[share->site].node;

    while (node >= LEAK_NODE_FIRST) {
        const struct resolved_place *place = signatures_place_at_node(types->signatures, node);

        if (place && !classify_is_libleak_frame(&place->frames[place->count - 1]))
            break;
        node = store->nodes[node].parent;
    }
    return node;
}

/* A compiler may copy a call, with its loop or inlined function, and lose the variable in a copy. All
 * stacks of a record have equal names, so calls in one place of one line are one in the source. */
static bool is_same_call(struct types *types, const struct share *a, const struct share *b)
{
    uint32_t node = frame_node(types, a), other = frame_node(types, b);
    const struct resolved_place *left, *right;

    if (node < LEAK_NODE_FIRST || other < LEAK_NODE_FIRST)
        return false;
    left = signatures_place_at_node(types->signatures, node);
    right = signatures_place_at_node(types->signatures, other);
    return left && right && left->frames->line && left->frames->line == right->frames->line &&
           left->frames->column == right->frames->column && left->frames->file &&
           right->frames->file && strcmp(left->frames->file, right->frames->file) == 0;
}

static bool fits(const struct block_type *type, uint64_t size)
{
    return type->size && size &&
           (type->layout == TYPE_ONE ? size == type->size
                                     : type->layout == TYPE_ARRAY && size % type->size == 0);
}

/* The type of a copy of the call; NULL = none. */
static const struct site_type *type_of_copy(struct types *types, const struct share **order,
                                            size_t count, const struct share *of)
{
    uint64_t size = types_of_share(types, of)->block_size;

    for (size_t i = 0; i < count; i++) {
        const struct site_type *found = types_of_share(types, order[i]);

        if (found->type && fits(found->type, size) && is_same_call(types, order[i], of))
            return found;
    }
    return NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int compare_sums(const void *left, const void *right)
{
    const struct type_sum *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return strcmp(a->type->name, b->type->name);
}

void types_fill_record(struct types *types, const struct share *shares, size_t count,
                       struct record *record)
{
    const struct share **order = array_grow(NULL, &(size_t){0}, count, sizeof(*order));
    size_t asked = count < SHARES_MOST ? count : SHARES_MOST;
    struct type_sum *sums = arena_alloc_array(types->mem, asked, sizeof(*sums));

    for (size_t i = 0; i < count; i++)
        order[i] = &shares[i];
    if (count)
        qsort(order, count, sizeof(*order), compare_shares);
    for (size_t i = 0; i < asked; i++) {
        const struct site_type *found = types_of_share(types, order[i]);

        if (!found->type && !found->conflict)
            found = type_of_copy(types, order, asked, order[i]);
        if (found && found->type)
            add_type(sums, &record->type_count, found, order[i]);
        else if (found)
            record->type_conflicts = add_saturating(record->type_conflicts, order[i]->blocks);
    }
    if (record->type_count)
        qsort(sums, record->type_count, sizeof(*sums), compare_sums);
    record->types = sums;
    free(order);
}
