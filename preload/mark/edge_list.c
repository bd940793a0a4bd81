/* edge_list.c - one walk over the blocks, through the ring; or none, where marking has noted what
 * it met.
 *
 * Nodes leave the ring in the order in which their words were put, so the targets of one source
 * come together and sources come in order: each target is written once, where it stays.
 */
#include "preload/mark/edge_list.h"
#include "preload/mark/prefetch_ring.h"

struct walk {
    struct reach *reach;
    struct edges *edges;
    uint32_t source; /* whose targets are being written */
    uint32_t *turn;  /* by node: its index in the queue + 1; 0 = nothing holds it */
    bool failed;
    struct edges_lately lately;
    struct ring ring;
};

static ALWAYS_INLINE void add(struct walk *walk, uint32_t from, uint32_t to)
{
    struct edges *edges = walk->edges;
    while (walk->source < from)
        edges->first[++walk->source] = (uint32_t)edges->to.count;
    if (!edges_are_new(&walk->lately, from, to))
        return;
    uint32_t *place = edges->to.count < UINT32_MAX
                          ? pile_add(&walk->reach->room, &edges->to, sizeof *place)
                          : NULL;
    if (likely(place))
        *place = to;
    else
        walk->failed = true;
}

static bool begin(struct walk *walk, uint32_t sources)
{
    memset(walk->edges, 0, sizeof *walk->edges);
    walk->edges->first = room_map(&walk->reach->room, sources + 1ull, sizeof(uint32_t));
    return walk->edges->first;
}

static bool finish(struct walk *walk, uint32_t sources)
{
    while (walk->source < sources)
        walk->edges->first[++walk->source] = (uint32_t)walk->edges->to.count;
    return !walk->failed;
}

static ALWAYS_INLINE void scan(struct walk *walk, uint32_t number, uint32_t source, ring_met *met)
{
    ring_scan_node(&walk->ring, walk->reach, number, source, met, walk);
}

/* ---- The lost ------------------------------------------------------------------------------- */

static ALWAYS_INLINE void met_lost(void *context, uintptr_t pointer UNUSED, uint32_t number,
                                   uint32_t from, uint32_t at UNUSED)
{
    struct walk *walk = context;
    if (node_verdict(&walk->reach->nodes[number]) != LEAK_VERDICT_LOST)
        return;
    uint32_t to = walk->reach->links[number].from;
    if (to != from)
        add(walk, from, to);
}

bool edges_of_lost(struct edges *edges, struct reach *reach, const uint32_t *node_of,
                   uint32_t count)
{
    struct walk walk = {.reach = reach, .edges = edges};
    walk.ring.beside = (const char *)reach->links;
    walk.ring.beside_each = sizeof *reach->links;
    if (!begin(&walk, count))
        return false;
    for (uint32_t i = 0; i < count && !walk.failed; i++)
        scan(&walk, node_of[i], i, met_lost);
    ring_drain(&walk.ring, reach, met_lost, &walk);
    return finish(&walk, count);
}

/* ---- The held ------------------------------------------------------------------------------- */

static ALWAYS_INLINE void met_held(void *context, uintptr_t pointer UNUSED, uint32_t number,
                                   uint32_t from, uint32_t at UNUSED)
{
    struct walk *walk = context;
    uint32_t to = walk->turn[number];
    if (to && to - 1 != from)
        add(walk, from, to - 1);
}

/* Chains the pointers in disguise by their source; *last: the last one + 1 of each. */
static bool chain_decoded(struct reach *reach, uint32_t **last)
{
    struct decoded *decoded = reach->decodings.at;
    *last = NULL;
    if (!reach->decodings.count)
        return true;
    if (reach->decodings.count >= UINT32_MAX)
        return false;
    *last = room_map(&reach->room, reach->count + 1ull, sizeof **last);
    for (uint32_t i = 0; *last && i < reach->decodings.count; i++) {
        decoded[i].next = (*last)[decoded[i].from];
        (*last)[decoded[i].from] = i + 1;
    }
    return *last;
}

static void add_decoded(struct walk *walk, uint32_t node, uint32_t source, const uint32_t *last)
{
    const struct decoded *decoded = walk->reach->decodings.at;
    if (!last || !last[node])
        return;
    ring_drain(&walk->ring, walk->reach, met_held, walk);
    for (uint32_t i = last[node]; i; i = decoded[i - 1].next)
        if (decoded[i - 1].to != node)
            add(walk, source, walk->turn[decoded[i - 1].to] - 1);
}

