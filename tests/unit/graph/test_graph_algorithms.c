/* test_graph_algorithms.c - dominators, retained sizes, shortest paths cycles and duplicates of random
 * graphs, each compared with the definition, computed naively.
 *
 * GRAPHS in the environment: how many (300); 10000 for the whole.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "graph/analyze/components.h"
#include "graph/analyze/dominators.h"
#include "graph/analyze/duplicates.h"
#include "graph/analyze/owner_tree.h"
#include "graph/analyze/root_paths.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/suite.h"
#include "tests/unit/size.h"

#define NO_BLOCK MODEL_BLOCKS

static uint64_t graphs(void)
{
    const char *given = getenv("GRAPHS");

    return given ? strtoull(given, NULL, 10) : unit_size(300);
}

/* ---- The definitions ------------------------------------------------------------------------- */

/* Marks what leads on from marked blocks, one step after the other; `without` is taken away. Returns
 * the number of steps. */
static void spread(const struct model *model, bool *marked, uint32_t without, uint32_t *distance)
{
    for (uint32_t step = 1;; step++) {
        bool next[MODEL_BLOCKS], more = false;

        memcpy(next, marked, sizeof(next));
        for (uint32_t i = 0; i < model->edges; i++) {
            uint32_t from = model->edge[i].from, to = model->edge[i].to;

            if (!marked[from] || next[to] || from == without || to == without)
                continue;
            next[to] = more = true;
            if (distance)
                distance[to] = step;
        }
        if (!more)
            return;
        memcpy(marked, next, sizeof(next));
    }
}

/* What holds the heap from outside: targets of roots, then one by one what these do not reach. */
static void naive_starts(const struct model *model, bool *start)
{
    bool marked[MODEL_BLOCKS] = {0};

    memset(start, 0, MODEL_BLOCKS);
    for (uint32_t i = 0; i < model->roots; i++)
        start[model->root[i].to] = marked[model->root[i].to] = true;
    spread(model, marked, NO_BLOCK, NULL);
    for (int pass = 0; pass < 3; pass++)
        for (uint32_t i = 0; i < model->blocks; i++) {
            uint32_t verdict = model->block[i].verdict;
            bool lost = verdict == LEAK_VERDICT_LOST || verdict == LEAK_VERDICT_INDIRECT;

            if (marked[i] || (pass == 0 && lost) || (pass == 1 && verdict != LEAK_VERDICT_LOST))
                continue;
            start[i] = marked[i] = true;
            spread(model, marked, NO_BLOCK, NULL);
        }
}

