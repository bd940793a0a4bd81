/* record_types.c - finds the types of a record's blocks, from the types of its sites; described in
 * types.h. */
#include "symbolize/types/types.h"

#include <stdlib.h>
#include <string.h>

#include "common/names/names.h"

/* number of shares of a record, the largest ones, whose stacks are analysed */
#define SHARES_MOST 64

static int compare_shares(const void *left, const void *right)
{
    const struct share *const *a = left, *const *b = right;

    if ((*a)->bytes != (*b)->bytes)
        return (*a)->bytes > (*b)->bytes ? -1 : 1;
    return COMPARE((*a)->site, (*b)->site);
}

static bool is_same_type(const struct block_type *a, const struct block_type *b)
{
    return a == b || (a->layout == b->layout && a->at == b->at && strcmp(a->name, b->name) == 0);
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

/* ---- Stacks that are one in the source: the compiler copied a call --------------------------- */

static bool is_same_place(const struct frame *a, const struct frame *b)
{
    return a->line == b->line && a->column == b->column &&
           (a->file && b->file ? strcmp(a->file, b->file) == 0 : a->file == b->file);
}

/* A compiler may copy a call, with its loop or inlined function, and lose in one copy which
 * variable the result is assigned to. Two stacks of a record have frames of equal names; when all
 * frames also have equal places in the source, the two stacks are copies of one. At least one frame
 * must have a known place. */
static bool is_same_stack(struct types *types, const struct share *a, const struct share *b)
{
    const struct store_site *sites = types->store->sites;
    const struct frame *left[TRACE_MAX], *right[TRACE_MAX];
    uint32_t ending;
    size_t count = signatures_node_frames(types->signatures, sites[a->site].node, left, &ending);
    bool known = false;

    if (count != signatures_node_frames(types->signatures, sites[b->site].node, right, &ending))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_same_place(left[i], right[i]))
            return false;
        known |= left[i]->line != 0;
    }
    return known;
}

static bool fits(const struct block_type *type, uint64_t size)
{
    return type->size && size &&
           (type->layout == TYPE_ONE ? size == type->size
                                     : type->layout == TYPE_ARRAY && size % type->size == 0);
}

/* Returns the type that another share shows, whose stack is a copy of the stack of `of`; NULL =
 * none. */
static const struct site_type *type_of_copy(struct types *types, const struct share **order,
                                            size_t count, const struct share *of)
{
    uint64_t size = types_of_stack(types, of)->block_size;

    for (size_t i = 0; i < count; i++) {
        const struct site_type *found = types_of_stack(types, order[i]);

        if (found->type && fits(found->type, size) && is_same_stack(types, order[i], of))
            return found;
    }
    return NULL;
}

/* ---- Summing up the types of a record -------------------------------------------------------- */

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
        const struct site_type *found = types_of_stack(types, order[i]);

        if (!found->type && !found->conflict)
            found = type_of_copy(types, order, asked, order[i]);
        if (!found)
            found = types_of_share(types, order[i]);
        if (found->type)
            add_type(sums, &record->type_count, found, order[i]);
        else if (found->conflict)
            record->type_conflicts = add_saturating(record->type_conflicts, order[i]->blocks);
    }
    if (record->type_count)
        qsort(sums, record->type_count, sizeof(*sums), compare_sums);
    record->types = sums;
    free(order);
}
