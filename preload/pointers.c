#include "preload/pointers.h"

/* The words of [start, end) that point into the block, or just behind it. The model says the rest. */
static void search(struct held *held, const struct block *block, uintptr_t start, uintptr_t end,
                   uint32_t piece, struct leak_pointer model, struct growing *out)
{
    start = round_up(start, sizeof(uintptr_t));
    for (uintptr_t at = start; at + sizeof at <= end; at += sizeof at) {
        uintptr_t offset = arch_address(*(void *const volatile *)at) - block->address;
        struct leak_pointer *found;
        if (offset > block->size || !(found = growing_add(out)))
            continue;
        *found = model;
        found->address = at;
        found->offset = offset;
        if (!model.site)
            found->root = held_tell_word(held, at, piece);
    }
}

void pointers_find(struct held *held, const struct block *block, struct growing *out)
{
    const struct pieces *pieces = &held->roots_found->pieces;
    uint32_t nodes = reach_count(held->reach);
    for (uint32_t i = 0; i < pieces->count; i++)
        search(held, block, pieces->piece[i].start, pieces->piece[i].end, i,
               (struct leak_pointer){0}, out);
    for (uint32_t node = 0; node < nodes; node++) {
        struct block holder = reach_block(held->reach, node);
        search(held, block, holder.address, holder.address + holder.size, 0,
               (struct leak_pointer){.block = holder.address,
                                     .size = holder.size,
                                     .site = holder.site},
               out);
    }
}
