/* owner_tree.c - a counting sort by site; see owner_tree.h. */
#include "graph/owner_tree.h"

#include <stdlib.h>
#include <string.h>

static int by_falling_bytes(const void *one, const void *other)
{
    const struct owner_group *a = one, *b = other;

    return a->bytes != b->bytes ? COMPARE(b->bytes, a->bytes) : COMPARE(a->site, b->site);
}

struct grouping {
    const struct heap_graph *graph;
    const struct dominators *dominators;
    const uint32_t *parents; /* NULL: the start of all */
    uint32_t parent_count, parent_site;
    struct owner_group *of_site; /* by site */
    uint32_t *member;
    uint32_t *stack;
    size_t room;
};

/* outer: no other block of its group dominates it. */
typedef void visit_member(struct grouping *grouping, uint32_t block, bool outer);

/* A block, and those of its site that it leads to through blocks of its site. */
static void visit_family(struct grouping *grouping, uint32_t block, visit_member *visit)
{
    uint32_t site = grouping->graph->block[block].site;
    size_t depth = 0;

    visit(grouping, block, true);
    for (;;) {
        uint32_t count;
        const uint32_t *child = dominators_children(grouping->dominators, block, &count);

        for (uint32_t i = 0; i < count; i++) {
            if (grouping->graph->block[child[i]].site != site)
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
            if (!grouping->parents ||
                grouping->graph->block[child[k]].site != grouping->parent_site)
                visit_family(grouping, child[k], visit);
    }
}

static void count_block(struct grouping *grouping, uint32_t block, bool outer)
{
    struct owner_group *group = &grouping->of_site[grouping->graph->block[block].site];
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
    grouping->member[grouping->of_site[grouping->graph->block[block].site].first++] = block;
}

static struct owner_groups make_groups(struct grouping *grouping)
{
    size_t sites = (size_t)grouping->graph->sites + 1;
    struct owner_groups out = {0};
    uint32_t sum = 0;

    grouping->of_site = array_grow(NULL, &(size_t){0}, sites, sizeof(*grouping->of_site));
    memset(grouping->of_site, 0, sites * sizeof(*grouping->of_site));
    each_member(grouping, count_block);
    for (uint32_t site = 0; site < sites; site++) {
        grouping->of_site[site].site = site;
        grouping->of_site[site].first = sum;
        sum += grouping->of_site[site].blocks;
        out.count += grouping->of_site[site].blocks != 0;
    }
    out.member = grouping->member =
        array_grow(NULL, &(size_t){0}, (size_t)sum + 1, sizeof(uint32_t));
    each_member(grouping, place_block);
    out.group = array_grow(NULL, &(size_t){0}, (size_t)out.count + 1, sizeof(*out.group));
    out.count = 0;
    for (uint32_t site = 0; site < sites; site++)
        if (grouping->of_site[site].blocks) {
            out.group[out.count] = grouping->of_site[site];
            out.group[out.count++].first -= grouping->of_site[site].blocks;
        }
    free(grouping->of_site);
    free(grouping->stack);
    qsort(out.group, out.count, sizeof(*out.group), by_falling_bytes);
    return out;
}

struct owner_groups owner_groups_top(const struct heap_graph *graph,
                                     const struct dominators *dominators)
{
    return make_groups(&(struct grouping){.graph = graph, .dominators = dominators});
}

struct owner_groups owner_groups_below(const struct heap_graph *graph,
                                       const struct dominators *dominators,
                                       const struct owner_groups *groups,
                                       const struct owner_group *group)
{
    return make_groups(&(struct grouping){.graph = graph,
                                          .dominators = dominators,
                                          .parents = groups->member + group->first,
                                          .parent_count = group->blocks,
                                          .parent_site = group->site});
}

void owner_groups_end(struct owner_groups *groups)
{
    free(groups->group);
    free(groups->member);
    *groups = (struct owner_groups){0};
}
