/* dominators.c - finds the dominators of the blocks in the core by semi-dominators (the algorithm
 * semi-NCA), without recursion.
 *
 * Block A dominates block B if all paths from the roots to B lead through A. The core is what
 * remains of the held blocks without the trees that hang on one pointer (hanging_trees.h): in such
 * a tree the parent is the dominator. A depth-first search from the roots gives each node of the
 * core a place, its number in the order of the search: parents before children. The arrays of
 * struct dominator_work are indexed by place, so related nodes are adjacent. Edges of the search
 * tree are known from the array "parent"; only the other edges (side edges) are stored, sorted by
 * the place they lead to. A heap of trees has no side edges, and there the parents are the
 * dominators.
 *
 *     semi[w] = the lowest place from which a path leads to w that otherwise visits only places above w
 *     idom[w] = the nearest ancestor in the dominator tree built so far whose place is not above semi[w]
 *
 * Path compression (best_label) makes the search for ancestors nearly linear in all.
 */
#include "preload/graph/leak_graph_internal.h"
#include "preload/mark/mark_passes.h"

#define PREFETCH_AHEAD 16

struct dominator_work {
    struct reach *reach;
    struct scan_arena *arena;
    struct graph_core core;
    struct edge_list edges;
    /* One cursor for each node of the core, by its number in the core, and a last one for the
     * roots. "order" is the place of the node + 1, "low" is the number of side edges that lead to
     * it. */
    struct edge_cursor *cursors;
    uint32_t *number; /* element i: the number in the core of the node at place i */
    /* Element i: the place of the parent, in the depth-first tree, of the node at place i;
     * best_label shortens these chains of parents. */
    uint32_t *parent;
    uint32_t places;
    uint32_t sides;
    /* The sources of the side edges to place i are from[first[i]] .. from[first[i + 1] - 1]. */
    uint32_t *first, *from;
    uint32_t *semi, *label, *idom, *stack;
};

static uint32_t *zeroed_row(struct dominator_work *work, uint64_t count)
{
    return scan_arena_map(work->arena, count, sizeof(uint32_t));
}

/* Allocates an array of numbers without clearing it. Each element must be written before it is
 * read. */
static uint32_t *raw_row(struct dominator_work *work, uint64_t count)
{
    return scan_arena_map_raw(work->arena, count, sizeof(uint32_t));
}

/* ---- Depth-first search: the places of the core's nodes -------------------------------------- */

static struct edge_cursor *number_place(struct dominator_work *work, uint32_t number,
                                        uint32_t parent)
{
    struct edge_cursor *cursor = &work->cursors[number];
    uint32_t place = work->places++;
    cursor->order = place + 1;
    work->number[place] = number;
    work->parent[place] = parent;
    edge_cursor_prefetch(work->cursors, edge_list_targets(&work->edges), cursor);
    return cursor;
}

static void search_depth_first(struct dominator_work *work)
{
    const uint32_t *to = edge_list_targets(&work->edges);
    struct edge_cursor *cursors = work->cursors, *cursor = number_place(work, work->core.count, 0);
    uint32_t here = 0;
    for (;;) {
        if (cursor->next < cursor->end) {
            uint32_t next = edge_cursor_next(cursors, to, cursor), order = cursors[next].order;
            if (!order) {
                cursor = number_place(work, next, here);
                here = work->places - 1;
            } else if (work->parent[order - 1] != here) {
                cursors[next].low++;
                work->sides++;
            }
        } else if (!here) {
            return;
        } else {
            here = work->parent[here];
            cursor = &cursors[work->number[here]];
        }
    }
}

/* Sorts the sources of the side edges by the place they lead to. The search has counted the side
 * edges of each place; each place's part of "from" is filled from the part's end backwards. Edges
 * are read in the order in which they lie in memory, which is fast. */
static void sort_sides(struct dominator_work *work)
{
    const uint32_t *to = edge_list_targets(&work->edges), sources = work->core.count + 1;
    const struct edge_cursor *cursors = work->cursors;
    for (uint32_t i = 0, sum = 0; i <= work->places; i++)
        work->first[i] = sum += i < work->places ? cursors[work->number[i]].low : 0;
    for (uint32_t source = 0, at = 0; source < sources; source++)
        for (; at < cursors[source].end; at++) {
            if (at + PREFETCH_AHEAD < work->edges.to.count)
                __builtin_prefetch(&cursors[to[at + PREFETCH_AHEAD]]);
            uint32_t from = cursors[source].order - 1, place = cursors[to[at]].order - 1;
            if (cursors[source].order && work->parent[place] != from)
                work->from[--work->first[place]] = from;
        }
}

/* Sorts the side edges, then frees the memory that only the depth-first search needed. False: no
 * memory. */
static bool finish_search(struct dominator_work *work)
{
    if (work->sides) {
        work->first = raw_row(work, work->places + 1ull);
        work->from = raw_row(work, work->sides);
        if (!work->first || !work->from)
            return false;
        sort_sides(work);
    }
    edge_list_end(&work->edges, work->reach);
    scan_arena_unmap(work->arena, work->cursors);
    return true;
}

