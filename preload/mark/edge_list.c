/* edge_list.c - builds the edge lists in one pass over the blocks through the prefetch ring, or
 * from the edges that marking recorded.
 *
 * Nodes leave the ring in the order in which their words were pushed, so the targets of one source
 * are contiguous and sources ascend: each target is written once, in its final place.
 */
#include "preload/mark/leak_graph_internal.h"
#include "preload/mark/prefetch_ring.h"

struct edge_walk {
    struct reach *reach;
    struct edge_list *edges;
    uint32_t source; /* whose targets are being written */
    uint32_t *turn;  /* by node: its index in the queue + 1; 0 = not held */
    bool failed;
    struct recent_edges recent;
    struct prefetch_ring ring;
};

static ALWAYS_INLINE void append_target(struct edge_walk *walk, uint32_t from, uint32_t to)
{
    struct edge_list *edges = walk->edges;
    while (walk->source < from)
        edges->first[++walk->source] = (uint32_t)edges->to.count;
    if (!recent_edges_add(&walk->recent, from, to))
        return;
    uint32_t *place = edges->to.count < UINT32_MAX
                          ? scan_array_push(&walk->reach->arena, &edges->to, sizeof *place)
                          : NULL;
    if (likely(place))
        *place = to;
    else
        walk->failed = true;
}

static bool begin_list(struct edge_walk *walk, uint32_t sources)
{
    memset(walk->edges, 0, sizeof *walk->edges);
    walk->edges->first = scan_arena_map(&walk->reach->arena, sources + 1ull, sizeof(uint32_t));
    return walk->edges->first;
}

static bool finish_list(struct edge_walk *walk, uint32_t sources)
{
    while (walk->source < sources)
        walk->edges->first[++walk->source] = (uint32_t)walk->edges->to.count;
    return !walk->failed;
}

static ALWAYS_INLINE void scan_source(struct edge_walk *walk, uint32_t number, uint32_t source,
                                      ring_visit *visit)
{
    ring_scan_node(&walk->ring, walk->reach, number, source, visit, walk);
}

/* ---- Lost blocks ----------------------------------------------------------------------------- */

static ALWAYS_INLINE void visit_lost(void *context, uintptr_t pointer UNUSED, uint32_t number,
                                     uint32_t from, uint32_t at UNUSED)
{
    struct edge_walk *walk = context;
    if (node_verdict(&walk->reach->nodes[number]) != LEAK_VERDICT_LOST)
        return;
    uint32_t to = walk->reach->links[number].from;
    if (to != from)
        append_target(walk, from, to);
}

bool edge_list_of_lost(struct edge_list *edges, struct reach *reach, const uint32_t *node_of,
                       uint32_t count)
{
    struct edge_walk walk = {.reach = reach, .edges = edges};
    walk.ring.row = (const char *)reach->links;
    walk.ring.row_size = sizeof *reach->links;
    if (!begin_list(&walk, count))
        return false;
    for (uint32_t i = 0; i < count && !walk.failed; i++)
        scan_source(&walk, node_of[i], i, visit_lost);
    ring_drain(&walk.ring, reach, visit_lost, &walk);
    return finish_list(&walk, count);
}

/* ---- Held blocks ----------------------------------------------------------------------------- */

static ALWAYS_INLINE void visit_held(void *context, uintptr_t pointer UNUSED, uint32_t number,
                                     uint32_t from, uint32_t at UNUSED)
{
    struct edge_walk *walk = context;
    uint32_t to = walk->turn[number];
    if (to && to - 1 != from)
        append_target(walk, from, to - 1);
}

/* Chains the encoded edges by source; *last: by source, its last edge + 1. */
static bool chain_encoded(struct reach *reach, uint32_t **last)
{
    struct encoded_edge *decoded = reach->encoded_edges.at;
    *last = NULL;
    if (!reach->encoded_edges.count)
        return true;
    if (reach->encoded_edges.count >= UINT32_MAX)
        return false;
    *last = scan_arena_map(&reach->arena, reach->count + 1ull, sizeof **last);
    for (uint32_t i = 0; *last && i < reach->encoded_edges.count; i++) {
        decoded[i].next = (*last)[decoded[i].from];
        (*last)[decoded[i].from] = i + 1;
    }
    return *last;
}

