/* nested_blocks.c - moves the start of outer blocks before the rank index of the leak check is
 * built, and finds the outer block of nested ones after that. */
#include "preload/mark/nested_blocks.h"
#include "preload/memory/collections.h"

/* Largest depth to which suballocated blocks may be nested; a block nested deeper gets the block at
 * this depth as its outer block. */
#define MAX_DEPTH 16
/* Number of addresses that are tried for the node of an arena that is completely covered by nested
 * blocks; if blocks begin at all of them, the arena gets no node. */
#define MAX_HIDING_PLACES 64

/* An arena (the outer block of nested ones) whose node begins behind the start of the block,
 * because nested blocks begin there. */
struct trimmed_block {
    uintptr_t began;
    uint64_t size;
    uintptr_t address; /* address at which the node of the arena begins */
};

/* ---- Moving the start of outer blocks, before the rank index is built ------------------------ */

/* Returns the first address behind a block at which a node may begin: a multiple of
 * RANK_INDEX_STEP. */
static uintptr_t block_end(const struct block *block)
{
    return round_up(block->address + block->size, RANK_INDEX_STEP);
}

/* Finds a nested block that begins at the address, lies in the block and is not the block itself.
 * If two nested blocks cover the same memory, the one of the lower pool counts as the inner one. */
static bool find_nested(uintptr_t address, const struct block *block, uint32_t pool,
                        struct suballoc_block *out)
{
    uint64_t space = block->address + block->size - address;
    bool found = suballoc_first(address, 0, out);
    for (; found && out->block.address == address;
         found = suballoc_first(address, out->pool + 1, out))
        if (out->block.size < space ||
            (out->block.size == space && (address != block->address || out->pool < pool)))
            return true;
    return false;
}

/* Places the node of a block that is completely covered by nested blocks: as an empty node, at an
 * address where no block begins. */
static bool place_empty(struct block *block, uint32_t pool)
{
    struct suballoc_block nested;
    uintptr_t at = block->address + block->size - 1;
    at -= at % RANK_INDEX_STEP;
    for (unsigned i = 0; i < MAX_HIDING_PLACES && at > block->address; i++, at -= RANK_INDEX_STEP)
        if (!find_nested(at, block, pool, &nested)) {
            block->address = at;
            block->size = 0;
            return true;
        }
    return false;
}

bool nested_blocks_trim(struct block *block, uint32_t pool)
{
    struct suballoc_block nested;
    uintptr_t at = block->address, end = block->address + block->size;
    if (!suballoc_count || !block->size)
        return true;
    while (at < end && find_nested(at, block, pool, &nested)) {
        uintptr_t behind = block_end(&nested.block);
        at = behind > at ? behind : at + RANK_INDEX_STEP;
    }
    if (at >= end)
        return place_empty(block, pool);
    block->address = at;
    block->size = end - at;
    return true;
}

void nested_blocks_note_trimmed(struct reach *reach, const struct block *block, uintptr_t began,
                                uint64_t size)
{
    struct trimmed_block *trimmed =
        scan_array_push(&reach->arena, &reach->trimmed, sizeof *trimmed);
    if (trimmed)
        *trimmed = (struct trimmed_block){.began = began, .size = size, .address = block->address};
    else
        reach->failed = true;
}

/* ---- Finding the outer block of nested ones, after the rank index is built ------------------- */

static uintptr_t node_end(const struct reach *reach, const struct mark_node *node)
{
    return node_address(node) + node_size(reach, node);
}

static void set_outer(struct reach *reach, uint32_t node, uint32_t outer)
{
    reach->outer[node] = outer;
    node_change_state(&reach->nodes[outer], 0, NODE_HAS_NESTED);
}

/* Finds the outer block of each nested one: visits blocks in address order, with a stack of the
 * blocks that enclose the visited one. */