/* d dominates b if b is out of reach without d. */
static void naive_dominated(const struct model *model, uint32_t d, bool *dominated)
{
    bool start[MODEL_BLOCKS], marked[MODEL_BLOCKS] = {0};

    naive_starts(model, start);
    for (uint32_t i = 0; i < model->blocks; i++)
        marked[i] = start[i] && i != d;
    spread(model, marked, d, NULL);
    for (uint32_t i = 0; i < model->blocks; i++)
        dominated[i] = !marked[i];
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_dominators(const struct model *model, uint64_t seed)
{
    struct heap_graph graph;
    struct dominators found;
    const char *broken = "";
    bool dominated[MODEL_BLOCKS][MODEL_BLOCKS];

    model_graph(model, &graph);
    found = dominators_find(&graph);
    ck_assert_msg(dominators_check(&graph, &found, &broken), "graph %lu: %s", seed, broken);
    for (uint32_t d = 0; d < model->blocks; d++)
        naive_dominated(model, d, dominated[d]);
    for (uint32_t b = 0; b < model->blocks; b++) {
        uint32_t nearest = GRAPH_NONE;
        uint64_t bytes = 0, blocks = 0;

        /* Of those that dominate b, the nearest is dominated by all others. */
        for (uint32_t d = 0; d < model->blocks; d++) {
            if (dominated[b][d]) {
                bytes += model->block[d].size;
                blocks++;
            }
            if (d != b && dominated[d][b] && (nearest == GRAPH_NONE || dominated[nearest][d]))
                nearest = d;
        }
        ck_assert_msg(found.idom[b] == nearest, "graph %lu: block %u has dominator %d, found %d",
                      seed, b, (int)nearest, (int)found.idom[b]);
        ck_assert_msg(found.bytes[b] == bytes && found.blocks[b] == blocks,
                      "graph %lu: block %u retains %lu bytes in %lu blocks, found %lu in %u", seed,
                      b, bytes, blocks, found.bytes[b], found.blocks[b]);
    }
    dominators_end(&found);
    heap_graph_end(&graph);
}

START_TEST(dominators_and_retained_sizes_are_those_of_the_definition)
{
    struct model model;

    for (uint64_t seed = 0; seed < graphs(); seed++) {
        model_make(&model, seed, 12);
        check_dominators(&model, seed);
    }
}
END_TEST

START_TEST(paths_are_shortest_and_consist_of_edges)
{
    struct model model;

    for (uint64_t seed = 0; seed < graphs(); seed++) {
        bool start[MODEL_BLOCKS], marked[MODEL_BLOCKS] = {0}, root[MODEL_BLOCKS] = {0};
        uint32_t distance[MODEL_BLOCKS] = {0};
        struct heap_graph graph;
        struct root_tree tree;

        model_make(&model, seed, MODEL_BLOCKS);
        model_graph(&model, &graph);
        tree = root_tree_find(&graph);
        naive_starts(&model, start);
        for (uint32_t i = 0; i < model.roots; i++)
            root[model.root[i].to] = marked[model.root[i].to] = true;
        spread(&model, marked, NO_BLOCK, distance);
        for (uint32_t b = 0; b < model.blocks; b++) {
            uint32_t steps = 0, at = b;

            for (; tree.parent[at] != GRAPH_NONE; at = tree.parent[at], steps++)
                ck_assert_msg(root_tree_edge(&graph, tree.parent[at], at) != GRAPH_NONE,
                              "graph %lu: no edge leads to %u", seed, at);
            ck_assert_msg(start[at], "graph %lu: the path to %u begins at %u", seed, b, at);
            ck_assert_uint_eq(tree.distance[b], steps);
            ck_assert_msg(!marked[b] || (root[at] && steps == distance[b]),
                          "graph %lu: block %u is %u steps away, found %u", seed, b, distance[b],
                          steps);
        }
        root_tree_end(&tree);
        heap_graph_end(&graph);
    }
}
END_TEST

/* Whether each leads to the other. */
static bool is_cycle(const struct model *model, uint32_t a, uint32_t b)
{
    bool from_a[MODEL_BLOCKS] = {[0] = false}, from_b[MODEL_BLOCKS] = {[0] = false};

    from_a[a] = from_b[b] = true;
    spread(model, from_a, NO_BLOCK, NULL);
    spread(model, from_b, NO_BLOCK, NULL);
    return from_a[b] && from_b[a];
}

static void check_cycle(const struct model *model, const struct heap_graph *graph,
                        const bool *left_out, const struct components *found, uint32_t set,
                        uint64_t seed)
{
    uint32_t edge[MODEL_BLOCKS];
    uint32_t count = components_cycle(graph, left_out, found, set, edge, MODEL_BLOCKS);

    ck_assert_uint_ge(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_edge *one = &model->edge[edge[i]];
        const struct model_edge *next = &model->edge[edge[(i + 1) % count]];

        ck_assert_msg(one->to == next->from, "graph %lu: the cycle of set %u breaks", seed, set);
        ck_assert(!left_out || !left_out[edge[i]]);
        ck_assert_uint_eq(found->set_of[one->to], set);
    }
}

/* The cycles of the graph without the edges that are left out are those of a model without them. */
static void check_cycles(const struct model *model, const bool *left_out, uint64_t seed)
{
    struct model less = *model;
    struct heap_graph graph;
    struct components found;

    less.edges = 0;
    for (uint32_t i = 0; i < model->edges; i++)
        if (!left_out || !left_out[i])
            less.edge[less.edges++] = model->edge[i];
    model_graph(model, &graph);
    found = components_find(&graph, left_out);
    for (uint32_t a = 0; a < model->blocks; a++)
        for (uint32_t b = 0; b < a; b++)
            ck_assert_msg(is_cycle(&less, a, b) ==
                              (found.set_of[a] != GRAPH_NONE && found.set_of[a] == found.set_of[b]),
                          "graph %lu: blocks %u and %u", seed, a, b);
    for (uint32_t set = 0; set < found.count; set++)
        check_cycle(model, &graph, left_out, &found, set, seed);
    components_end(&found);
    heap_graph_end(&graph);
}

START_TEST(cycles_are_the_blocks_that_lead_to_each_other)
{
    for (uint64_t seed = 0; seed < graphs(); seed++) {
        struct model model;

        model_make(&model, seed, 12);
        check_cycles(&model, NULL, seed);
    }
}
END_TEST

START_TEST(edges_that_are_left_out_close_no_cycle)
{
    for (uint64_t seed = 0; seed < graphs(); seed++) {
        bool left_out[MODEL_EDGES];
        uint64_t state = seed;
        struct model model;

        model_make(&model, seed, 12);
        for (uint32_t i = 0; i < MODEL_EDGES; i++)
            left_out[i] = model_random(&state, 3) == 0;
        check_cycles(&model, left_out, seed);
    }
}
END_TEST

/* Each block is in one group of the whole tree, and a group's bytes are its blocks' and those below. */
static void check_groups(const struct heap_graph *graph, const struct dominators *dominators,
                         const struct owner_groups *groups, uint32_t *seen, uint64_t seed)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct owner_group *group = &groups->group[i];
        struct owner_groups below = owner_groups_below(
            &(struct owner_question){.graph = graph, .dominators = dominators}, groups, group);
        uint64_t bytes = group->own, blocks = group->blocks;

        for (uint32_t k = 0; k < group->blocks; k++)
            seen[groups->member[group->first + k]]++;
        for (uint32_t k = 0; k < below.count; k++) {
            bytes += below.group[k].bytes;
            blocks += below.group[k].held;
        }
        ck_assert_msg(bytes == group->bytes && blocks == group->held,
                      "graph %lu: the sums of a group", seed);
        ck_assert(!i || groups->group[i - 1].bytes >= group->bytes);
        check_groups(graph, dominators, &below, seen, seed);
        owner_groups_end(&below);
    }
}

