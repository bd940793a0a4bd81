#include "preload/leakcheck/referrers.h"

/* Where words are looked for. */
struct place {
    uintptr_t start, end;
    uint32_t node;             /* whose they are, or REACH_NOBODY: */
    uint32_t piece;            /* a root's */
    bool within;               /* from the middle of a block on */
    struct leak_pointer model; /* what else is told of each */
};

/* A word of an arena, or of a root, is that of the block that the program carved there: as a look
 * has it (nested_blocks.h). */
static bool is_anothers(const struct reach *reach, const struct place *place, uintptr_t word)
{
    uint32_t owner = reach_find(reach, word + 1); /* just behind a block is not in it */
    return owner != REACH_NOBODY && owner != place->node && reach_is_carved(reach, owner) &&
           !(place->within && reach_address(reach, owner) < place->start);
}

/* The words that point into the block, or just behind it. */
static void search(struct held *held, const struct block *block, const struct place *place,
                   struct growable_array *out)
{
    uintptr_t start = round_up(place->start, sizeof(uintptr_t));
    for (uintptr_t at = start; at + sizeof at <= place->end; at += sizeof at) {
        uintptr_t offset = arch_address(*(void *const volatile *)at) - block->address;
        struct leak_pointer *found;
        if (offset > block->size || is_anothers(held->reach, place, at) ||
            !(found = growable_array_add(out)))
            continue;
        *found = place->model;
        found->address = at;
        found->offset = offset;
        if (place->node == REACH_NOBODY)
            found->root = held_tell_word(held, at, place->piece);
    }
}

void pointers_find(struct held *held, const struct block *block, struct growable_array *out)
{
    const struct pieces *pieces = &held->roots_found->pieces;
    uint32_t nodes = reach_count(held->reach);
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->piece[i];
        search(held, block,
               &(struct place){.start = piece->start,
                               .end = piece->end,
                               .node = REACH_NOBODY,
                               .piece = i,
                               .within = piece->root_class == LEAK_ROOT_CLASS_STACKS},
               out);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        struct block holder = reach_block(held->reach, node);
        search(held, block,
               &(struct place){
                   .start = holder.address,
                   .end = holder.address + holder.size,
                   .node = node,
                   .model = {.block = holder.address, .size = holder.size, .site = holder.site}},
               out);
    }
}
