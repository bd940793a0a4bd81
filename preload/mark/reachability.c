/* reachability.c - numbers the blocks and collects the roots before marking (mark.c), and returns
 * the results of marking. */
#include "preload/mark/reachability.h"
#include "preload/mark/mark_passes.h"
#include "preload/mark/nested_blocks.h"
#include "preload/memory/collections.h"

/* ---- Input: blocks and roots ----------------------------------------------------------------- */

struct reach *reach_begin(uint64_t blocks, uint64_t memory_most)
{
    struct scan_arena arena = {.most = memory_most};
    struct reach *reach = blocks < NODE_NONE - 1 ? scan_arena_map(&arena, 1, sizeof *reach) : NULL;
    if (!reach)
        return NULL;
    reach->arena = arena;
    reach->capacity = blocks;
    reach->pending = scan_arena_map(&reach->arena, blocks, sizeof *reach->pending);
    if (!reach->pending || !rank_index_start(&reach->index, &reach->arena)) {
        reach_end(reach);
        return NULL;
    }
    return reach;
}

void reach_end(struct reach *reach)
{
    /* A copy, because *reach lies in the arena, which is freed. */
    struct scan_arena arena = reach->arena;
    scan_arena_free(&arena);
}

void reach_look_up(struct reach *reach, reach_find_block *find)
{
    reach->find = find;
}

static uint32_t pack_size(struct reach *reach, const struct block *block)
{
    uint64_t most = RANK_INDEX_END - 1 - block->address;
    uint64_t size = block->size < most ? block->size : most;
    if (likely(size < NODE_LARGE))
        return (uint32_t)size;
    struct large_node *large = scan_array_push(&reach->arena, &reach->large, sizeof *large);
    if (large)
        *large = (struct large_node){.address = block->address, .size = size};
    else
        reach->failed = true;
    return NODE_LARGE;
}

static struct mark_cold cold_of(const struct block *block)
{
    return (struct mark_cold){
        .count = block->count, .tick_kind = blocks_pack(block).tick_kind, .thread = block->thread};
}

static bool has_room(struct reach *reach)
{
    if (!reach->find && !reach->pending_cold)
        reach->pending_cold =
            scan_arena_map(&reach->arena, reach->capacity, sizeof *reach->pending_cold);
    return reach->added < reach->capacity && (reach->find || reach->pending_cold);
}

void reach_add_block(struct reach *reach, const struct block *block, enum reach_prior before)
{
    if (unlikely(!has_room(reach))) {
        reach->failed = true;
        return;
    }
    if ((uint64_t)block->address >= RANK_INDEX_END || !blocks_has_key(block->address))
        return;
    struct mark_node *in = &reach->pending[reach->added];
    if (!reach->find)
        reach->pending_cold[reach->added] = cold_of(block);
    reach->added++;
    reach->priors |= 1u << before;
    *in = (struct mark_node){.address_state = block->address | (uint64_t)before << 48,
                             .size = pack_size(reach, block),
                             .site = block->site};
    if (in == reach->pending || !rank_index_same_page(block->address, node_address(in - 1)))
        rank_index_add(&reach->index, RANK_INDEX_LEAVES, block->address);
}

/* Writes a block to its node. The rank index gives the number of the node, so blocks need not be
 * sorted. */
static void place_block(struct reach *reach, uint64_t added)
{
    const struct mark_node *in = &reach->pending[added];
    uintptr_t address = node_address(in), end = address + node_size(reach, in);
    uint32_t number = rank_index_rank(&reach->index, address) - 1;
    enum reach_prior before = node_state(in);
    unsigned state = before * NODE_PRIOR | (before == REACH_WAS_LOST ? LEAK_VERDICT_LOST : 0);
    reach->nodes[number] = (struct mark_node){
        .address_state = address | (uint64_t)state << 48, .size = in->size, .site = in->site};
    if (reach->cold) {
        reach->cold[number] = reach->pending_cold[added];
        reach->nested_count += node_is_nested(reach, number);
    }
    reach->site_most = in->site > reach->site_most ? in->site : reach->site_most;
    if (end - reach->low > reach->span)
        reach->span = end - reach->low;
}

