/* leak_graph.c - the lost half of the graph of blocks and pointers: strongly connected components,
 * the block that stands for each (its leader), and the owners of indirectly lost blocks.
 *
 * Lost nodes get numbers of their own. Tarjan's algorithm, with an explicit stack, finds strongly
 * connected components. It completes a component after all components that it points to. An edge to
 * a completed component shows that this component is not a record (a direct leak). Then each record
 * labels all blocks it leads to:
 *
 *     no owner -> owned by a record -> shared, when a record of another site leads to it
 *
 * A block changes at most twice, so labelling is linear however many records lead to it.
 */
#include "preload/graph/leak_graph.h"
#include "preload/graph/leak_graph_internal.h"

#define SHARED 1
#define CYCLE 2
#define LED_TO 4 /* flag of a leader: another lost component points to its component */
/* Flag of a leader: no other lost component points to its component, so the leader is a direct
 * leak. */
#define RECORD 8

struct leak_graph {
    struct reach *reach;
    uint32_t lost;
    /* The following arrays are indexed by the number of a lost node, from 0 in address order.
     * Element i of node_of is the index of lost node i among all nodes. */
    uint32_t *node_of;
    uint32_t *owner; /* number of the record that owns the node; a record owns itself */
    uint8_t *flags;
    uint32_t *blocks;
    uint64_t *bytes;
    bool retained_known;
    struct dominator_sums held;
};

/* ---- Strongly connected components ----------------------------------------------------------- */

#define DONE UINT32_MAX /* value of edge_cursor.order: the component of the node is complete */

struct component_search {
    struct leak_graph *graph;
    struct edge_list edges;
    /* One cursor for each lost node, by its number. order: when the search entered the node, from
     * 1. low: the lowest order known to be in the node's component; when the component is complete,
     * the number of its leader. */
    struct edge_cursor *cursors;
    uint32_t *path; /* the stack of the depth-first search */
    /* The nodes that the search has entered and whose component is not complete. */
    uint32_t *pending;
    uint32_t met, path_length, pending_count;
};

static uint32_t site_of(const struct leak_graph *graph, uint32_t number)
{
    return graph->reach->nodes[graph->node_of[number]].site;
}

/* Says whether the first block comes before the other in the order by thread and number of the
 * allocation. This order is the same in every run. */
static bool allocated_before(const struct leak_graph *graph, uint32_t one, uint32_t other)
{
    struct block a = reach_block(graph->reach, graph->node_of[one]);
    struct block b = reach_block(graph->reach, graph->node_of[other]);
    if (a.thread != b.thread)
        return a.thread < b.thread;
    if (a.count != b.count)
        return a.count < b.count;
    return a.tick != b.tick ? a.tick < b.tick : one < other;
}

/* Removes the nodes of a complete component from "pending" and chooses the component's leader. */
static void complete_component(struct component_search *search, uint32_t root)
{
    uint32_t end = search->pending_count, leader = root, begin = end;
    do {
        uint32_t member = search->pending[--begin];
        if (member != leader && allocated_before(search->graph, member, leader))
            leader = member;
    } while (search->pending[begin] != root);
    for (uint32_t i = begin; i < end; i++) {
        search->cursors[search->pending[i]].low = leader;
        search->cursors[search->pending[i]].order = DONE;
    }
    if (end - begin > 1)
        search->graph->flags[leader] |= CYCLE;
    if (search->path_length > 1)
        search->graph->flags[leader] |= LED_TO;
    search->pending_count = begin;
}

static struct edge_cursor *enter_node(struct component_search *search, uint32_t number)
{
    struct edge_cursor *cursor = &search->cursors[number];
    cursor->order = cursor->low = ++search->met;
    search->pending[search->pending_count++] = number;
    search->path[search->path_length++] = number;
    edge_cursor_prefetch(search->cursors, edge_list_targets(&search->edges), cursor);
    return cursor;
}

static void lower_to(uint32_t *low, uint32_t to)
{
    *low = to < *low ? to : *low;
}

static void find_components_from(struct component_search *search, uint32_t number)
{
    const uint32_t *to = edge_list_targets(&search->edges);
    struct edge_cursor *cursors = search->cursors, *cursor = enter_node(search, number);
    for (;;) {
        if (cursor->next < cursor->end) {
            uint32_t next = edge_cursor_next(cursors, to, cursor), order = cursors[next].order;
            if (!order)
                cursor = enter_node(search, next);
            else if (order == DONE)
                search->graph->flags[cursors[next].low] |= LED_TO;
            else
                lower_to(&cursor->low, order);
            continue;
        }
        uint32_t low = cursor->low;
        if (low == cursor->order)
            complete_component(search, search->path[search->path_length - 1]);
        if (!--search->path_length)
            return;
        cursor = &cursors[search->path[search->path_length - 1]];
        lower_to(&cursor->low, low);
    }
}

