/* components.c - finds reference cycles by Tarjan's algorithm, without recursion; described in
 * components.h.
 */
#include "graph/analyze/components.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hashmap.h"

struct tarjan {
    const struct heap_graph *graph;
    const bool *left_out;
    struct components *out;
    /* number of a block -> its number in the search, from 1, and the lowest number that it leads
     * to. order 0: not reached yet; low GRAPH_NONE: its set is complete */
    uint32_t *order, *low;
    /* the path of the search, and for each of its blocks the edge with which the search
     * continues */
    uint32_t *path, *next;
    uint32_t *open, opened;
    uint32_t seen, members;
    size_t room;
};

static void enter(struct tarjan *search, uint32_t depth, uint32_t node)
{
    search->order[node] = search->low[node] = ++search->seen;
    search->open[search->opened++] = node;
    search->path[depth] = node;
    search->next[depth] = search->graph->first[node];
}

/* Completes a set: the blocks that the search entered from `node` on and that belong to no set so
 * far. */
static void close_set(struct tarjan *search, uint32_t node)
{
    struct components *out = search->out;
    uint32_t begin = search->members, member;

    do {
        member = search->open[--search->opened];
        search->low[member] = GRAPH_NONE;
        out->member[search->members++] = member;
    } while (member != node);
    if (search->members - begin < 2) {
        search->members = begin;
        return;
    }
    out->first = array_grow(out->first, &search->room, (size_t)out->count + 2, sizeof(uint32_t));
    out->first[out->count++] = begin;
    out->first[out->count] = search->members;
    for (uint32_t i = begin; i < search->members; i++)
        out->set_of[out->member[i]] = out->count - 1;
}

static void search_from(struct tarjan *search, uint32_t start)
{
    const struct heap_graph *graph = search->graph;
    uint32_t depth = 0;

    enter(search, 0, start);
    for (;;) {
        uint32_t node = search->path[depth];

        if (search->next[depth] < graph->first[node + 1]) {
            uint32_t edge = search->next[depth]++, to = graph->edge[edge].to;

            if (search->left_out && search->left_out[edge])
                continue;
            if (!search->order[to])
                enter(search, ++depth, to);
            else if (search->low[to] != GRAPH_NONE && search->order[to] < search->low[node])
                search->low[node] = search->order[to];
            continue;
        }
        if (search->low[node] == search->order[node])
            close_set(search, node);
        if (depth-- == 0)
            return;
        if (search->low[node] < search->low[search->path[depth]])
            search->low[search->path[depth]] = search->low[node];
    }
}

struct components components_find(const struct heap_graph *graph, const bool *left_out)
{
    size_t room = (size_t)graph->blocks + 1;
    struct components out = {.member = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                             .set_of = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t))};
    struct tarjan search = {.graph = graph,
                            .left_out = left_out,
                            .out = &out,
                            .order = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                            .low = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                            .path = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                            .next = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t)),
                            .open = array_grow(NULL, &(size_t){0}, room, sizeof(uint32_t))};

    memset(search.order, 0, room * sizeof(uint32_t));
    memset(out.set_of, 0xff, room * sizeof(uint32_t));
    for (uint32_t node = 0; node < graph->blocks; node++)
        if (!search.order[node])
            search_from(&search, node);
    free(search.order);
    free(search.low);
    free(search.path);
    free(search.next);
    free(search.open);
    return out;
}

void components_end(struct components *components)
{
    free(components->member);
    free(components->first);
    free(components->set_of);
    *components = (struct components){0};
}

/* Returns the edge by which the search reached a block first. `by` maps the block to that edge +
 * 1. */
static uint64_t step_to(const struct hashmap *by, uint32_t node)
{
    return hashmap_get(by, node) - 1;
}

/* Searches breadth-first from `start` for an edge that leads back to `start`. Returns this edge;
 * *from is set to the block that has it. */
static uint32_t find_closing(const struct heap_graph *graph, const bool *left_out,
                             const uint32_t *set_of, uint32_t start, struct hashmap *by,
                             uint32_t *from)
{
    uint32_t *queue = NULL;
    size_t room = 0, head = 0, tail = 0;

    queue = array_grow(queue, &room, 1, sizeof(*queue));
    queue[tail++] = start;
    while (head < tail) {
        *from = queue[head++];
        for (uint32_t i = graph->first[*from]; i < graph->first[*from + 1]; i++) {
            uint32_t to = graph->edge[i].to;
            bool fresh;
            uint64_t *step;

            if (left_out && left_out[i])
                continue;
            if (to == start) {
                free(queue);
                return i;
            }
            if (set_of[to] != set_of[start])
                continue;
            step = hashmap_put(by, to, &fresh);
            if (!fresh)
                continue;
            *step = ((uint64_t)*from << 32 | i) + 1;
            queue = array_grow(queue, &room, tail + 1, sizeof(*queue));
            queue[tail++] = to;
        }
    }
    free(queue);
    return GRAPH_NONE;
}

uint32_t components_cycle(const struct heap_graph *graph, const bool *left_out,
                          const struct components *components, uint32_t set, uint32_t *edges,
                          uint32_t most)
{
    uint32_t start = GRAPH_NONE, from = 0, length = 1, closing;
    struct hashmap by = {0};

    for (uint32_t i = components->first[set]; i < components->first[set + 1]; i++)
        if (components->member[i] < start)
            start = components->member[i];
    closing = find_closing(graph, left_out, components->set_of, start, &by, &from);
    for (uint32_t node = from; node != start; length++)
        node = (uint32_t)(step_to(&by, node) >> 32);
    if (length <= most)
        edges[length - 1] = closing;
    for (uint32_t node = from, at = length - 1; node != start; at--) {
        if (at - 1 < most)
            edges[at - 1] = (uint32_t)step_to(&by, node);
        node = (uint32_t)(step_to(&by, node) >> 32);
    }
    hashmap_end(&by);
    return length < most ? length : most;
}
