/* mark.c - marking: from the roots breadth first, then what is left, pass by pass.
 *
 *     ignored, roots | held before | candidates | decoded | the rest
 *            reachable             |  possible  | hidden  | lost
 *
 * One queue serves all passes: who is marked enters it, and a pass ends when it is empty. While
 * the reachable are found, a pointer inside a block makes it a candidate, no more; whoever is only
 * that when all reachable ones are known is possible. Where a block leads to, pointer_scan.c has
 * read before, most often; the others are read when it is their turn.
 */
#include "preload/mark/encoded_pointers.h"
#include "preload/mark/pointer_filter.h"
#include "preload/mark/pointer_scan.h"
#include "preload/mark/reachability.h"
#include "preload/mark/prefetch_ring.h"
#include "preload/mark/container_heuristics.h"

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

static ALWAYS_INLINE void read_block(struct pass *pass, const struct disguise *is, uint32_t number,
                                     ring_met *met)
{
    struct reach *reach = pass->reach;
    const uint32_t *to;
    uint32_t count;
    if (likely(reach->lead) && leads_of(reach, number, &to, &count)) {
        for (uint32_t i = 0; i < count; i++)
            ring_put_lead(&pass->ring, reach, to[i], number, met, pass);
        return;
    }
    struct node_words words = node_words(reach, number);
    unsigned state = ring_read_words(&pass->ring, reach, is, &words, number, met, pass);
    while (node_words_next(reach, number, &words))
        state &= ring_read_words(&pass->ring, reach, is, &words, number, met, pass);
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
        if (likely(reach->lead))
            leads_look_ahead(reach, reach->head);
        else
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
    leads_find(reach, &pass.is);
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
    leads_end(reach);

    if (leave_the_rest(reach, LEAK_VERDICT_NONE)) {
        put_those(reach, REACH_WAS_HIDDEN, LEAK_VERDICT_HIDDEN, 0);
        if (!decode_hidden(reach, codes->guard, codes->xor))
            reach->failed = true;
        leave_the_rest(reach, LEAK_VERDICT_LOST);
    }
    return !reach->failed;
}
