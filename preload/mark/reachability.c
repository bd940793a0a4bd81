/* reachability.c - before and after marking (mark.c): blocks get their numbers, roots are noted,
 * and who asks is told what was found.
 */
#include "preload/mark/reachability.h"
#include "preload/mark/pointer_scan.h"
#include "preload/mark/nested_blocks.h"

/* A block before it has a number. */
struct incoming {
    uint64_t address_before; /* address (48), enum reach_before (16) */
    struct blocks_entry entry;
} __attribute__((packed, aligned(4)));

/* ---- Before: the blocks, in any order ------------------------------------------------------- */

struct reach *reach_begin(uint64_t blocks, uint64_t memory_most)
{
    struct room room = {.most = memory_most};
    struct reach *reach = blocks < NOBODY - 1 ? room_map(&room, 1, sizeof *reach) : NULL;
    if (!reach)
        return NULL;
    reach->room = room;
    reach->fits = blocks;
    reach->incoming = room_map(&reach->room, blocks, sizeof *reach->incoming);
    if (!reach->incoming || !places_begin(&reach->places, &reach->room)) {
        reach_end(reach);
        return NULL;
    }
    return reach;
}

void reach_end(struct reach *reach)
{
    struct room room = reach->room; /* its own memory is one of the maps */
    room_end(&room);
}

static uintptr_t address_of(const struct incoming *in)
{
    return in->address_before & (PLACES_END - 1);
}

void reach_add(struct reach *reach, const struct block *block, enum reach_before before)
{
    if (reach->added == reach->fits) {
        reach->failed = true;
        return;
    }
    if (block->address >= PLACES_END || !blocks_has_key(block->address))
        return;
    struct incoming *in = &reach->incoming[reach->added++];
    reach->before |= 1u << before;
    in->address_before = block->address | (uint64_t)before << 48;
    in->entry = blocks_pack(block);
    if (in == reach->incoming || !places_are_near(block->address, address_of(in - 1)))
        places_show(&reach->places, PLACES_LEAVES, block->address);
}

/* Each block to its place by number: there is nothing to sort. */
static void settle(struct reach *reach, const struct incoming *in)
{
    uintptr_t address = address_of(in);
    uint32_t number = places_rank_of(&reach->places, address) - 1;
    struct block block = blocks_unpack(&in->entry, address);
    enum reach_before before = in->address_before >> 48;
    unsigned state = before * NODE_BEFORE | (before == REACH_WAS_LOST ? LEAK_VERDICT_LOST : 0);
    if (block.size > PLACES_END - 1 - address)
        block.size = PLACES_END - 1 - address;
    reach->nodes[number] =
        (struct node){.address = address, .size_state = block.size | (uint64_t)state << 48};
    reach->cold[number] = (struct node_cold){.site = block.site,
                                             .count = block.count,
                                             .tick_kind = in->entry.tick_kind,
                                             .thread = block.thread};
    reach->links[number].from = NOBODY;
    reach->carved += (block.kind & BLOCKS_KIND) == LEAK_KIND_CUSTOM;
    if (address + block.size - reach->low > reach->span)
        reach->span = address + block.size - reach->low;
}

static bool find_numbers(struct reach *reach)
{
    const struct incoming *in = reach->incoming, *end = in + reach->added;
    if (!places_map(&reach->places, &reach->room, PLACES_LEAVES))
        return false;
    for (in = reach->incoming; in < end; in++)
        if (in == reach->incoming || !places_are_near(address_of(in), address_of(in - 1)))
            places_show(&reach->places, PLACES_PAGES, address_of(in));
    if (!places_map(&reach->places, &reach->room, PLACES_PAGES))
        return false;
    reach->low = reach->added ? UINTPTR_MAX : 0;
    for (in = reach->incoming; in < end; in++) {
        places_show(&reach->places, PLACES_BITS, address_of(in));
        reach->low = address_of(in) < reach->low ? address_of(in) : reach->low;
    }
    reach->count = places_sum(&reach->places);
    return true;
}

bool reach_index(struct reach *reach)
{
    if (reach->failed || !find_numbers(reach))
        return false;
    reach->nodes = room_map(&reach->room, reach->count, sizeof *reach->nodes);
    reach->cold = room_map(&reach->room, reach->count, sizeof *reach->cold);
    reach->links = room_map(&reach->room, reach->count, sizeof *reach->links);
    if (!reach->nodes || !reach->cold || !reach->links)
        return false;
    for (uint64_t i = 0; i < reach->added; i++)
        settle(reach, &reach->incoming[i]);
    room_unmap(&reach->room, reach->incoming);
    reach->incoming = NULL;
    reach->queue = room_map_raw(&reach->room, reach->count, sizeof *reach->queue);
    return reach->queue && nesting_find(reach);
}

