/* reach.c - marking: from the roots breadth first, then what is left, pass by pass.
 *
 *     add -> index -> | ignored, roots | held before | candidates | decoded | the rest
 *                     |        reachable             |  possible  | hidden  | lost
 *
 * One queue serves all passes: who is marked enters it, and a pass ends when it is empty. While
 * the reachable are found, a pointer inside a block makes it a candidate, no more; whoever is only
 * that when all reachable ones are known is possible.
 */
#include "preload/reach.h"
#include "preload/decode.h"
#include "preload/disguise.h"
#include "preload/nesting.h"
#include "preload/nodes.h"
#include "preload/shapes.h"

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
    places_show(&reach->places, PLACES_LEAVES, block->address);
}

static uintptr_t address_of(const struct incoming *in)
{
    return in->address_before & (PLACES_END - 1);
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

/* ---- What a pointer means ---------------------------------------------------------------------
 * A pointer to the start holds a block. So does one to where programs are known to begin behind a
 * head of their own; any other inside, or just behind the end, may be chance. */

struct pass {
    struct reach *reach;
    reach_is_vtable *is_vtable;
    enum leak_verdict verdict;
    bool roots; /* "from" is a range of roots */
    struct disguise is;
    struct ring ring;
};

static bool is_known_shape(const struct pass *pass, const struct node *node, uint64_t offset)
{
    const uintptr_t *head = (const uintptr_t *)node->address;
    uint64_t size = node_size(node);
    if (offset == 8 && shape_is_array(head, size))
        return true;
    if (offset == 24 && shape_is_string(head, size))
        return true;
    if (offset && shape_is_table(node->address, offset, size))
        return true;
    /* A second base class: it has a virtual table, and so has the whole object. */
    return pass->is_vtable && offset % 8 == 0 && offset + 8 <= size && pass->is_vtable(head[0]) &&
           pass->is_vtable(head[offset / 8]);
}

static ALWAYS_INLINE void link_met(const struct pass *pass, uint32_t node, uint32_t from,
                                   uint32_t at)
{
    if (pass->roots)
        node_link_root(pass->reach, node, from, at);
    else
        node_link(pass->reach, node, from, at);
}

static bool starts_only(const struct pass *pass, uint32_t from)
{
    return pass->roots && ((const struct root_range *)pass->reach->ranges.at)[from].starts_only;
}

/* Low bits of an aligned pointer are where programs put a tag. */
static unsigned tagged(uint64_t offset)
{
    return offset % 8 && offset < 16 ? LEAK_FOUND_TAGGED : 0;
}

static ALWAYS_INLINE void met_by_holder(void *context, uintptr_t pointer, uint32_t number,
                                        uint32_t from, uint32_t at)
{
    struct pass *pass = context;
    struct node *node = &pass->reach->nodes[number];
    uint64_t offset = pointer - node->address;
    if (offset && starts_only(pass, from))
        return;
    if (pass->roots)
        node_change(node, 0, NODE_ROOTED);
    else
        node_note_edge(pass->reach, from, number);
    if (node_verdict(node))
        return;
    if (likely(offset == 0) || is_known_shape(pass, node, offset)) {
        link_met(pass, number, from, at);
        node_put(pass->reach, number, LEAK_VERDICT_REACHABLE, 0);
    } else if (!(node_state(node) & NODE_CANDIDATE)) {
        link_met(pass, number, from, at);
        node_change(node, 0, NODE_CANDIDATE | tagged(offset) * NODE_FLAGS);
    }
}

static ALWAYS_INLINE void met_by_maybe(void *context, uintptr_t pointer, uint32_t number,
                                       uint32_t from, uint32_t at)
{
    struct pass *pass = context;
    const struct node *node = &pass->reach->nodes[number];
    node_note_edge(pass->reach, from, number);
    if (node_verdict(node))
        return;
    link_met(pass, number, from, at);
    node_put(pass->reach, number, pass->verdict, tagged(pointer - node->address));
}

/* ---- The passes ----------------------------------------------------------------------------- */

static void scan_roots(struct pass *pass)
{
    struct reach *reach = pass->reach;
    const struct root_range *roots = reach->ranges.at;
    pass->roots = true;
    for (uint32_t i = 0; i < reach->ranges.count; i++)
        ring_scan(&pass->ring, reach, (const uintptr_t *)roots[i].start, roots[i].words, 0, i,
                  met_by_holder, pass);
    ring_drain(&pass->ring, reach, met_by_holder, pass);
    pass->roots = false;
}

/* Each word is asked once what it may be; most are no pointer in any form. */
static ALWAYS_INLINE unsigned read_words(struct pass *pass, const struct disguise *is,
                                         const struct node_words *own, uint32_t number,
                                         ring_met *met)
{
    struct reach *reach = pass->reach;
    const uintptr_t *words = own->at, low = reach->low, span = reach->span;
    unsigned state = NODE_PLAIN | NODE_BARE;
    for (uint64_t i = 0, count = own->count; i < count; i += 4) {
        unsigned some = count - i < 4 ? count - i : 4;
        unsigned may_be = disguise_of_words(is, words + i, some);
        if (likely(!may_be))
            continue;
        state &= may_be & DISGUISE_OTHER ? 0 : NODE_BARE;
        for (unsigned k = 0; k < some; k++)
            if (node_pointer(words[i + k]) - low <= span)
                ring_put(&pass->ring, reach, node_pointer(words[i + k]), number,
                         node_at(own->first + i + k), met, pass);
    }
    return state;
}

static ALWAYS_INLINE void read_block(struct pass *pass, const struct disguise *is, uint32_t number,
                                     ring_met *met)
{
    struct reach *reach = pass->reach;
    struct node_words words = node_words(reach, number);
    unsigned state = read_words(pass, is, &words, number, met);
    while (node_words_next(reach, number, &words))
        state &= read_words(pass, is, &words, number, met);
    if (unlikely(reach->outer) && ring_put_outer(&pass->ring, reach, number, number, met, pass))
        state &= NODE_BARE;
    node_change(&reach->nodes[number], 0, state);
}

static ALWAYS_INLINE void spread(struct pass *pass, ring_met *met)
{
    struct reach *reach = pass->reach;
    const struct disguise is = pass->is;
    for (;;) {
        if (reach->head == reach->tail)
            ring_drain(&pass->ring, reach, met, pass);
        if (reach->head == reach->tail)
            return;
        node_look_ahead(reach, reach->head);
        /* In a list one block leads to the next: nothing else is there to do meanwhile. */
        pass->ring.eager = reach->tail - reach->head < 4;
        read_block(pass, &is, reach->queue[reach->head++], met);
    }
}

static NOINLINE void spread_by_holders(struct pass *pass)
{
    spread(pass, met_by_holder);
}

static NOINLINE void spread_by_maybes(struct pass *pass)
{
    spread(pass, met_by_maybe);
}

/* Those without a verdict that were something before get one by themselves. */
static void put_those(struct reach *reach, enum reach_before before, enum leak_verdict verdict,
                      unsigned flags)
{
    for (uint32_t i = 0; reach->before >> before & 1 && i < reach->count; i++)
        if (node_before(&reach->nodes[i]) == before && !node_verdict(&reach->nodes[i])) {
            node_link(reach, i, NOBODY, 0);
            node_put(reach, i, verdict, flags);
        }
}

static void put_candidates(struct reach *reach)
{
    for (uint32_t i = 0; i < reach->count; i++) {
        unsigned state = node_state(&reach->nodes[i]);
        if ((state & NODE_CANDIDATE) && !(state & NODE_VERDICT))
            node_put(reach, i, LEAK_VERDICT_POSSIBLE, state / NODE_FLAGS & LEAK_FOUND_TAGGED);
    }
}

static uint32_t leave_the_rest(struct reach *reach, enum leak_verdict verdict)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < reach->count; i++)
        if (!node_verdict(&reach->nodes[i])) {
            rest++;
            node_change(&reach->nodes[i], 0, verdict);
        }
    return rest;
}

