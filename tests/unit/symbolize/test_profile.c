/* test_profile.c - stacks with weights and call trees of the models of tests/golden. Run from the root of the tree.
 */
#include <check.h>
#include <string.h>

#include "symbolize/profile/profile.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolize/golden.h"

struct made {
    struct arena *mem;
    struct report report;
    struct view view;
    struct heap_profile profile;
};

static void begin(struct made *made, const char *model, bool lines)
{
    made->mem = arena_begin();
    made->report = golden_model(made->mem, model);
    made->view = golden_view("text", true);
    made->profile = heap_profile_begin(&made->report, &made->view, lines);
}

static void end(struct made *made)
{
    heap_profile_end(&made->profile);
    arena_end(made->mem);
}

static bool is_sum_too_large(const struct heap_profile *profile)
{
    for (enum weight weight = 0; weight < WEIGHT_MAX; weight++)
        if (profile->total[weight].bytes == UINT64_MAX)
            return true;
    return false;
}

START_TEST(trees_have_what_the_stacks_have)
{
    struct made made;

    for (int lines = 0; lines < 2; lines++) {
        begin(&made, golden_models[_i], lines);
        heap_profile_check(&made.profile);
        for (enum weight weight = 0; weight < WEIGHT_MAX && !is_sum_too_large(&made.profile);
             weight++)
            for (int inverted = 0; inverted < 2; inverted++) {
                struct call_tree tree = call_tree_begin(&made.profile, weight, inverted);

                call_tree_check(&tree);
                ck_assert_uint_eq(tree.nodes[0].all.bytes, made.profile.total[weight].bytes);
                ck_assert_uint_eq(tree.nodes[0].all.blocks, made.profile.total[weight].blocks);
                call_tree_end(&tree);
            }
        end(&made);
    }
}
END_TEST

static const struct call_node *call_named(const struct call_tree *tree, uint32_t up,
                                          const char *name)
{
    for (uint32_t at = tree->nodes[up].first; at; at = tree->nodes[at].next) {
        char buffer[FRAME_NAME_SIZE];

        if (strcmp(call_node_name(&tree->nodes[at], buffer), name) == 0)
            return &tree->nodes[at];
    }
    return NULL;
}

START_TEST(a_tree_begins_at_main_or_at_the_allocation)
{
    struct made made;
    struct call_tree down, up;
    const struct call_node *node;

    begin(&made, "small", false);
    down = call_tree_begin(&made.profile, WEIGHT_LIVE, false);
    up = call_tree_begin(&made.profile, WEIGHT_LIVE, true);
    node = call_named(&down, 0, "main");
    ck_assert(!call_named(&down, 0, "__libc_start_main"));
    ck_assert(node && node->all.bytes == 4048 && node->own.bytes == 0);
    ck_assert(!call_named(&down, 0, "shelf::make<Book>(int)"));
    node = call_named(&up, 0, "shelf::make<Book>(int)");
    ck_assert(node && node->all.bytes == 4000 && node->all.blocks == 1000);
    ck_assert(!call_named(&up, 0, "main") && !call_named(&up, 0, "operator new(unsigned long)"));
    call_tree_end(&down);
    call_tree_end(&up);
    end(&made);
}
END_TEST

START_TEST(the_largest_call_is_the_first)
{
    struct made made;
    struct call_tree tree;

    begin(&made, "looked", false);
    tree = call_tree_begin(&made.profile, WEIGHT_LIVE, true);
    for (uint32_t at = tree.nodes[0].first; at; at = tree.nodes[at].next)
        if (tree.nodes[at].next)
            ck_assert(tree.nodes[at].all.bytes >= tree.nodes[tree.nodes[at].next].all.bytes);
    call_tree_end(&tree);
    end(&made);
}
END_TEST

START_TEST(processes_are_kept_apart)
{
    struct made made;
    struct call_tree tree;
    uint64_t sum = 0;

    begin(&made, "tree", false);
    ck_assert(made.profile.many);
    tree = call_tree_begin(&made.profile, WEIGHT_LIVE, false);
    for (uint32_t at = tree.nodes[0].first; at; at = tree.nodes[at].next) {
        ck_assert(tree.nodes[at].process != NULL);
        sum += tree.nodes[at].all.bytes;
    }
    ck_assert_uint_eq(sum, tree.nodes[0].all.bytes);
    call_tree_end(&tree);
    end(&made);
}
END_TEST

START_TEST(the_peak_is_whole)
{
    struct made made;

    begin(&made, "growing", false);
    ck_assert_uint_eq(made.profile.total[WEIGHT_PEAK].bytes, made.report.processes[0].peak.bytes);
    ck_assert_uint_ne(made.profile.total[WEIGHT_PEAK].bytes, 0);
    end(&made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile");
    TCase *trees = tcase_create("trees");

    tcase_add_loop_test(trees, trees_have_what_the_stacks_have, 0, GOLDEN_MODELS);
    tcase_add_test(trees, a_tree_begins_at_main_or_at_the_allocation);
    tcase_add_test(trees, the_largest_call_is_the_first);
    tcase_add_test(trees, processes_are_kept_apart);
    tcase_add_test(trees, the_peak_is_whole);
    suite_add_tcase(suite, trees);
    return suite_run(suite);
}
