/* leak_graph.c - the lost half: components, their leaders, and who hangs under whom.
 *
 * Lost nodes get numbers of their own. Strongly connected components by Tarjan, with the way back
 * in an array instead of on the stack. Components come out targets first, so when an edge leads to
 * a finished one, that one is no source. Then each source in turn labels what it leads to:
 *
 *     no owner -> owned by a record -> shared, when one of another site comes by
 *
 * A block changes at most twice, so the labelling is linear however many records lead to it.
 */
#include "preload/mark/leak_graph.h"
#include "preload/mark/dominators.h"
#include "preload/mark/edge_list.h"

#define SHARED 1
#define CYCLE 2
#define LED_TO 4 /* a leader: something lost leads to its component */
#define RECORD 8 /* a leader: nothing does */

struct graph {
    struct reach *reach;
    uint32_t lost;
    /* By a lost node's number. */
    uint32_t *node_of;
    uint32_t *owner; /* a number: its own if it is a record */
    uint8_t *flags;
    uint32_t *blocks;
    uint64_t *bytes;
    bool retained_known;
    struct dominated dominated;
};

/* ---- Components ----------------------------------------------------------------------------- */

#define DONE UINT32_MAX /* as a node's order: its component is complete */

struct search {
    struct graph *graph;
    struct edges edges;
    /* By number. order: in which it was met, from 1. low: the earliest one that is known to be in
     * its component; when that is complete, its leader. */
    struct stop *stops;
    uint32_t *way;     /* from where the search began to where it is */
    uint32_t *waiting; /* those whose component is not complete */
    uint32_t met, steps, waits;
};

static const struct node_cold *cold_of(const struct graph *graph, uint32_t number)
{
    return &graph->reach->cold[graph->node_of[number]];
}

/* Who was allocated first: the same in every run, as long as serials and times tell them apart. */
static bool is_older(const struct graph *graph, uint32_t one, uint32_t other)
{
    const struct node_cold *a = cold_of(graph, one), *b = cold_of(graph, other);
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->count != b->count)
        return a->count < b->count;
    uint32_t tick = a->tick_kind & BLOCKS_TICK_MOST, other_tick = b->tick_kind & BLOCKS_TICK_MOST;
    return tick != other_tick ? tick < other_tick : one < other;
}

/* Takes a component off those that wait, and chooses its leader. */
static void complete(struct search *search, uint32_t first_met)
{
    uint32_t end = search->waits, leader = first_met, begin = end;
    do {
        uint32_t member = search->waiting[--begin];
        if (member != leader && is_older(search->graph, member, leader))
            leader = member;
    } while (search->waiting[begin] != first_met);
    for (uint32_t i = begin; i < end; i++) {
        search->stops[search->waiting[i]].low = leader;
        search->stops[search->waiting[i]].order = DONE;
    }
    if (end - begin > 1)
        search->graph->flags[leader] |= CYCLE;
    if (search->steps > 1)
        search->graph->flags[leader] |= LED_TO;
    search->waits = begin;
}

static struct stop *enter(struct search *search, uint32_t number)
{
    struct stop *stop = &search->stops[number];
    stop->order = stop->low = ++search->met;
    search->waiting[search->waits++] = number;
    search->way[search->steps++] = number;
    stop_prefetch(search->stops, edges_to(&search->edges), stop);
    return stop;
}

static void lower(uint32_t *low, uint32_t to)
{
    *low = to < *low ? to : *low;
}

static void search_from(struct search *search, uint32_t number)
{
    const uint32_t *to = edges_to(&search->edges);
    struct stop *stops = search->stops, *stop = enter(search, number);
    for (;;) {
        if (stop->next < stop->end) {
            uint32_t next = stop_next(stops, to, stop), order = stops[next].order;
            if (!order)
                stop = enter(search, next);
            else if (order == DONE)
                search->graph->flags[stops[next].low] |= LED_TO;
            else
                lower(&stop->low, order);
            continue;
        }
        uint32_t low = stop->low;
        if (low == stop->order)
            complete(search, search->way[search->steps - 1]);
        if (!--search->steps)
            return;
        stop = &stops[search->way[search->steps - 1]];
        lower(&stop->low, low);
    }
}

/* ---- Owners --------------------------------------------------------------------------------- */

static void label(struct search *search, uint32_t record)
{
    struct graph *graph = search->graph;
    const uint32_t *to = edges_to(&search->edges);
    const struct stop *stops = search->stops;
    uint32_t waits = 0, site = cold_of(graph, record)->site;
    graph->owner[record] = record;
    search->waiting[waits++] = record;
    while (waits) {
        uint32_t number = search->waiting[--waits];
        /* The search has followed all targets, so "next" is at the end; they begin where those of
         * the number before end. */
        for (uint32_t i = number ? stops[number - 1].end : 0; i < stops[number].end; i++) {
            uint32_t next = to[i], owner = graph->owner[next];
            if (owner == NOBODY)
                graph->owner[next] = record;
            else if (!(graph->flags[next] & SHARED) && owner != record &&
                     cold_of(graph, owner)->site != site)
                graph->flags[next] |= SHARED;
            else
                continue;
            __builtin_prefetch(&stops[next]);
            search->waiting[waits++] = next;
        }
    }
}

