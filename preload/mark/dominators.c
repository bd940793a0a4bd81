/* dominators.c - dominators by semi-dominators (semi-NCA), without recursion.
 *
 * Depth first from the roots gives each node a place: parents before children, and every row below
 * is by place, so that what belongs together lies together. An edge of that tree says nothing that
 * the parent does not; only the others, the sides, are kept: by the place they lead to. A heap of
 * trees has none, and then the parents are the dominators.
 *
 *     semi[w] = the least place from which w is reached by a way through places above w only
 *     idom[w] = the nearest ancestor in the tree of dominators so far that is not above semi[w]
 *
 * Ancestors are looked for by paths that get shorter each time (compress): nearly linear in all.
 */
#include "preload/mark/dominators.h"
#include "preload/mark/edge_list.h"

#define AHEAD 16

struct work {
    struct reach *reach;
    struct room *room;
    struct edges edges;
    struct stop *stops; /* by turn in the queue, the roots behind the last; "order" is the place +
                           1, "low" how many sides lead there */
    uint32_t *turn;     /* by place */
    uint32_t *parent;   /* by place, in the depth-first tree; later shortened */
    uint32_t places;
    uint32_t sides;
    uint32_t *first, *from; /* by place: the sources of its sides */
    uint32_t *semi, *label, *idom, *stack;
};

static uint32_t *row(struct work *work, uint64_t count)
{
    return room_map(work->room, count, sizeof(uint32_t));
}

/* Each place is written before it is read. */
static uint32_t *raw_row(struct work *work, uint64_t count)
{
    return room_map_raw(work->room, count, sizeof(uint32_t));
}

/* ---- Depth first ---------------------------------------------------------------------------- */

static struct stop *enter(struct work *work, uint32_t turn, uint32_t parent)
{
    struct stop *stop = &work->stops[turn];
    uint32_t place = work->places++;
    stop->order = place + 1;
    work->turn[place] = turn;
    work->parent[place] = parent;
    stop_prefetch(work->stops, edges_to(&work->edges), stop);
    return stop;
}

static void walk(struct work *work)
{
    const uint32_t *to = edges_to(&work->edges);
    struct stop *stops = work->stops, *stop = enter(work, work->reach->tail, 0);
    uint32_t here = 0;
    for (;;) {
        if (stop->next < stop->end) {
            uint32_t next = stop_next(stops, to, stop), order = stops[next].order;
            if (!order) {
                stop = enter(work, next, here);
                here = work->places - 1;
            } else if (work->parent[order - 1] != here) {
                stops[next].low++;
                work->sides++;
            }
        } else if (!here) {
            return;
        } else {
            here = work->parent[here];
            stop = &stops[work->turn[here]];
        }
    }
}

/* Where the sides to each place come from, filled in from behind: how many they are was counted.
 * The edges are met once more, now in the order in which they lie. */
static void sort_sides(struct work *work)
{
    const uint32_t *to = edges_to(&work->edges), sources = work->reach->tail + 1;
    const struct stop *stops = work->stops;
    for (uint32_t i = 0, sum = 0; i <= work->places; i++)
        work->first[i] = sum += i < work->places ? stops[work->turn[i]].low : 0;
    for (uint32_t source = 0, at = 0; source < sources; source++)
        for (; at < stops[source].end; at++) {
            if (at + AHEAD < work->edges.to.count)
                __builtin_prefetch(&stops[to[at + AHEAD]]);
            uint32_t from = stops[source].order - 1, place = stops[to[at]].order - 1;
            if (stops[source].order && work->parent[place] != from)
                work->from[--work->first[place]] = from;
        }
}

/* Gives back what the search has needed. */
static bool keep_sides(struct work *work)
{
    if (work->sides) {
        work->first = raw_row(work, work->places + 1ull);
        work->from = raw_row(work, work->sides);
        if (!work->first || !work->from)
            return false;
        sort_sides(work);
    }
    edges_end(&work->edges, work->reach);
    room_unmap(work->room, work->stops);
    return true;
}

