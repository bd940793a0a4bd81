/* owner_tree.c - groups blocks by the blocks that dominate them; described in owner_tree.h. */
#include "graph/analyze/owner_tree.h"

#include <stdlib.h>
#include <string.h>

static int by_falling_bytes(const void *one, const void *other)
{
    const struct owner_group *a = one, *b = other;

    return a->bytes != b->bytes ? COMPARE(b->bytes, a->bytes)
                                : COMPARE(2 * a->site + a->lost, 2 * b->site + b->lost);
}

struct grouping {
    const struct heap_graph *graph;
    const struct dominators *dominators;
    const uint32_t *as;
    /* the blocks whose directly dominated blocks are grouped; NULL: those that no block dominates
     * are grouped */
    const uint32_t *parents;
    uint32_t parent_count, parent_key;
    struct owner_group *of_key;
    uint32_t *member;
    uint32_t *stack;
    size_t room;
};

/* Returns the key of a block's group: site, and whether the block is lost. */
static uint32_t key_of(const struct grouping *grouping, uint32_t block)
{
    const struct graph_block *its = &grouping->graph->block[block];

    return 2 * (grouping->as ? grouping->as[its->site] : its->site) + graph_block_is_lost(its);
}

/* Is called for each block of a group. outer: no other block of the group dominates the block. */
typedef void visit_member(struct grouping *grouping, uint32_t block, bool outer);

/* Visits a block, and the blocks with its key that it dominates directly or through blocks with its
 * key. */
static void visit_family(struct grouping *grouping, uint32_t block, visit_member *visit)
{
    uint32_t key = key_of(grouping, block);
    size_t depth = 0;

    visit(grouping, block, true);
    for (;;) {
        uint32_t count;
        const uint32_t *child = dominators_children(grouping->dominators, block, &count);

        for (uint32_t i = 0; i < count; i++) {
            if (key_of(grouping, child[i]) != key)
                continue;
            visit(grouping, child[i], false);
            grouping->stack =
                array_grow(grouping->stack, &grouping->room, depth + 1, sizeof(*grouping->stack));
            grouping->stack[depth++] = child[i];
        }
        if (!depth)
            return;
        block = grouping->stack[--depth];
    }
}

static void each_member(struct grouping *grouping, visit_member *visit)
{
    for (uint32_t i = 0; i < (grouping->parents ? grouping->parent_count : 1); i++) {
        uint32_t count;
        const uint32_t *child = dominators_children(
            grouping->dominators, grouping->parents ? grouping->parents[i] : GRAPH_NONE, &count);

        for (uint32_t k = 0; k < count; k++)
            if (!grouping->parents || key_of(grouping, child[k]) != grouping->parent_key)
                visit_family(grouping, child[k], visit);
    }
}

static void count_block(struct grouping *grouping, uint32_t block, bool outer)
{
    struct owner_group *group = &grouping->of_key[key_of(grouping, block)];
    const uint64_t *bytes = grouping->dominators->bytes;

    if (!group->blocks || bytes[block] > bytes[group->largest])
        group->largest = block;
    group->blocks++;
    group->own += grouping->graph->block[block].size;
    group->bytes += outer ? bytes[block] : 0;
    group->held += outer ? grouping->dominators->blocks[block] : 0;
}

static void place_block(struct grouping *grouping, uint32_t block, bool outer)
{
    (void)outer;
    grouping->member[grouping->of_key[key_of(grouping, block)].first++] = block;
}

/* Makes the groups by a counting sort of the blocks by key. */
static struct owner_groups make_groups(struct grouping *grouping)
{
    size_t keys = 2 * ((size_t)grouping->graph->sites + 1);
    struct owner_groups out = {0};
    uint32_t sum = 0;

    grouping->of_key = array_grow(NULL, &(size_t){0}, keys, sizeof(*grouping->of_key));
    memset(grouping->of_key, 0, keys * sizeof(*grouping->of_key));
    each_member(grouping, count_block);
    for (uint32_t key = 0; key < keys; key++) {
        grouping->of_key[key].site = key / 2;
        grouping->of_key[key].lost = key % 2;
        grouping->of_key[key].first = sum;
        sum += grouping->of_key[key].blocks;
        out.count += grouping->of_key[key].blocks != 0;
    }
    out.member = grouping->member =
        array_grow(NULL, &(size_t){0}, (size_t)sum + 1, sizeof(uint32_t));
    each_member(grouping, place_block);
    out.group = array_grow(NULL, &(size_t){0}, (size_t)out.count + 1, sizeof(*out.group));
    out.count = 0;
    for (uint32_t key = 0; key < keys; key++)
        if (grouping->of_key[key].blocks) {
            out.group[out.count] = grouping->of_key[key];
            out.group[out.count++].first -= grouping->of_key[key].blocks;
        }
    free(grouping->of_key);
    free(grouping->stack);
    qsort(out.group, out.count, sizeof(*out.group), by_falling_bytes);
    return out;
}

struct owner_groups owner_groups_top(const struct owner_question *question)
{
    return make_groups(&(struct grouping){
        .graph = question->graph, .dominators = question->dominators, .as = question->as});
}

struct owner_groups owner_groups_below(const struct owner_question *question,
                                       const struct owner_groups *groups,
                                       const struct owner_group *group)
{
    return make_groups(&(struct grouping){.graph = question->graph,
                                          .dominators = question->dominators,
                                          .as = question->as,
                                          .parents = groups->member + group->first,
                                          .parent_count = group->blocks,
                                          .parent_key = 2 * group->site + group->lost});
}

void owner_groups_end(struct owner_groups *groups)
{
    free(groups->group);
    free(groups->member);
    *groups = (struct owner_groups){0};
}