static bool fill_index(struct reach *reach)
{
    const struct mark_node *in = reach->pending, *end = in + reach->added;
    if (!rank_index_map(&reach->index, &reach->arena, RANK_INDEX_LEAVES))
        return false;
    for (in = reach->pending; in < end; in++)
        if (in == reach->pending || !rank_index_same_page(node_address(in), node_address(in - 1)))
            rank_index_add(&reach->index, RANK_INDEX_PAGES, node_address(in));
    if (!rank_index_map(&reach->index, &reach->arena, RANK_INDEX_PAGES))
        return false;
    reach->low = reach->added ? UINTPTR_MAX : 0;
    for (in = reach->pending; in < end; in++) {
        rank_index_add(&reach->index, RANK_INDEX_BITS, node_address(in));
        reach->low = node_address(in) < reach->low ? node_address(in) : reach->low;
    }
    reach->count = rank_index_sum(&reach->index);
    return true;
}

static bool place_blocks(struct reach *reach)
{
    reach->nodes = scan_arena_map_raw(&reach->arena, reach->count, sizeof *reach->nodes);
    if (reach->pending_cold)
        reach->cold = scan_arena_map_raw(&reach->arena, reach->count, sizeof *reach->cold);
    if (!reach->nodes || (reach->pending_cold && !reach->cold))
        return false;
    for (uint64_t i = 0; i < reach->added; i++)
        place_block(reach, i);
    scan_arena_unmap(&reach->arena, reach->pending);
    scan_arena_unmap(&reach->arena, reach->pending_cold);
    reach->pending = NULL;
    reach->pending_cold = NULL;
    return true;
}

bool reach_build_index(struct reach *reach)
{
    if (reach->failed || !fill_index(reach) || !place_blocks(reach))
        return false;
    reach->links = scan_arena_map_raw(&reach->arena, reach->count, sizeof *reach->links);
    for (uint32_t i = 0; reach->links && i < reach->count; i++)
        reach->links[i] = (struct mark_link){.from = NODE_NONE};
    reach->queue = scan_arena_map_raw(&reach->arena, reach->count, sizeof *reach->queue);
    return reach->links && reach->queue && nested_blocks_find_outer(reach);
}

static void append_root_range(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                              enum reach_root_kind kind)
{
    for (uint64_t left = end > start ? (end - start) / WORD : 0; left;) {
        uint32_t words = left < 1u << 31 ? left : 1u << 31;
        struct root_range *roots = scan_array_push(&reach->arena, &reach->ranges, sizeof *roots);
        if (!roots) {
            reach->failed = true;
            return;
        }
        *roots = (struct root_range){.start = start,
                                     .words = words,
                                     .range = range,
                                     .starts_only = kind == REACH_ROOT_STARTS,
                                     .variables = kind == REACH_ROOT_VARIABLES};
        start += WORD * words;
        left -= words;
    }
}

void reach_find_idioms(struct reach *reach, const struct reach_idiom_questions *questions)
{
    reach->callers = questions->callers;
    reach->is_typed_object = questions->is_typed_object;
    reach->is_in_libc = questions->is_in_libc;
}

void reach_add_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                    enum reach_root_kind kind)
{
    struct nested_blocks_cut cut = {
        .start = round_up(start, WORD), .end = end, .within = kind == REACH_ROOT_STACK};
    if (!reach->outer)
        append_root_range(reach, cut.start, end, range, kind);
    else
        while (nested_blocks_next_range(reach, &cut, &start, &end))
            append_root_range(reach, start, end, range, kind);
}

/* ---- Results of marking ---------------------------------------------------------------------- */

uint32_t reach_count(const struct reach *reach)
{
    return reach->count;
}

/* Fills a block from its node, and from its struct mark_cold if there is one. */
static void unpack_node(const struct reach *reach, uint32_t node, struct block *out)
{
    const struct mark_cold *cold = reach->cold ? &reach->cold[node] : &(struct mark_cold){0};
    *out = (struct block){.address = node_address(&reach->nodes[node]),
                          .size = node_size(reach, &reach->nodes[node]),
                          .site = reach->nodes[node].site,
                          .tick = cold->tick_kind & BLOCKS_TICK_MAX,
                          .count = cold->count,
                          .thread = cold->thread,
                          .kind = cold->tick_kind >> 24};
}