static void add_words(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                      bool starts_only)
{
    for (uint64_t left = end > start ? (end - start) / 8 : 0; left;) {
        uint32_t words = left < 1u << 31 ? left : 1u << 31;
        struct root_range *roots = pile_add(&reach->room, &reach->ranges, sizeof *roots);
        if (!roots) {
            reach->failed = true;
            return;
        }
        *roots = (struct root_range){
            .start = start, .words = words, .range = range, .starts_only = starts_only};
        start += 8ull * words;
        left -= words;
    }
}

static void add_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range,
                     bool starts_only, bool within)
{
    struct nesting_cut cut = {.start = round_up(start, 8), .end = end, .within = within};
    if (!reach->outer)
        add_words(reach, cut.start, end, range, starts_only);
    else
        while (nesting_cut(reach, &cut, &start, &end))
            add_words(reach, start, end, range, starts_only);
}

void reach_root(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range)
{
    add_root(reach, start, end, range, false, false);
}

void reach_root_starts(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range)
{
    add_root(reach, start, end, range, true, false);
}

void reach_root_stack(struct reach *reach, uintptr_t start, uintptr_t end, uint32_t range)
{
    add_root(reach, start, end, range, false, true);
}

/* ---- What was found ------------------------------------------------------------------------- */

uint32_t reach_count(const struct reach *reach)
{
    return reach->count;
}

struct block reach_block(const struct reach *reach, uint32_t node)
{
    const struct node_cold *cold = &reach->cold[node];
    return (struct block){.address = reach->nodes[node].address,
                          .size = node_size(&reach->nodes[node]),
                          .site = cold->site,
                          .tick = cold->tick_kind & BLOCKS_TICK_MOST,
                          .count = cold->count,
                          .thread = cold->thread,
                          .kind = cold->tick_kind >> 24};
}

uint64_t reach_size(const struct reach *reach, uint32_t node)
{
    return node_size(&reach->nodes[node]);
}

uintptr_t reach_address(const struct reach *reach, uint32_t node)
{
    return reach->nodes[node].address;
}

enum leak_verdict reach_verdict(const struct reach *reach, uint32_t node)
{
    return node_verdict(&reach->nodes[node]);
}

unsigned reach_flags(const struct reach *reach, uint32_t node)
{
    return (node_state(&reach->nodes[node]) &
            ~(NODE_PLAIN | NODE_BARE | NODE_ROOTED | NODE_CARVED)) /
           NODE_FLAGS;
}

uint32_t reach_parent(const struct reach *reach, uint32_t node, uint64_t *offset)
{
    const struct node_link *link = &reach->links[node];
    unsigned state = node_state(&reach->nodes[node]);
    if (!node_is_held(&reach->nodes[node]) || (state & NODE_BY_ROOT) || link->from == NOBODY)
        return REACH_NOBODY;
    if (offset)
        *offset = 8 * (link->at == AT_LEAD ? leads_at(reach, link->from, node) : link->at);
    return link->from;
}

uint32_t reach_met_count(const struct reach *reach)
{
    return reach->tail;
}

uint32_t reach_met(const struct reach *reach, uint32_t turn)
{
    return reach->queue[turn];
}

void reach_look_ahead(const struct reach *reach, uint32_t node)
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

/* Once the index is gone: how many begin at or below. */
static uint32_t rank_by_search(const struct reach *reach, uintptr_t pointer)
{
    uint32_t low = 0, high = reach->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reach->nodes[middle].address <= pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t reach_find(const struct reach *reach, uintptr_t pointer)
{
    if (pointer - reach->low > reach->span)
        return REACH_NOBODY;
    bool is_indexed = reach->places.top;
    uint32_t rank =
        is_indexed ? places_rank_of(&reach->places, pointer) : rank_by_search(reach, pointer);
    uint32_t number = rank - 1;
    if (number == NOBODY)
        return REACH_NOBODY;
    const struct node *node = &reach->nodes[number];
    if (pointer - node->address > node_size(node))
        number = reach->outer ? node_around(reach, number, pointer) : NOBODY;
    return number;
}

bool reach_is_carved(const struct reach *reach, uint32_t node)
{
    return reach->carved && node_is_carved(reach, node);
}