static void append_encoded(struct edge_walk *walk, uint32_t node, uint32_t source,
                           const uint32_t *last)
{
    const struct encoded_edge *decoded = walk->reach->encoded_edges.at;
    if (!last || !last[node])
        return;
    ring_drain(&walk->ring, walk->reach, visit_held, walk);
    for (uint32_t i = last[node]; i; i = decoded[i - 1].next)
        if (decoded[i - 1].to != node)
            append_target(walk, source, walk->turn[decoded[i - 1].to] - 1);
}

static void append_roots(struct edge_walk *walk)
{
    struct reach *reach = walk->reach;
    for (uint32_t i = 0; i < reach->count && !walk->failed; i++) {
        const struct mark_node *node = &reach->nodes[i];
        if (node_is_held(node) &&
            ((node_state(node) & NODE_ROOT_TARGET) || reach->links[i].from == NODE_NONE))
            append_target(walk, reach->tail, walk->turn[i] - 1);
    }
}

static bool index_queue(struct edge_walk *walk)
{
    struct reach *reach = walk->reach;
    walk->turn = scan_arena_map(&reach->arena, reach->count, sizeof *walk->turn);
    for (uint32_t i = 0; walk->turn && i < reach->tail; i++) {
        if (i + 16 < reach->tail)
            __builtin_prefetch(&walk->turn[reach->queue[i + 16]], 1);
        walk->turn[reach->queue[i]] = i + 1;
    }
    walk->ring.row = (const char *)walk->turn;
    walk->ring.row_size = sizeof *walk->turn;
    return walk->turn;
}

/* Converts the recorded nodes to queue indices in place; needs no more memory. */
static void adopt_recorded(struct edge_walk *walk)
{
    struct reach *reach = walk->reach;
    struct edge_list *edges = walk->edges;
    uint32_t *to = reach->edges.at, *first = reach->edges_first, kept = 0;
    uint64_t count = reach->edges.count;
    while (reach->edges_source < reach->edges_complete)
        first[++reach->edges_source] = (uint32_t)count;
    for (uint32_t source = 0; source < reach->edges_complete; source++) {
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
    first[reach->edges_complete] = kept;
    edges->first = first;
    edges->to = reach->edges;
    edges->to.count = kept;
    walk->source = reach->edges_complete;
    reach->edges_first = NULL;
    memset(&reach->edges, 0, sizeof reach->edges);
}

static void read_remaining(struct edge_walk *walk, const uint32_t *last)
{
    struct reach *reach = walk->reach;
    for (uint32_t i = walk->source; i < reach->tail && !walk->failed; i++) {
        node_prefetch(reach, i);
        if (!(node_state(&reach->nodes[reach->queue[i]]) & NODE_NO_POINTER))
            scan_source(walk, reach->queue[i], i, visit_held);
        ring_push_outer(&walk->ring, reach, reach->queue[i], i, visit_held, walk);
        append_encoded(walk, reach->queue[i], i, last);
    }
    ring_drain(&walk->ring, reach, visit_held, walk);
}

bool edge_list_of_held(struct edge_list *edges, struct reach *reach)
{
    struct edge_walk walk = {.reach = reach, .edges = edges};
    uint32_t sources = reach->tail + 1, *last;
    bool noted = reach->edges_first && !reach->encoded_edges.count;
    memset(edges, 0, sizeof *edges);
    if (!noted)
        node_drop_edges(reach);
    if ((!noted && !begin_list(&walk, sources)) || !index_queue(&walk) ||
        !chain_encoded(reach, &last))
        return false;
    if (noted)
        adopt_recorded(&walk);
    read_remaining(&walk, last);
    append_roots(&walk);
    append_encoded(&walk, reach->count, reach->tail, last);
    scan_arena_unmap(&reach->arena, walk.turn);
    scan_arena_unmap(&reach->arena, last);
    return finish_list(&walk, sources);
}

struct edge_cursor *edge_list_to_cursors(struct edge_list *edges, struct reach *reach,
                                         uint32_t sources)
{
    struct edge_cursor *cursors = scan_arena_map_raw(&reach->arena, sources, sizeof *cursors);
    for (uint32_t i = 0; cursors && i < sources; i++)
        cursors[i] = (struct edge_cursor){.next = edges->first[i], .end = edges->first[i + 1]};
    scan_arena_unmap(&reach->arena, edges->first);
    edges->first = NULL;
    return cursors;
}

void edge_list_end(struct edge_list *edges, struct reach *reach)
{
    scan_arena_unmap(&reach->arena, edges->first);
    scan_array_free(&reach->arena, &edges->to);
}