void reach_read_block(const struct reach *reach, uint32_t node, struct block *out)
{
    if (!reach->find || !reach->find(node_address(&reach->nodes[node]), out))
        unpack_node(reach, node, out);
}

uint64_t reach_size(const struct reach *reach, uint32_t node)
{
    return node_size(reach, &reach->nodes[node]);
}

uint32_t reach_site(const struct reach *reach, uint32_t node)
{
    return reach->nodes[node].site;
}

uintptr_t reach_address(const struct reach *reach, uint32_t node)
{
    return node_address(&reach->nodes[node]);
}

enum leak_verdict reach_verdict(const struct reach *reach, uint32_t node)
{
    return node_verdict(&reach->nodes[node]);
}

unsigned reach_flags(const struct reach *reach, uint32_t node)
{
    unsigned state = node_state(&reach->nodes[node]);
    unsigned flags =
        state & (LEAK_FOUND_DROPPED | LEAK_FOUND_IGNORED | LEAK_FOUND_TAGGED) * NODE_FLAGS;
    return flags / NODE_FLAGS | (state & NODE_BY_HEADER ? LEAK_FOUND_HEADER : 0);
}

uint32_t reach_parent(const struct reach *reach, uint32_t node, uint64_t *offset)
{
    const struct mark_link *link = &reach->links[node];
    unsigned state = node_state(&reach->nodes[node]);
    if (!node_is_held(&reach->nodes[node]) || (state & NODE_BY_ROOT) || link->from == NODE_NONE)
        return REACH_NONE;
    if (offset)
        *offset = WORD * (link->at == LINK_BY_SCAN ? pointer_scan_find_word(reach, link->from, node)
                                                   : link->at);
    return link->from;
}

uint64_t reach_pointer_offset(const struct reach *reach, uint32_t node)
{
    return node_is_held(&reach->nodes[node]) ? node_pointer_offset(reach, node) : 0;
}

uint32_t reach_marked_count(const struct reach *reach)
{
    return reach->tail;
}

uint32_t reach_marked(const struct reach *reach, uint32_t turn)
{
    return reach->queue[turn];
}

void reach_prefetch(const struct reach *reach, uint32_t node)
{
    __builtin_prefetch(&reach->nodes[node]);
    __builtin_prefetch(&reach->links[node]);
}

bool reach_root_word(const struct reach *reach, uint32_t node, struct reach_word *out)
{
    uint32_t index = reach->links[node].from;
    if (!node_is_held(&reach->nodes[node]) || !(node_state(&reach->nodes[node]) & NODE_BY_ROOT))
        return false;
    const struct root_word *word = (const struct root_word *)reach->words.at + index;
    *out = (struct reach_word){.address = word->address, .range = word->range, .index = index};
    return true;
}

uint32_t reach_root_words(const struct reach *reach)
{
    return (uint32_t)reach->words.count;
}

uint32_t reach_lower_bound(const struct reach *reach, uintptr_t address)
{
    return LOWER_BOUND(reach->count, i, node_address(&reach->nodes[i]) < address);
}

uint32_t reach_find_node(const struct reach *reach, uintptr_t pointer)
{
    if (pointer - reach->low > reach->span)
        return REACH_NONE;
    /* The rank index may have been freed, to make room for the leak graph. */
    uint32_t rank = reach->index.top ? rank_index_rank(&reach->index, pointer)
                                     : reach_lower_bound(reach, pointer + 1);
    uint32_t number = rank - 1;
    if (number == NODE_NONE)
        return REACH_NONE;
    const struct mark_node *node = &reach->nodes[number];
    if (pointer - node_address(node) > node_size(reach, node))
        number = reach->outer ? node_enclosing(reach, number, pointer) : NODE_NONE;
    return number;
}

bool reach_is_nested(const struct reach *reach, uint32_t node)
{
    return reach->nested_count && node_is_nested(reach, node);
}