static void find_outer(struct reach *reach)
{
    uint32_t around[MAX_DEPTH], depth = 0;
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct mark_node *node = &reach->nodes[i];
        reach->outer[i] = NODE_NONE;
        while (depth && node_end(reach, &reach->nodes[around[depth - 1]]) <= node_address(node))
            depth--;
        if (depth && node_size(reach, node) && node_is_nested(reach, i) &&
            node_end(reach, node) <= node_end(reach, &reach->nodes[around[depth - 1]]))
            set_outer(reach, i, around[depth - 1]);
        if (depth < MAX_DEPTH && node_size(reach, node))
            around[depth++] = i;
    }
}

/* Sets the outer block of the nested blocks at the start of an arena whose node begins behind them
 * (nested_blocks_trim): they lie in the arena, too. */
static void set_outer_of_first(struct reach *reach, const struct trimmed_block *trimmed)
{
    uint32_t outer = rank_index_rank(&reach->index, trimmed->address) - 1;
    /* NODE_HAS_NESTED is not set: all words of the outer node lie behind these blocks. */
    for (uint32_t i = rank_index_rank(&reach->index, trimmed->began) - 1; i < outer; i++)
        if (reach->outer[i] == NODE_NONE && node_is_nested(reach, i))
            reach->outer[i] = outer;
}

bool nested_blocks_find_outer(struct reach *reach)
{
    if (!reach->nested_count)
        return true;
    reach->outer = scan_arena_map(&reach->arena, reach->count, sizeof *reach->outer);
    if (!reach->outer)
        return false;
    find_outer(reach);
    struct trimmed_block *trimmed = reach->trimmed.at;
    SORT_BY(trimmed, reach->trimmed.count, address);
    for (uint64_t i = 0; i < reach->trimmed.count; i++)
        set_outer_of_first(reach, &trimmed[i]);
    return true;
}

void nested_blocks_original(const struct reach *reach, uint32_t node, uintptr_t *start,
                            uint64_t *size)
{
    const struct trimmed_block *list = reach->trimmed.at;
    *start = node_address(&reach->nodes[node]);
    *size = node_size(reach, &reach->nodes[node]);
    uint64_t low = LOWER_BOUND(reach->trimmed.count, i, list[i].address < *start);
    if (low < reach->trimmed.count && list[low].address == *start) {
        *size = list[low].size;
        *start = list[low].began;
    }
}

/* ---- Cutting nested blocks out of root ranges ------------------------------------------------ */

/* Begins the iteration: moves its start behind the nested blocks that begin before the range and
 * reach into it. */
static void begin_cut(const struct reach *reach, struct nested_blocks_cut *cut)
{
    uintptr_t start = cut->start;
    uint32_t node = rank_index_rank(&reach->index, start) - 1;
    cut->begun = true;
    cut->next = node + 1;
    for (; node != NODE_NONE; node = reach->outer[node])
        if (node_is_nested(reach, node) && node_end(reach, &reach->nodes[node]) > start &&
            (!cut->within || node_address(&reach->nodes[node]) == start))
            cut->start = round_up(node_end(reach, &reach->nodes[node]), WORD);
}

bool nested_blocks_next_range(const struct reach *reach, struct nested_blocks_cut *cut,
                              uintptr_t *piece_start, uintptr_t *piece_end)
{
    if (!cut->begun)
        begin_cut(reach, cut);
    while (cut->next < reach->count && node_address(&reach->nodes[cut->next]) < cut->end) {
        uint32_t number = cut->next++;
        uintptr_t at = cut->start, begins = node_address(&reach->nodes[number]);
        uintptr_t behind = round_up(node_end(reach, &reach->nodes[number]), WORD);
        if (!node_is_nested(reach, number))
            continue;
        cut->start = behind > at ? behind : at;
        if (begins > at) {
            *piece_start = at;
            *piece_end = begins;
            return true;
        }
    }
    *piece_start = cut->start;
    *piece_end = cut->end;
    cut->start = cut->end;
    return *piece_start < *piece_end;
}
