/* dominate.c - dominators by semi-dominators (semi-NCA), without recursion.
 *
 * Depth first from the roots gives each node a place: parents before children, and every row below
 * is by place, so that what belongs together lies together. An edge of that tree says nothing that
 * the parent does not; only the others are kept, with their ends as places. A heap of trees has
 * none, and then the parents are the dominators.
 *
 *     semi[w] = the least place from which w is reached by a way through places above w only
 *     idom[w] = the nearest ancestor in the tree of dominators so far that is not above semi[w]
 *
 * Ancestors are looked for by paths that get shorter each time (compress): nearly linear in all.
 */
#include "preload/dominate.h"
#include "preload/edges.h"

struct side { /* an edge that is not of the tree */
    uint32_t from, to;
};

struct work {
    struct reach *reach;
    struct room *room;
    struct edges edges;
    uint32_t *place;   /* by node, the roots behind the last: place + 1, 0 = not met */
    uint32_t *node_of; /* by place */
    uint32_t *parent;  /* by place, in the depth-first tree; later shortened */
    uint32_t places;
    struct pile sides;
    uint32_t *first, *from; /* by place: the sources of its sides */
    uint32_t *semi, *label, *idom, *stack;
};

static uint32_t *row(struct work *work, uint64_t count)
{
    return room_map(work->room, count, sizeof(uint32_t));
}

/* ---- Depth first ------------------------------------------------------------------------------
 */

static void enter(struct work *work, uint32_t node, uint32_t parent, uint32_t *cursor)
{
    uint32_t place = work->places++;
    work->place[node] = place + 1;
    work->node_of[place] = node;
    work->parent[place] = parent;
    cursor[node] = work->edges.first[node];
}

static bool add_side(struct work *work, uint32_t from, uint32_t to)
{
    struct side *side = pile_add(work->room, &work->sides, sizeof *side);
    if (side)
        *side = (struct side){.from = from, .to = to};
    return side;
}

static bool walk(struct work *work, uint32_t *cursor)
{
    const uint32_t *to = edges_to(&work->edges), *first = work->edges.first;
    uint32_t node = work->reach->count, here = 0;
    enter(work, node, 0, cursor);
    for (;;) {
        if (cursor[node] < first[node + 1]) {
            uint32_t next = to[cursor[node]++];
            uint32_t place = work->place[next];
            if (!place) {
                enter(work, next, here, cursor);
                node = next;
                here = work->places - 1;
            } else if (work->parent[place - 1] != here && !add_side(work, here, place - 1)) {
                return false;
            }
        } else if (!here) {
            return true;
        } else {
            here = work->parent[here];
            node = work->node_of[here];
        }
    }
}

static bool number_places(struct work *work)
{
    uint64_t count = work->reach->count + 1ull;
    if (!edges_of_held(&work->edges, work->reach))
        return false;
    uint32_t *cursor = row(work, count);
    work->place = row(work, count);
    work->node_of = row(work, count);
    work->parent = row(work, count);
    if (!cursor || !work->place || !work->node_of || !work->parent || !walk(work, cursor))
        return false;
    room_unmap(work->room, cursor);
    edges_end(&work->edges, work->reach);
    return true;
}

/* ---- Dominators -------------------------------------------------------------------------------
 */

/* The sides by their targets: counted, then filled from behind. */
static bool sort_sides(struct work *work)
{
    const struct side *side = work->sides.at;
    if (work->sides.count >= UINT32_MAX)
        return false;
    work->first = row(work, work->places + 1ull);
    work->from = row(work, work->sides.count);
    if (!work->first || !work->from)
        return false;
    for (uint64_t i = 0; i < work->sides.count; i++)
        work->first[side[i].to]++;
    for (uint32_t i = 0, sum = 0; i <= work->places; i++)
        work->first[i] = sum += work->first[i];
    for (uint64_t i = work->sides.count; i--;)
        work->from[--work->first[side[i].to]] = side[i].from;
    pile_end(work->room, &work->sides);
    return true;
}

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
    if (!work->sides.count) {
        work->idom = work->parent;
        return true;
    }
    if (!sort_sides(work))
        return false;
    work->semi = row(work, work->places);
    work->label = row(work, work->places);
    work->idom = row(work, work->places);
    work->stack = row(work, work->places);
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

/* ---- Sums -------------------------------------------------------------------------------------
 */

static bool sum_up(struct work *work, struct dominated *out)
{
    out->blocks = row(work, work->places);
    out->bytes = room_map(work->room, work->places, sizeof *out->bytes);
    if (!out->blocks || !out->bytes)
        return false;
    for (uint32_t i = work->places - 1; i > 0; i--) {
        uint32_t above = work->idom[i];
        out->blocks[i]++;
        out->bytes[i] += node_size(&work->reach->nodes[work->node_of[i]]);
        out->blocks[above] += out->blocks[i];
        out->bytes[above] += out->bytes[i];
    }
    /* The roots have the first place, which stands for "not held". */
    out->blocks[0] = 0;
    out->bytes[0] = 0;
    for (uint32_t i = 0; i < work->reach->count; i++)
        work->place[i] -= work->place[i] != 0;
    out->place = work->place;
    room_unmap(work->room, work->idom);
    room_unmap(work->room, work->node_of);
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