static void add_roots(struct walk *walk)
{
    struct reach *reach = walk->reach;
    for (uint32_t i = 0; i < reach->count && !walk->failed; i++) {
        const struct node *node = &reach->nodes[i];
        if (node_is_held(node) &&
            ((node_state(node) & NODE_ROOTED) || reach->links[i].from == NOBODY))
            add(walk, reach->tail, walk->turn[i] - 1);
    }
}

static bool find_turns(struct walk *walk)
{
    struct reach *reach = walk->reach;
    walk->turn = room_map(&reach->room, reach->count, sizeof *walk->turn);
    for (uint32_t i = 0; walk->turn && i < reach->tail; i++) {
        if (i + 16 < reach->tail)
            __builtin_prefetch(&walk->turn[reach->queue[i + 16]], 1);
        walk->turn[reach->queue[i]] = i + 1;
    }
    walk->ring.beside = (const char *)walk->turn;
    walk->ring.beside_each = sizeof *walk->turn;
    return walk->turn;
}

/* What was noted when the blocks were read: each node becomes its place in the queue, where it
 * stands. No table grows by that. */
static void take_noted(struct walk *walk)
{
    struct reach *reach = walk->reach;
    struct edges *edges = walk->edges;
    uint32_t *to = reach->met.at, *first = reach->met_first, kept = 0;
    uint64_t count = reach->met.count;
    while (reach->met_turn < reach->met_end)
        first[++reach->met_turn] = (uint32_t)count;
    for (uint32_t source = 0; source < reach->met_end; source++) {
        uint32_t begin = first[source], end = first[source + 1];
        first[source] = kept;
        for (uint32_t i = begin; i < end; i++) {
            if (i + 32 < count)
                __builtin_prefetch(&walk->turn[to[i + 32]]);
            uint32_t turn = walk->turn[to[i]];
            if (turn)
                to[kept++] = turn - 1;
        }
    }
    first[reach->met_end] = kept;
    edges->first = first;
    edges->to = reach->met;
    edges->to.count = kept;
    walk->source = reach->met_end;
    reach->met_first = NULL;
    memset(&reach->met, 0, sizeof reach->met);
}

static void read_blocks(struct walk *walk, const uint32_t *last)
{
    struct reach *reach = walk->reach;
    for (uint32_t i = walk->source; i < reach->tail && !walk->failed; i++) {
        node_look_ahead(reach, i);
        if (!(node_state(&reach->nodes[reach->queue[i]]) & NODE_PLAIN))
            scan(walk, reach->queue[i], i, met_held);
        ring_put_outer(&walk->ring, reach, reach->queue[i], i, met_held, walk);
        add_decoded(walk, reach->queue[i], i, last);
    }
    ring_drain(&walk->ring, reach, met_held, walk);
}

bool edges_of_held(struct edges *edges, struct reach *reach)
{
    struct walk walk = {.reach = reach, .edges = edges};
    uint32_t sources = reach->tail + 1, *last;
    bool noted = reach->met_first && !reach->decodings.count;
    memset(edges, 0, sizeof *edges);
    if (!noted)
        node_forget_edges(reach);
    if ((!noted && !begin(&walk, sources)) || !find_turns(&walk) || !chain_decoded(reach, &last))
        return false;
    if (noted)
        take_noted(&walk);
    read_blocks(&walk, last);
    add_roots(&walk);
    add_decoded(&walk, reach->count, reach->tail, last);
    room_unmap(&reach->room, walk.turn);
    room_unmap(&reach->room, last);
    return finish(&walk, sources);
}

struct stop *edges_to_stops(struct edges *edges, struct reach *reach, uint32_t sources)
{
    struct stop *stops = room_map_raw(&reach->room, sources, sizeof *stops);
    for (uint32_t i = 0; stops && i < sources; i++)
        stops[i] = (struct stop){.next = edges->first[i], .end = edges->first[i + 1]};
    room_unmap(&reach->room, edges->first);
    edges->first = NULL;
    return stops;
}

void edges_end(struct edges *edges, struct reach *reach)
{
    room_unmap(&reach->room, edges->first);
    pile_end(&reach->room, &edges->to);
}