/* ---- Owners of indirectly lost blocks -------------------------------------------------------- */

static void label_owned(struct component_search *search, uint32_t record)
{
    struct leak_graph *graph = search->graph;
    const uint32_t *to = edge_list_targets(&search->edges);
    const struct edge_cursor *cursors = search->cursors;
    uint32_t count = 0, site = site_of(graph, record);
    graph->owner[record] = record;
    search->pending[count++] = record;
    while (count) {
        uint32_t number = search->pending[--count];
        /* The search for components has advanced the cursors' "next" to "end", so "next" no longer
         * says where the targets begin. The targets of a number begin where the targets of the
         * previous number end. */
        for (uint32_t i = number ? cursors[number - 1].end : 0; i < cursors[number].end; i++) {
            uint32_t next = to[i], owner = graph->owner[next];
            if (owner == NODE_NONE)
                graph->owner[next] = record;
            else if (!(graph->flags[next] & SHARED) && owner != record &&
                     site_of(graph, owner) != site)
                graph->flags[next] |= SHARED;
            else
                continue;
            __builtin_prefetch(&cursors[next]);
            search->pending[count++] = next;
        }
    }
}

/* Returns the lowest offset in the block to which another lost block points. */
static uint32_t lowest_offset(const struct leak_graph *graph, uint32_t number)
{
    return graph->reach->links[graph->node_of[number]].at;
}

/* Says whether a record of several blocks is a reference cycle: some block points to the leader's
 * start. Where pointers lead only into the leader, it usually owns a container, whose nodes point
 * back to the container's head: no cycle of the program. But if the leader points to a block of its
 * component into which pointers lead at the same offset, the blocks have headers, and there is a
 * cycle. */
static bool is_closed_cycle(const struct component_search *search, uint32_t leader)
{
    const uint32_t *to = edge_list_targets(&search->edges);
    const struct edge_cursor *cursors = search->cursors;
    uint32_t offset = lowest_offset(search->graph, leader);
    for (uint32_t i = leader ? cursors[leader - 1].end : 0; offset && i < cursors[leader].end; i++)
        if (cursors[to[i]].low == leader && lowest_offset(search->graph, to[i]) == offset)
            return true;
    return !offset;
}

static void find_owners(struct component_search *search)
{
    struct leak_graph *graph = search->graph;
    for (uint32_t i = 0; i < graph->lost; i++) {
        graph->owner[i] = NODE_NONE;
        if (search->cursors[i].low == i && !(graph->flags[i] & LED_TO))
            graph->flags[i] |= RECORD;
        if (graph->flags[i] & CYCLE && !(graph->flags[i] & RECORD && is_closed_cycle(search, i)))
            graph->flags[i] &= ~CYCLE;
    }
    for (uint32_t i = 0; i < graph->lost; i++)
        if (graph->flags[i] & RECORD)
            label_owned(search, i);
    for (uint32_t i = 0; i < graph->lost; i++)
        if (!(graph->flags[i] & SHARED)) {
            graph->blocks[graph->owner[i]]++;
            graph->bytes[graph->owner[i]] += reach_size(graph->reach, graph->node_of[i]);
        }
}

/* ---- Building the graph ---------------------------------------------------------------------- */

static void *lost_row(struct leak_graph *graph, size_t each)
{
    return scan_arena_map(&graph->reach->arena, graph->lost, each);
}

static bool number_lost(struct leak_graph *graph)
{
    struct reach *reach = graph->reach;
    for (uint32_t i = 0; i < reach->count; i++)
        graph->lost += node_verdict(&reach->nodes[i]) == LEAK_VERDICT_LOST;
    graph->node_of = lost_row(graph, sizeof *graph->node_of);
    if (!graph->node_of)
        return false;
    for (uint32_t i = 0, number = 0; i < reach->count; i++)
        if (node_verdict(&reach->nodes[i]) == LEAK_VERDICT_LOST) {
            reach->links[i] = (struct mark_link){.from = number, .at = UINT32_MAX};
            graph->node_of[number++] = i;
        }
    return true;
}

