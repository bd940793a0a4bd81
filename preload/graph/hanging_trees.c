/* hanging_trees.c - counts the pointers to each block, then takes away leaves of trees, in the
 * reverse order of marking.
 *
 * Marking reaches a block later than the block that points to it, so all blocks that may hang on a
 * block are judged before it. Pointers of blocks that were taken away do not count any more:
 *
 *     pointers[node] = pointers to it from blocks that were not taken away, and one more if the roots point to it
 *
 * A counter that reaches MANY keeps that value, and its block stays in the core.
 */
#include "preload/graph/hanging_trees.h"
#include "preload/mark/mark_passes.h"

#define HANGS 0 /* the value of pointers[node] after the block was taken away */
#define MANY UINT16_MAX
#define PREFETCH_AHEAD 16

static ALWAYS_INLINE void count_pointer(uint16_t *pointers)
{
    *pointers += *pointers != MANY;
}

static void count_edges(const struct reach *reach, uint16_t *pointers)
{
    for (uint32_t node = 0; node < reach->count; node++) {
        struct node_edges edges = pointer_scan_edges(reach, node);
        if (!node_is_held(&reach->nodes[node]))
            continue;
        for (uint32_t i = 0; i < edges.count; i++)
            count_pointer(&pointers[edges.to[i]]);
    }
}

/* Counts one pointer for each block that the roots point to. Sets the counter to MANY for blocks
 * that no plain pointer leads to, and for the blocks at both ends of an encoded pointer, so that
 * these blocks belong to the core. */
static void count_others(const struct reach *reach, uint16_t *pointers)
{
    const struct encoded_edge *encoded = reach->encoded_edges.at;
    for (uint32_t node = 0; node < reach->count; node++)
        if (node_is_held(&reach->nodes[node])) {
            if (node_is_root_target(reach, node))
                count_pointer(&pointers[node]);
            pointers[node] = pointers[node] ? pointers[node] : MANY;
        }
    for (uint64_t i = 0; i < reach->encoded_edges.count; i++) {
        pointers[encoded[i].to] = MANY;
        if (encoded[i].from < reach->count)
            pointers[encoded[i].from] = MANY;
    }
}

static ALWAYS_INLINE void take_away_leaf(const struct reach *reach, uint16_t *pointers,
                                         uint32_t node)
{
    uint32_t parent = node_parent(reach, node), back = 0;
    struct node_edges edges = pointer_scan_edges(reach, node);
    for (uint32_t i = 0; i < edges.count; i++) {
        if (edges.to[i] != parent && pointers[edges.to[i]] != HANGS)
            return;
        back += edges.to[i] == parent;
    }
    pointers[node] = HANGS;
    if (back && pointers[parent] != MANY)
        pointers[parent] -= back;
}

static void take_away_leaves(const struct reach *reach, uint16_t *pointers)
{
    for (uint32_t turn = reach->tail; turn--;) {
        if (turn >= PREFETCH_AHEAD) {
            uint32_t soon = reach->queue[turn - PREFETCH_AHEAD];
            __builtin_prefetch(&reach->targets_of[soon]);
            __builtin_prefetch(&reach->nodes[soon]);
            __builtin_prefetch(&reach->links[soon]);
        }
        if (pointers[reach->queue[turn]] == 1)
            take_away_leaf(reach, pointers, reach->queue[turn]);
    }
}

static bool number_core(struct reach *reach, const uint16_t *pointers, struct graph_core *core)
{
    uint64_t words = reach->count / 64 + 1ull;
    core->bits = scan_arena_map(&reach->arena, words, sizeof *core->bits);
    core->below = scan_arena_map(&reach->arena, words, sizeof *core->below);
    if (!core->bits || !core->below)
        return false;
    for (uint32_t node = 0; node < reach->count; node++) {
        if (node % 64 == 0)
            core->below[node / 64] = core->count;
        if (pointers[node] != HANGS && node_is_held(&reach->nodes[node])) {
            core->bits[node / 64] |= 1ull << node % 64;
            core->count++;
        }
    }
    core->node = scan_arena_map_raw(&reach->arena, core->count, sizeof *core->node);
    for (uint32_t node = 0, number = 0; core->node && number < core->count; node++)
        if (graph_core_has(core, node))
            core->node[number++] = node;
    return core->node;
}

bool hanging_trees_find(struct reach *reach, struct graph_core *core)
{
    uint16_t *pointers = scan_arena_map(&reach->arena, reach->count, sizeof *pointers);
    *core = (struct graph_core){0};
    if (!pointers)
        return false;
    count_edges(reach, pointers);
    count_others(reach, pointers);
    take_away_leaves(reach, pointers);
    bool numbered = number_core(reach, pointers, core);
    scan_arena_unmap(&reach->arena, pointers);
    return numbered;
}
