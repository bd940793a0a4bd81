#include "preload/mark/nested_blocks.h"

#define DEPTH 16       /* of blocks in blocks in blocks */
#define HIDING_MOST 64 /* places looked at for an arena that is full */

/* An arena that begins later than it did. */
struct rest {
    uintptr_t began;
    uint64_t size;
    uintptr_t address; /* and where that is now */
};

/* ---- Before the index ----------------------------------------------------------------------- */

static uintptr_t end_of(const struct block *block)
{
    return round_up(block->address + block->size, 8);
}

/* One that begins at an address and lies in the block, but is not the block itself. Of two that are
 * the same memory the one of the lower pool lies in the other. */
static bool find_in(uintptr_t address, const struct block *block, uint32_t pool, struct carved *out)
{
    uint64_t room = block->address + block->size - address;
    bool found = carved_first(address, 0, out);
    for (; found && out->block.address == address;
         found = carved_first(address, out->pool + 1, out))
        if (out->block.size < room ||
            (out->block.size == room && (address != block->address || out->pool < pool)))
            return true;
    return false;
}

/* All of it is given out: where nothing begins, as a block of no size. */
static bool hide(struct block *block, uint32_t pool)
{
    struct carved it;
    uintptr_t at = block->address + block->size - 1;
    at -= at % 8;
    for (unsigned i = 0; i < HIDING_MOST && at > block->address; i++, at -= 8)
        if (!find_in(at, block, pool, &it)) {
            block->address = at;
            block->size = 0;
            return true;
        }
    return false;
}

bool nesting_rest(struct block *block, uint32_t pool)
{
    struct carved it;
    uintptr_t at = block->address, end = block->address + block->size;
    if (!carved_count || !block->size)
        return true;
    while (at < end && find_in(at, block, pool, &it)) {
        uintptr_t behind = end_of(&it.block);
        at = behind > at ? behind : at + 8;
    }
    if (at >= end)
        return hide(block, pool);
    block->address = at;
    block->size = end - at;
    return true;
}

void nesting_note(struct reach *reach, const struct block *block, uintptr_t began, uint64_t size)
{
    struct rest *rest = pile_add(&reach->room, &reach->rests, sizeof *rest);
    if (rest)
        *rest = (struct rest){.began = began, .size = size, .address = block->address};
    else
        reach->failed = true;
}

/* ---- Behind it ------------------------------------------------------------------------------ */

static uintptr_t node_end(const struct node *node)
{
    return node->address + node_size(node);
}

static void put_in(struct reach *reach, uint32_t node, uint32_t outer)
{
    reach->outer[node] = outer;
    node_change(&reach->nodes[outer], 0, NODE_CARVED);
}

/* By address, with the blocks around on a stack. */
static void find_outer(struct reach *reach)
{
    uint32_t around[DEPTH], depth = 0;
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct node *node = &reach->nodes[i];
        reach->outer[i] = NOBODY;
        while (depth && node_end(&reach->nodes[around[depth - 1]]) <= node->address)
            depth--;
        if (depth && node_size(node) && node_is_carved(reach, i) &&
            node_end(node) <= node_end(&reach->nodes[around[depth - 1]]))
            put_in(reach, i, around[depth - 1]);
        if (depth < DEPTH && node_size(node))
            around[depth++] = i;
    }
}

static void sort_rests(struct reach *reach)
{
    struct rest *rests = reach->rests.at;
    uint64_t count = reach->rests.count;
    for (uint64_t gap = count / 2; gap; gap /= 2)
        for (uint64_t i = gap; i < count; i++) {
            struct rest rest = rests[i];
            uint64_t k = i;
            for (; k >= gap && rests[k - gap].address > rest.address; k -= gap)
                rests[k] = rests[k - gap];
            rests[k] = rest;
        }
}

/* Those in front of where an arena begins now are in it as well. */
static void find_outer_of_first(struct reach *reach, const struct rest *rest)
{
    uint32_t outer = places_rank_of(&reach->places, rest->address) - 1;
    for (uint32_t i = places_rank_of(&reach->places, rest->began) - 1; i < outer; i++)
        if (reach->outer[i] == NOBODY && node_is_carved(reach, i))
            reach->outer[i] = outer; /* its words are all behind them */
}

bool nesting_find(struct reach *reach)
{
    if (!reach->carved)
        return true;
    reach->outer = room_map(&reach->room, reach->count, sizeof *reach->outer);
    if (!reach->outer)
        return false;
    find_outer(reach);
    sort_rests(reach);
    for (uint64_t i = 0; i < reach->rests.count; i++)
        find_outer_of_first(reach, (const struct rest *)reach->rests.at + i);
    return true;
}

void nesting_home(const struct reach *reach, uint32_t node, uintptr_t *start, uint64_t *size)
{
    const struct rest *rests = reach->rests.at;
    uint64_t low = 0, high = reach->rests.count;
    *start = reach->nodes[node].address;
    *size = node_size(&reach->nodes[node]);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (rests[middle].address < *start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < reach->rests.count && rests[low].address == *start) {
        *size = rests[low].size;
        *start = rests[low].began;
    }
}

/* ---- Roots ---------------------------------------------------------------------------------- */

/* Those that reach so far from below. */
static void begin_cut(const struct reach *reach, struct nesting_cut *cut)
{
    uintptr_t start = cut->start;
    uint32_t node = places_rank_of(&reach->places, start) - 1;
    cut->begun = true;
    cut->next = node + 1;
    for (; node != NOBODY; node = reach->outer[node])
        if (node_is_carved(reach, node) && node_end(&reach->nodes[node]) > start &&
            (!cut->within || reach->nodes[node].address == start))
            cut->start = round_up(node_end(&reach->nodes[node]), 8);
}

bool nesting_cut(const struct reach *reach, struct nesting_cut *cut, uintptr_t *piece_start,
                 uintptr_t *piece_end)
{
    if (!cut->begun)
        begin_cut(reach, cut);
    while (cut->next < reach->count && reach->nodes[cut->next].address < cut->end) {
        uint32_t number = cut->next++;
        uintptr_t at = cut->start, begins = reach->nodes[number].address;
        uintptr_t behind = round_up(node_end(&reach->nodes[number]), 8);
        if (!node_is_carved(reach, number))
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