static bool number_places(struct work *work)
{
    uint32_t sources = work->reach->tail + 1;
    if (!edges_of_held(&work->edges, work->reach))
        return false;
    places_end(&work->reach->places, work->room); /* no more pointers are followed */
    work->stops = edges_to_stops(&work->edges, work->reach, sources);
    work->turn = raw_row(work, sources);
    work->parent = raw_row(work, sources);
    if (!work->stops || !work->turn || !work->parent)
        return false;
    walk(work);
    return keep_sides(work);
}

/* ---- Dominators ----------------------------------------------------------------------------- */

/* The best label on the way up from a place to the first ancestor below "linked". */
static uint32_t best_label(struct work *work, uint32_t place, uint32_t linked)
{
    uint32_t *parent = work->parent, *label = work->label, *semi = work->semi;
    uint32_t depth = 0;
    while (parent[place] >= linked) {
        work->stack[depth++] = place;
        place = parent[place];
    }
    while (depth) {
        uint32_t above = place;
        place = work->stack[--depth];
        parent[place] = parent[above];
        if (semi[label[above]] < semi[label[place]])
            label[place] = label[above];
    }
    return label[place];
}

static void find_semi(struct work *work)
{
    for (uint32_t i = 0; i < work->places; i++) {
        work->semi[i] = work->label[i] = i;
        work->idom[i] = work->parent[i];
    }
    for (uint32_t i = work->places - 1; i > 0; i--) {
        uint32_t least = work->idom[i];
        for (uint32_t k = work->first[i]; k < work->first[i + 1]; k++) {
            uint32_t semi = work->semi[best_label(work, work->from[k], i + 1)];
            least = semi < least ? semi : least;
        }
        work->semi[i] = least;
    }
    for (uint32_t i = 1; i < work->places; i++)
        while (work->idom[i] > work->semi[i])
            work->idom[i] = work->idom[work->idom[i]];
}

static bool find_dominators(struct work *work)
{
    if (!work->sides) {
        work->idom = work->parent;
        return true;
    }
    work->semi = raw_row(work, work->places);
    work->label = raw_row(work, work->places);
    work->idom = raw_row(work, work->places);
    work->stack = raw_row(work, work->places);
    if (!work->semi || !work->label || !work->idom || !work->stack)
        return false;
    find_semi(work);
    room_unmap(work->room, work->first);
    room_unmap(work->room, work->from);
    room_unmap(work->room, work->semi);
    room_unmap(work->room, work->label);
    room_unmap(work->room, work->stack);
    room_unmap(work->room, work->parent);
    return true;
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static bool sum_up(struct work *work, struct dominated *out)
{
    const struct node *nodes = work->reach->nodes;
    const uint32_t *queue = work->reach->queue;
    out->blocks = row(work, work->places);
    out->bytes = room_map(work->room, work->places, sizeof *out->bytes);
    out->place = row(work, work->reach->count);
    if (!out->blocks || !out->bytes || !out->place)
        return false;
    for (uint32_t i = work->places - 1; i > 0; i--) {
        uint32_t node = queue[work->turn[i]], above = work->idom[i];
        uint32_t soon = queue[work->turn[i > AHEAD ? i - AHEAD : 1]];
        __builtin_prefetch(&nodes[soon]);
        __builtin_prefetch(&out->place[soon], 1);
        out->place[node] = i;
        out->blocks[i]++;
        out->bytes[i] += node_size(&nodes[node]);
        out->blocks[above] += out->blocks[i];
        out->bytes[above] += out->bytes[i];
    }
    /* The first place is the roots', and that of whom nothing holds. */
    out->blocks[0] = 0;
    out->bytes[0] = 0;
    room_unmap(work->room, work->idom);
    room_unmap(work->room, work->turn);
    return true;
}

bool dominate(struct dominated *dominated, struct reach *reach)
{
    struct work work = {.reach = reach, .room = &reach->room};
    struct room before = reach->room;
    if (number_places(&work) && find_dominators(&work) && sum_up(&work, dominated))
        return true;
    room_back(&reach->room, &before);
    return false;
}

void dominate_end(struct dominated *dominated, struct reach *reach)
{
    room_unmap(&reach->room, dominated->place);
    room_unmap(&reach->room, dominated->blocks);
    room_unmap(&reach->room, dominated->bytes);
}
