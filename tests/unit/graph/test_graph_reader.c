/* test_graph_reader.c - graph files as they should be, cut off, damaged, and made up by somebody who knows
 * the checksums. Run it under AddressSanitizer, too: SAN=address,undefined.
 *
 * FORGERIES in the environment: how many made-up files (2000).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/analyze/components.h"
#include "graph/analyze/dominators.h"
#include "graph/analyze/duplicates.h"
#include "graph/heap/graph_reader.h"
#include "graph/analyze/root_paths.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/suite.h"
#include "tests/unit/size.h"

static char path[] = "/tmp/libleak-graph-XXXXXX";

static enum graph_error read_back(const struct bytes *bytes, struct heap_graph *graph)
{
    bytes_write(bytes, path);
    return graph_reader_open(path, graph);
}

static void check_same(const struct model *model, const struct heap_graph *graph)
{
    uint32_t edge = 0;

    ck_assert_uint_eq(graph->blocks, model->blocks);
    ck_assert_uint_eq(graph->edges, model->edges);
    ck_assert_uint_eq(graph->roots, model->roots);
    for (uint32_t i = 0; i < model->blocks; i++) {
        const struct graph_block *read = &graph->block[i];
        const struct model_block *block = &model->block[i];

        ck_assert_uint_eq(read->address, block->address);
        ck_assert_uint_eq(read->size, block->size);
        ck_assert_uint_eq(read->word, block->word);
        ck_assert_uint_eq(read->site, block->site);
        ck_assert_uint_eq(read->tick, block->tick);
        ck_assert_uint_eq(read->count, block->count);
        ck_assert_uint_eq(read->verdict, block->verdict);
        ck_assert_uint_eq(read->thread, block->thread);
        ck_assert_uint_eq(read->kind, block->kind);
        for (uint32_t k = graph->first[i]; k < graph->first[i + 1]; k++, edge++) {
            ck_assert_uint_eq(model->edge[edge].from, i);
            ck_assert_uint_eq(model->edge[edge].to, graph->edge[k].to);
            ck_assert_uint_eq(model->edge[edge].at, graph->edge[k].at);
            ck_assert_uint_eq(model->edge[edge].offset, heap_graph_edge_offset(graph, k));
        }
    }
    for (uint32_t i = 0; i < model->blocks && graph->content; i++)
        ck_assert_uint_eq(graph->content[i], model->block[i].content);
    for (uint32_t i = 0; i < model->roots; i++) {
        ck_assert_uint_eq(graph->root[i].to, model->root[i].to);
        ck_assert_uint_eq(graph->root[i].address, model->root[i].address);
    }
    ck_assert_uint_eq(graph->sites, 4);
    ck_assert_uint_eq(graph->store.sites[3].node, LEAK_NODE_FIRST + 3);
    ck_assert_uint_eq(graph->store.nodes[LEAK_NODE_FIRST + 3].parent, LEAK_NODE_FIRST + 2);
}

START_TEST(what_was_written_is_read_whatever_the_size_of_chunks)
{
    static const size_t chunks[] = {1, 7, 100, 1000000};
    struct model model;
    struct heap_graph graph;

    for (uint64_t seed = 0; seed < unit_size(500); seed++)
        for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++) {
            struct bytes bytes;

            model_make(&model, seed, MODEL_BLOCKS);
            bytes = model_file(&model, chunks[i], LEAK_GRAPH_VERSION);
            ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_NONE);
            check_same(&model, &graph);
            ck_assert_uint_eq(graph.samples, 1);
            ck_assert_uint_eq(graph.sample->number, 7);
            ck_assert_str_eq(graph.sample->bytes, MODEL_SAMPLE);
            heap_graph_end(&graph);
            free(bytes.at);
        }
}
END_TEST

START_TEST(files_of_version_1_are_read_and_have_no_contents)
{
    struct model model;
    struct heap_graph graph;

    for (uint64_t seed = 0; seed < 100; seed++) {
        struct bytes bytes;

        model_make(&model, seed, MODEL_BLOCKS);
        bytes = model_file(&model, 40, 1);
        ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_NONE);
        check_same(&model, &graph);
        ck_assert_ptr_null(graph.content);
        ck_assert_uint_eq(graph.samples, 0);
        heap_graph_end(&graph);
        bytes.at[8] = LEAK_GRAPH_VERSION; /* its END would be a section CONTENT */
        ck_assert_int_ne(read_back(&bytes, &graph), GRAPH_ERROR_NONE);
        free(bytes.at);
    }
}
END_TEST

START_TEST(every_changed_byte_is_noticed)
{
    struct model model;
    struct heap_graph graph;
    struct bytes bytes;

    model_make(&model, 5, MODEL_BLOCKS);
    bytes = model_file(&model, 100, LEAK_GRAPH_VERSION);
    for (size_t i = 0; i < bytes.count; i += unit_step())
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes.at[i] ^= (uint8_t)(1u << bit);
            ck_assert_msg(read_back(&bytes, &graph) != GRAPH_ERROR_NONE, "byte %zu bit %u", i, bit);
            bytes.at[i] ^= (uint8_t)(1u << bit);
        }
    ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_NONE);
    heap_graph_end(&graph);
    free(bytes.at);
}
END_TEST