static bool analyze_lost(struct leak_graph *graph)
{
    struct component_search search = {.graph = graph};
    struct scan_arena *arena = &graph->reach->arena;
    if (!number_lost(graph) ||
        !edge_list_of_lost(&search.edges, graph->reach, graph->node_of, graph->lost))
        return false;
    search.cursors = edge_list_to_cursors(&search.edges, graph->reach, graph->lost);
    search.path = lost_row(graph, sizeof *search.path);
    search.pending = lost_row(graph, sizeof *search.pending);
    graph->flags = lost_row(graph, sizeof *graph->flags);
    if (!search.cursors || !search.path || !search.pending || !graph->flags)
        return false;
    for (uint32_t i = 0; i < graph->lost; i++)
        if (!search.cursors[i].order)
            find_components_from(&search, i);
    scan_arena_unmap(arena, search.path);
    graph->owner = lost_row(graph, sizeof *graph->owner);
    graph->blocks = lost_row(graph, sizeof *graph->blocks);
    graph->bytes = lost_row(graph, sizeof *graph->bytes);
    if (!graph->owner || !graph->blocks || !graph->bytes)
        return false;
    find_owners(&search);
    scan_arena_unmap(arena, search.cursors);
    scan_arena_unmap(arena, search.pending);
    edge_list_end(&search.edges, graph->reach);
    return true;
}

struct leak_graph *leak_graph_build(struct reach *reach)
{
    struct scan_arena before = reach->arena;
    struct leak_graph *graph = scan_arena_map(&reach->arena, 1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->reach = reach;
    if (!analyze_lost(graph)) {
        scan_arena_rewind(&reach->arena, &before);
        return NULL;
    }
    graph->retained_known = dominators_find(&graph->held, reach);
    return graph;
}

/* ---- Results --------------------------------------------------------------------------------- */

static bool is_lost(const struct leak_graph *graph, uint32_t node)
{
    return node_verdict(&graph->reach->nodes[node]) == LEAK_VERDICT_LOST;
}

static uint32_t lost_number(const struct leak_graph *graph, uint32_t node)
{
    return graph->reach->links[node].from;
}

enum leak_verdict leak_graph_verdict(const struct leak_graph *graph, uint32_t node)
{
    if (!is_lost(graph, node))
        return reach_verdict(graph->reach, node);
    return graph->flags[lost_number(graph, node)] & RECORD ? LEAK_VERDICT_LOST
                                                           : LEAK_VERDICT_INDIRECT;
}

bool leak_graph_is_cycle(const struct leak_graph *graph, uint32_t node)
{
    return is_lost(graph, node) && graph->flags[lost_number(graph, node)] & CYCLE;
}

uint32_t leak_graph_owner(const struct leak_graph *graph, uint32_t node, bool *shared)
{
    *shared = false;
    if (leak_graph_verdict(graph, node) != LEAK_VERDICT_INDIRECT)
        return REACH_NONE;
    uint32_t number = lost_number(graph, node);
    *shared = graph->flags[number] & SHARED;
    return graph->node_of[graph->owner[number]];
}

struct leak_graph_sum leak_graph_retained(const struct leak_graph *graph, uint32_t node)
{
    if (is_lost(graph, node)) {
        uint32_t number = lost_number(graph, node);
        return (struct leak_graph_sum){graph->blocks[number], graph->bytes[number]};
    }
    if (!graph->retained_known)
        return (struct leak_graph_sum){0, 0};
    return (struct leak_graph_sum){graph->held.blocks[node], graph->held.bytes[node]};
}

bool leak_graph_retained_known(const struct leak_graph *graph)
{
    return graph->retained_known;
}

void leak_graph_drop_retained(struct leak_graph *graph)
{
    struct scan_arena *arena = &graph->reach->arena;
    scan_arena_unmap(arena, graph->held.blocks);
    scan_arena_unmap(arena, graph->held.bytes);
    scan_arena_trim(arena);
}

void leak_graph_settle(struct leak_graph *graph)
{
    struct reach *reach = graph->reach;
    for (uint32_t node = 0; node < reach->count; node++)
        if (leak_graph_verdict(graph, node) == LEAK_VERDICT_INDIRECT)
            node_change_state(&reach->nodes[node], NODE_VERDICT, LEAK_VERDICT_INDIRECT);
    scan_arena_unmap(&reach->arena, reach->links);
    scan_arena_unmap(&reach->arena, reach->queue);
    scan_arena_trim(&reach->arena);
    reach->links = NULL; /* a later use of links crashes at once */
    reach->queue = NULL;
}