static bool number_places(struct dominator_work *work)
{
    uint32_t sources = work->core.count + 1;
    bool listed = edge_list_of_core(&work->edges, work->reach, &work->core);
    pointer_scan_end(work->reach);
    if (!listed)
        return false;
    work->cursors = edge_list_to_cursors(&work->edges, work->reach, sources);
    work->number = raw_row(work, sources);
    work->parent = raw_row(work, sources);
    if (!work->cursors || !work->number || !work->parent)
        return false;
    search_depth_first(work);
    return finish_search(work);
}

/* ---- Semi-dominators and dominators ---------------------------------------------------------- */

/* Returns the place with the lowest semi-dominator among a place and its ancestors in the
 * depth-first tree, down to place "linked". Compresses this path for later calls. */
static uint32_t best_label(struct dominator_work *work, uint32_t place, uint32_t linked)
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

static void find_semidominators(struct dominator_work *work)
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

static bool find_dominators(struct dominator_work *work)
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
    find_semidominators(work);
    scan_arena_unmap(work->arena, work->first);
    scan_arena_unmap(work->arena, work->from);
    scan_arena_unmap(work->arena, work->semi);
    scan_arena_unmap(work->arena, work->label);
    scan_arena_unmap(work->arena, work->stack);
    scan_arena_unmap(work->arena, work->parent);
    return true;
}

/* ---- Sums over the dominator tree ------------------------------------------------------------ */

static ALWAYS_INLINE void add_to_dominator(struct dominator_sums *sums, uint32_t node,
                                           uint32_t above)
{
    sums->blocks[above] += sums->blocks[node];
    sums->bytes[above] += sums->bytes[node];
}

static ALWAYS_INLINE void add_itself(const struct reach *reach, struct dominator_sums *sums,
                                     uint32_t node)
{
    sums->blocks[node]++;
    sums->bytes[node] += node_size(reach, &reach->nodes[node]);
}

/* Adds the sums of each block that hangs on another one (hanging_trees.h) to the sums of that
 * block. Marking reached that block earlier, so the queue of marking is read backwards. */
static void sum_hanging(const struct dominator_work *work, struct dominator_sums *sums)
{
    const struct reach *reach = work->reach;
    for (uint32_t turn = reach->tail; turn--;) {
        uint32_t node = reach->queue[turn];
        uint32_t soon = reach->queue[turn > PREFETCH_AHEAD ? turn - PREFETCH_AHEAD : 0];
        __builtin_prefetch(&reach->nodes[soon]);
        __builtin_prefetch(&reach->links[soon]);
        __builtin_prefetch(&sums->blocks[soon], 1);
        __builtin_prefetch(&sums->bytes[soon], 1);
        if (graph_core_has(&work->core, node))
            continue;
        uint32_t above = node_parent(reach, node);
        add_itself(reach, sums, node);
        if (above != NODE_NONE)
            add_to_dominator(sums, node, above);
    }
}

/* Adds the sums of each node of the core to its dominator, the last place of the depth-first search
 * first. Place 0 stands for the roots, which have no sums. */
static void sum_core(const struct dominator_work *work, struct dominator_sums *sums)
{
    const uint32_t *node_of = work->core.node;
    for (uint32_t i = work->places; i-- > 1;) {
        uint32_t node = node_of[work->number[i]], above = work->idom[i];
        add_itself(work->reach, sums, node);
        if (above)
            add_to_dominator(sums, node, node_of[work->number[above]]);
    }
}

static bool sum_subtrees(struct dominator_work *work, struct dominator_sums *sums)
{
    sums->blocks = zeroed_row(work, work->reach->count);
    sums->bytes = scan_arena_map(work->arena, work->reach->count, sizeof *sums->bytes);
    if (!sums->blocks || !sums->bytes)
        return false;
    sum_hanging(work, sums);
    sum_core(work, sums);
    scan_arena_unmap(work->arena, work->idom);
    scan_arena_unmap(work->arena, work->number);
    scan_arena_unmap(work->arena, work->core.bits);
    scan_arena_unmap(work->arena, work->core.below);
    scan_arena_unmap(work->arena, work->core.node);
    return true;
}

static bool find_held(struct dominator_work *work)
{
    if (!work->reach->targets_of || work->reach->targets_lost ||
        !hanging_trees_find(work->reach, &work->core))
        return false;
    return number_places(work) && find_dominators(work);
}

bool dominators_find(struct dominator_sums *sums, struct reach *reach)
{
    struct dominator_work work = {.reach = reach, .arena = &reach->arena};
    /* The index that finds blocks by address (rank index) can be freed, because from here on no
     * pointer is followed any more. */
    rank_index_free(&reach->index, &reach->arena);
    scan_arena_trim(&reach->arena);
    struct scan_arena before = reach->arena;
    bool found = find_held(&work);
    pointer_scan_end(reach);
    if (found && sum_subtrees(&work, sums))
        return true;
    scan_arena_rewind(&reach->arena, &before);
    return false;
}