bool reach_mark(struct reach *reach, const struct reach_codes *codes, reach_is_vtable *is_vtable)
{
    struct pass pass = {.reach = reach,
                        .is_vtable = is_vtable,
                        .is = disguise_of(reach->low, reach->span, codes->guard, codes->xor)};
    pass.ring.beside = (const char *)reach->links;
    pass.ring.beside_each = sizeof *reach->links;
    reach->met_first = room_map_raw(&reach->room, reach->count + 2ull, sizeof *reach->met_first);
    if (reach->met_first)
        reach->met_first[0] = 0;
    put_those(reach, REACH_IGNORED, LEAK_VERDICT_REACHABLE, LEAK_FOUND_IGNORED);
    scan_roots(&pass);
    spread_by_holders(&pass);
    put_those(reach, REACH_WAS_HELD, LEAK_VERDICT_REACHABLE, LEAK_FOUND_DROPPED);
    spread_by_holders(&pass);

    pass.verdict = LEAK_VERDICT_POSSIBLE;
    put_candidates(reach);
    put_those(reach, REACH_WAS_POSSIBLE, LEAK_VERDICT_POSSIBLE, 0);
    spread_by_maybes(&pass);
    reach->met_end = reach->head;

    if (leave_the_rest(reach, LEAK_VERDICT_NONE)) {
        put_those(reach, REACH_WAS_HIDDEN, LEAK_VERDICT_HIDDEN, 0);
        if (!decode_hidden(reach, codes->guard, codes->xor))
            reach->failed = true;
        leave_the_rest(reach, LEAK_VERDICT_LOST);
    }
    return !reach->failed;
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
    *offset = 8ull * link->at;
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

uint32_t reach_find(const struct reach *reach, uintptr_t pointer)
{
    if (pointer - reach->low > reach->span)
        return REACH_NOBODY;
    uint32_t number = places_rank_of(&reach->places, pointer) - 1;
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