START_TEST(the_tree_of_owners_has_each_block_once)
{
    struct model model;

    for (uint64_t seed = 0; seed < graphs(); seed++) {
        uint32_t seen[MODEL_BLOCKS] = {0};
        struct heap_graph graph;
        struct dominators dominators;
        struct owner_groups groups;

        model_make(&model, seed, MODEL_BLOCKS);
        model_graph(&model, &graph);
        dominators = dominators_find(&graph);
        groups =
            owner_groups_top(&(struct owner_question){.graph = &graph, .dominators = &dominators});
        check_groups(&graph, &dominators, &groups, seen, seed);
        for (uint32_t b = 0; b < model.blocks; b++)
            ck_assert_msg(seen[b] == 1, "graph %lu: block %u is in %u groups", seed, b, seen[b]);
        owner_groups_end(&groups);
        dominators_end(&dominators);
        heap_graph_end(&graph);
    }
}
END_TEST

/* Sets of blocks with one number, in the definition: each pair is compared. */
START_TEST(duplicates_are_the_blocks_with_equal_contents)
{
    struct model model;

    for (uint64_t seed = 0; seed < graphs(); seed++) {
        uint64_t wasted = 0, naive = 0, last = UINT64_MAX;
        uint32_t seen[MODEL_BLOCKS] = {0};
        struct heap_graph graph;
        struct duplicates found;

        model_make(&model, seed, MODEL_BLOCKS);
        model_graph(&model, &graph);
        found = duplicates_find(&graph);
        for (uint32_t i = 0; i < found.count; i++) {
            const struct duplicate_set *set = &found.set[i];

            ck_assert(set->blocks >= 2 && set->wasted <= last);
            last = set->wasted;
            wasted += set->wasted;
            for (uint32_t k = set->first; k < set->first + set->blocks; k++) {
                ck_assert_uint_eq(graph.content[found.member[k]], set->content);
                ck_assert(k == set->first || found.member[k] > found.member[k - 1]);
                ck_assert_uint_le(graph.block[found.member[k]].size,
                                  graph.block[set->original].size);
                seen[found.member[k]]++;
            }
        }
        for (uint32_t a = 0; a < model.blocks; a++) {
            uint32_t equal = 0;
            bool is_copy = false;

            for (uint32_t b = 0; b < model.blocks && model.block[a].content; b++) {
                if (a == b || model.block[a].content != model.block[b].content)
                    continue;
                equal++;
                is_copy |= model.block[b].size > model.block[a].size ||
                           (model.block[b].size == model.block[a].size && b < a);
            }
            ck_assert_msg(seen[a] == (equal != 0), "graph %lu: block %u", seed, a);
            naive += is_copy ? model.block[a].size : 0;
        }
        ck_assert_msg(wasted == naive, "graph %lu: %lu bytes, found %lu", seed, naive, wasted);
        duplicates_end(&found);
        heap_graph_end(&graph);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_algorithms");
    TCase *tests = tcase_create("random graphs");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, dominators_and_retained_sizes_are_those_of_the_definition);
    tcase_add_test(tests, paths_are_shortest_and_consist_of_edges);
    tcase_add_test(tests, cycles_are_the_blocks_that_lead_to_each_other);
    tcase_add_test(tests, edges_that_are_left_out_close_no_cycle);
    tcase_add_test(tests, duplicates_are_the_blocks_with_equal_contents);
    tcase_add_test(tests, the_tree_of_owners_has_each_block_once);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