static void find_owners(struct search *search)
{
    struct graph *graph = search->graph;
    for (uint32_t i = 0; i < graph->lost; i++) {
        graph->owner[i] = NOBODY;
        if (search->stops[i].low == i && !(graph->flags[i] & LED_TO))
            graph->flags[i] |= RECORD;
        else
            graph->flags[i] &= ~CYCLE;
    }
    for (uint32_t i = 0; i < graph->lost; i++)
        if (graph->flags[i] & RECORD)
            label(search, i);
    for (uint32_t i = 0; i < graph->lost; i++)
        if (!(graph->flags[i] & SHARED)) {
            graph->blocks[graph->owner[i]]++;
            graph->bytes[graph->owner[i]] += node_size(&graph->reach->nodes[graph->node_of[i]]);
        }
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void *row(struct graph *graph, size_t each)
{
    return room_map(&graph->reach->room, graph->lost, each);
}

static bool number_lost(struct graph *graph)
{
    struct reach *reach = graph->reach;
    for (uint32_t i = 0; i < reach->count; i++)
        graph->lost += node_verdict(&reach->nodes[i]) == LEAK_VERDICT_LOST;
    graph->node_of = row(graph, sizeof *graph->node_of);
    if (!graph->node_of)
        return false;
    for (uint32_t i = 0, number = 0; i < reach->count; i++)
        if (node_verdict(&reach->nodes[i]) == LEAK_VERDICT_LOST) {
            reach->links[i].from = number;
            graph->node_of[number++] = i;
        }
    return true;
}

static bool judge_lost(struct graph *graph)
{
    struct search search = {.graph = graph};
    struct room *room = &graph->reach->room;
    if (!number_lost(graph) ||
        !edges_of_lost(&search.edges, graph->reach, graph->node_of, graph->lost))
        return false;
    search.stops = edges_to_stops(&search.edges, graph->reach, graph->lost);
    search.way = row(graph, sizeof *search.way);
    search.waiting = row(graph, sizeof *search.waiting);
    graph->flags = row(graph, sizeof *graph->flags);
    if (!search.stops || !search.way || !search.waiting || !graph->flags)
        return false;
    for (uint32_t i = 0; i < graph->lost; i++)
        if (!search.stops[i].order)
            search_from(&search, i);
    room_unmap(room, search.way);
    graph->owner = row(graph, sizeof *graph->owner);
    graph->blocks = row(graph, sizeof *graph->blocks);
    graph->bytes = row(graph, sizeof *graph->bytes);
    if (!graph->owner || !graph->blocks || !graph->bytes)
        return false;
    find_owners(&search);
    room_unmap(room, search.stops);
    room_unmap(room, search.waiting);
    edges_end(&search.edges, graph->reach);
    return true;
}

struct graph *graph_begin(struct reach *reach)
{
    struct room before = reach->room;
    struct graph *graph = room_map(&reach->room, 1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->reach = reach;
    if (!judge_lost(graph)) {
        room_back(&reach->room, &before);
        return NULL;
    }
    graph->retained_known = dominate(&graph->dominated, reach);
    return graph;
}

void graph_end(struct graph *graph)
{
    struct room *room = &graph->reach->room;
    room_unmap(room, graph->node_of);
    room_unmap(room, graph->owner);
    room_unmap(room, graph->flags);
    room_unmap(room, graph->blocks);
    room_unmap(room, graph->bytes);
    if (graph->retained_known)
        dominate_end(&graph->dominated, graph->reach);
    room_unmap(room, graph);
}

/* ---- What was found ------------------------------------------------------------------------- */

static bool is_lost(const struct graph *graph, uint32_t node)
{
    return node_verdict(&graph->reach->nodes[node]) == LEAK_VERDICT_LOST;
}

static uint32_t number_of(const struct graph *graph, uint32_t node)
{
    return graph->reach->links[node].from;
}

enum leak_verdict graph_verdict(const struct graph *graph, uint32_t node)
{
    if (!is_lost(graph, node))
        return reach_verdict(graph->reach, node);
    return graph->flags[number_of(graph, node)] & RECORD ? LEAK_VERDICT_LOST
                                                         : LEAK_VERDICT_INDIRECT;
}

bool graph_is_cycle(const struct graph *graph, uint32_t node)
{
    return is_lost(graph, node) && graph->flags[number_of(graph, node)] & CYCLE;
}

uint32_t graph_owner(const struct graph *graph, uint32_t node, bool *shared)
{
    *shared = false;
    if (graph_verdict(graph, node) != LEAK_VERDICT_INDIRECT)
        return REACH_NOBODY;
    uint32_t number = number_of(graph, node);
    *shared = graph->flags[number] & SHARED;
    return graph->node_of[graph->owner[number]];
}

struct graph_sum graph_retained(const struct graph *graph, uint32_t node)
{
    if (is_lost(graph, node)) {
        uint32_t number = number_of(graph, node);
        return (struct graph_sum){graph->blocks[number], graph->bytes[number]};
    }
    if (!graph->retained_known)
        return (struct graph_sum){0, 0};
    uint32_t place = graph->dominated.place[node];
    return (struct graph_sum){graph->dominated.blocks[place], graph->dominated.bytes[place]};
}

void graph_look_ahead(const struct graph *graph, uint32_t node)
{
    if (!graph->retained_known || is_lost(graph, node))
        return;
    uint32_t place = graph->dominated.place[node];
    __builtin_prefetch(&graph->dominated.blocks[place]);
    __builtin_prefetch(&graph->dominated.bytes[place]);
}

bool graph_retained_known(const struct graph *graph)
{
    return graph->retained_known;
}
