/* edge_list.c - builds the lists of the pointers (edges) from block to block. Edges of lost blocks
 * are found by reading the blocks once, through the prefetch ring (prefetch_ring.h), a queue of
 * words; edges of held blocks are those that marking recorded.
 *
 * Targets leave the prefetch ring in the order in which the words that point to them were read, so
 * the targets of one source are contiguous and sources ascend: each target is written once, in its
 * final place.
 */
#include "preload/graph/leak_graph_internal.h"
#include "preload/mark/mark_passes.h"
#include "preload/mark/prefetch_ring.h"

struct edge_walk {
    struct reach *reach;
    struct edge_list *edges;
    uint32_t source; /* the source whose targets are being written */
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

/* ---- Edges of lost blocks -------------------------------------------------------------------- */

static ALWAYS_INLINE void visit_lost(void *context, uintptr_t pointer, uint32_t number,
                                     uint32_t from, uint32_t at UNUSED)
{
    struct edge_walk *walk = context;
    if (node_verdict(&walk->reach->nodes[number]) != LEAK_VERDICT_LOST)
        return;
    struct mark_link *link = &walk->reach->links[number];
    uintptr_t offset = pointer - node_address(&walk->reach->nodes[number]);
    if (link->from == from)
        return;
    link->at = offset < link->at ? (uint32_t)offset : link->at;
    append_target(walk, from, link->from);
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

/* ---- Edges of the held blocks in the core ---------------------------------------------------- */

/* Chains the edges of encoded pointers that have the same source. False: no memory. *last: for each
 * source, the index + 1 of its last encoded edge, 0: it has none; the source after the core stands
 * for the roots. */
static bool chain_encoded(struct reach *reach, const struct graph_core *core, uint32_t **last)
{
    struct encoded_edge *encoded = reach->encoded_edges.at;
    *last = NULL;
    if (!reach->encoded_edges.count)
        return true;
    if (reach->encoded_edges.count >= UINT32_MAX)
        return false;
    *last = scan_arena_map(&reach->arena, core->count + 1ull, sizeof **last);
    for (uint32_t i = 0; *last && i < reach->encoded_edges.count; i++) {
        bool is_root = encoded[i].from == reach->count;
        uint32_t from = is_root ? core->count : graph_core_number(core, encoded[i].from);
        encoded[i].next = (*last)[from];
        (*last)[from] = i + 1;
    }
    return *last;
}

static void append_encoded(struct edge_walk *walk, const struct graph_core *core, uint32_t source,
                           const uint32_t *last)
{
    const struct encoded_edge *encoded = walk->reach->encoded_edges.at;
    for (uint32_t i = last ? last[source] : 0; i; i = encoded[i - 1].next)
        if (encoded[i - 1].to != encoded[i - 1].from)
            append_target(walk, source, graph_core_number(core, encoded[i - 1].to));
}

static void append_edges(struct edge_walk *walk, const struct graph_core *core, uint32_t source)
{
    struct node_edges edges = pointer_scan_edges(walk->reach, core->node[source]);
    for (uint32_t i = 0; i < edges.count; i++)
        if (graph_core_has(core, edges.to[i]))
            append_target(walk, source, graph_core_number(core, edges.to[i]));
}

bool edge_list_of_core(struct edge_list *edges, struct reach *reach, const struct graph_core *core)
{
    struct edge_walk walk = {.reach = reach, .edges = edges};
    uint32_t *last;
    if (!begin_list(&walk, core->count + 1) || !chain_encoded(reach, core, &last))
        return false;
    for (uint32_t i = 0; i < core->count && !walk.failed; i++) {
        append_edges(&walk, core, i);
        append_encoded(&walk, core, i, last);
    }
    for (uint32_t i = 0; i < core->count && !walk.failed; i++)
        if (node_is_root_target(reach, core->node[i]))
            append_target(&walk, core->count, i);
    append_encoded(&walk, core, core->count, last);
    scan_arena_unmap(&reach->arena, last);
    return finish_list(&walk, core->count + 1);
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