START_TEST(every_file_that_is_cut_off_is_refused)
{
    struct model model;
    struct heap_graph graph;
    struct bytes bytes;

    model_make(&model, 5, MODEL_BLOCKS);
    bytes = model_file(&model, 100, LEAK_GRAPH_VERSION);
    for (size_t whole = bytes.count; bytes.count-- > 0; bytes.count -= bytes.count % unit_step()) {
        enum graph_error error = read_back(&bytes, &graph);

        ck_assert_msg(error == GRAPH_ERROR_INCOMPLETE || error == GRAPH_ERROR_NOT_A_GRAPH,
                      "%zu of %zu bytes: %s", bytes.count, whole, graph_reader_words(error));
    }
    free(bytes.at);
}
END_TEST

/* Whatever was accepted can be worked with. */
static void use(struct heap_graph *graph)
{
    struct dominators dominators = dominators_find(graph);
    struct root_tree tree = root_tree_find(graph);
    struct components components = components_find(graph, NULL);
    struct duplicates duplicates = {0};
    const char *broken = "";

    ck_assert_msg(dominators_check(graph, &dominators, &broken), "%s", broken);
    for (uint32_t i = 0; i < graph->blocks; i++)
        ck_assert_uint_ne(heap_graph_find(graph, graph->block[i].address), GRAPH_NONE);
    for (uint32_t i = 0; i < graph->edges; i++)
        heap_graph_edge_offset(graph, i);
    if (graph->content)
        duplicates = duplicates_find(graph);
    for (uint32_t i = 0; i < duplicates.count; i++)
        duplicates_sample(graph, duplicates.set[i].content);
    duplicates_end(&duplicates);
    components_end(&components);
    root_tree_end(&tree);
    dominators_end(&dominators);
}

START_TEST(made_up_files_with_right_checksums_do_no_harm)
{
    const char *given = getenv("FORGERIES");
    uint64_t runs = given ? strtoull(given, NULL, 10) : unit_size(2000), state = 1, accepted = 0;

    for (uint64_t run = 0; run < runs; run++) {
        struct model model;
        struct heap_graph graph;
        struct bytes bytes;

        model_make(&model, run % 50, MODEL_BLOCKS);
        bytes = model_file(&model, run % 2 ? 40 : 100000, 1 + run % 3 % 2);
        for (uint32_t i = 1 + model_random(&state, 4); i > 0; i--) {
            uint32_t at = 16 + model_random(&state, (uint32_t)bytes.count - 16);

            bytes.at[at] =
                (uint8_t)(model_random(&state, 2) ? model_random(&state, 256) : bytes.at[at] + 1u);
        }
        bytes_sign(&bytes);
        if (read_back(&bytes, &graph) == GRAPH_ERROR_NONE) {
            use(&graph);
            heap_graph_end(&graph);
            accepted++;
        }
        free(bytes.at);
    }
    ck_assert_uint_gt(accepted,
                      0); /* else the damage is too coarse to test what follows the sums */
}
END_TEST

/* Pointers may lead to any block that INFO promises: so END has to agree. */
START_TEST(more_or_fewer_blocks_than_promised_are_refused)
{
    const size_t promised = sizeof(struct leak_graph_head) + sizeof(struct leak_graph_chunk) + 9;
    struct model model;
    struct heap_graph graph;
    struct bytes bytes;

    model_make(&model, 7, MODEL_BLOCKS);
    bytes = model_file(&model, 100, LEAK_GRAPH_VERSION);
    ck_assert_uint_eq(bytes.at[promised], model.blocks);
    for (int change = -1; change <= 1; change++) {
        bytes.at[promised] = (uint8_t)((int)model.blocks + change);
        bytes_sign(&bytes);
        ck_assert_int_eq(read_back(&bytes, &graph),
                         change ? GRAPH_ERROR_DAMAGED : GRAPH_ERROR_NONE);
        if (!change)
            heap_graph_end(&graph);
    }
    free(bytes.at);
}
END_TEST

START_TEST(other_files_are_named_for_what_they_are)
{
    struct heap_graph graph;
    uint64_t recording[512] = {LEAK_STORE_MAGIC}, other[512] = {1};
    struct leak_graph_head newer = {LEAK_GRAPH_MAGIC, LEAK_GRAPH_VERSION + 1, sizeof(newer)};
    struct bytes bytes = {(uint8_t *)recording, sizeof(recording), 0};

    ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_IS_RECORDING);
    bytes.at = (uint8_t *)other;
    ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_NOT_A_GRAPH);
    bytes = (struct bytes){(uint8_t *)&newer, sizeof(newer), 0};
    ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_VERSION);
    bytes.count = 0;
    ck_assert_int_eq(read_back(&bytes, &graph), GRAPH_ERROR_NOT_A_GRAPH);
    ck_assert_int_eq(graph_reader_open("/nowhere/x", &graph), GRAPH_ERROR_OPEN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_reader");
    TCase *tests = tcase_create("files");
    int descriptor = mkstemp(path), status;

    close(descriptor);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, what_was_written_is_read_whatever_the_size_of_chunks);
    tcase_add_test(tests, files_of_version_1_are_read_and_have_no_contents);
    tcase_add_test(tests, every_changed_byte_is_noticed);
    tcase_add_test(tests, every_file_that_is_cut_off_is_refused);
    tcase_add_test(tests, made_up_files_with_right_checksums_do_no_harm);
    tcase_add_test(tests, more_or_fewer_blocks_than_promised_are_refused);
    tcase_add_test(tests, other_files_are_named_for_what_they_are);
    suite_add_tcase(suite, tests);
    status = suite_run(suite);
    unlink(path);
    return status;
}
