/* test_pointer_scan.c - blocks that are read before marking and blocks that are read in their turn
 * give the same result: small blocks and large ones, pointers to starts and interior pointers, with
 * enough memory and without.
 */
#include "preload/mark/mark_passes.h"
#include "tests/unit/preload/one_heap.h"
#include "tests/unit/size.h"

#define SMALL 4096       /* bytes of the largest block that is read beforehand … */
#define LARGE (4096 + 8) /* … and of one that is not */

static void expect_parent(uint64_t offset, uint64_t parent, uint64_t word)
{
    uint64_t got = UINT64_MAX;
    expect(offset, REACHABLE, 0);
    ck_assert_uint_eq(reach_parent(reach, node(offset), &got), node(parent));
    ck_assert_uint_eq(got, word);
    ck_assert_uint_eq(reach_parent(reach, node(offset), NULL), node(parent));
}

static const uint64_t sizes[] = {64, SMALL, LARGE};

START_TEST(the_first_pointer_to_a_block_is_reported)
{
    add(0, sizes[_i]);
    add(MIB, 64);
    add(2 * MIB, 64);
    *at(16) = buffer + 2 * MIB;
    *at(24) = buffer + MIB;
    *at(32) = buffer + MIB;
    *at(40) = buffer + 2 * MIB;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, 24);
    expect_parent(2 * MIB, 0, 16);
}
END_TEST

START_TEST(the_last_word_of_a_block_counts_and_what_is_behind_it_does_not)
{
    add(0, sizes[_i]);
    add(MIB, 64);
    add(2 * MIB, 64);
    *at(sizes[_i] - 8) = buffer + MIB;
    *at(sizes[_i]) = buffer + 2 * MIB;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, sizes[_i] - 8);
    expect(2 * MIB, LOST, 0);
}
END_TEST

START_TEST(one_word_that_points_inside_takes_nothing_from_the_others)
{
    for (int i = 0; i < 4; i++)
        add(i * MIB, i ? 64 : sizes[_i]);
    *at(0) = buffer + MIB;
    *at(8) = buffer + 2 * MIB;
    *at(16) = buffer + 3 * MIB + 32;
    *at(24) = buffer + 2 * MIB;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, 0);
    expect_parent(2 * MIB, 0, 8);
    expect(3 * MIB, POSSIBLE, 0);
}
END_TEST

START_TEST(a_start_that_is_met_behind_a_pointer_inside_is_the_way)
{
    add(0, sizes[_i]);
    add(MIB, 64);
    *at(0) = buffer + MIB + 32;
    *at(48) = buffer + MIB;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, 48);
}
END_TEST

START_TEST(a_block_that_points_to_itself_leads_on_to_the_others_and_holds_not_itself)
{
    for (int i = 0; i < 3; i++)
        add(i * MIB, i ? 64 : sizes[_i]);
    *at(0) = buffer;
    *at(8) = buffer + 24;
    *at(16) = buffer + MIB;
    *at(2 * MIB) = *at(2 * MIB + 8) = buffer + 2 * MIB;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, 16);
    expect(2 * MIB, LOST, 0);
}
END_TEST

/* Pointers between blocks, to free memory, and to an address where no block can be. */
START_TEST(what_leads_nowhere_hides_nothing)
{
    add(0, sizes[_i]);
    add(MIB, 64);
    *at(0) = buffer + MIB - 4096;
    *at(8) = 1;
    *at(16) = UINTPTR_MAX;
    *at(24) = buffer + MIB;
    *at(32) = buffer + MIB + 65;
    root(buffer);
    mark_heap();
    expect_parent(MIB, 0, 24);
}
END_TEST

START_TEST(a_block_of_nothing_but_pointers_leads_to_all_of_them)
{
    uint32_t words = sizes[_i] / 8;
    uint64_t offset;
    reach = reach_begin(words + 1, UINT64_MAX);
    for (uint32_t i = 0; i <= words; i++) {
        struct block block = {.address = i ? buffer + MIB + 64 * i : buffer,
                              .size = i ? 48 : sizes[_i]};
        if (i)
            *at(8 * (words - i)) = block.address;
        reach_add_block(reach, &block, REACH_NEW);
    }
    ck_assert(reach_build_index(reach));
    root(buffer);
    reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + 1), 0, REACH_ROOT_DATA);
    ck_assert(reach_mark(reach, &codes, NULL));
    ck_assert_uint_eq(reach_marked_count(reach), words + 1);
    for (uint32_t i = 1; i <= words; i++) {
        ck_assert_uint_eq(reach_marked(reach, i), words + 1 - i); /* in the order of the words */
        ck_assert_uint_eq(reach_parent(reach, i, &offset), 0);
        ck_assert_uint_eq(offset, 8 * (words - i));
    }
}
END_TEST

#define ARENA(i) (8192ull * (i))

static const struct {
    int arenas;
    bool read;
} heaps[] = {{40, true}, {1000, false}};

/* Each arena is full of pointers into others; it leads to the next one, and to a small block. */
static void add_arenas(int count)
{
    for (int i = 0; i < count; i++) {
        add(ARENA(i), 4088);
        add(ARENA(i) + 4096, 64);
        for (int word = 0; word < 300; word++)
            at(ARENA(i))[word] = buffer + ARENA((i + 7 * word + 1) % count) + 8 * word + 8;
        at(ARENA(i))[400] = buffer + ARENA(i) + 4096;
        at(ARENA(i))[401] = i + 1 < count ? buffer + ARENA(i + 1) : 0;
    }
    root(buffer);
}

/* If most large blocks are like that, no large block is read beforehand; small ones still are. */
START_TEST(arenas_are_left_to_marking)
{
    int count = heaps[_i].arenas;
    uint32_t leads;
    add_arenas(count);
    add(ARENA(count), 4088);
    reach = reach_begin(block_count, UINT64_MAX);
    for (int i = 0; i < block_count; i++)
        reach_add_block(reach, &blocks[i], REACH_NEW);
    ck_assert(reach_build_index(reach));
    struct pointer_filter is = pointer_filter_make(reach->low, reach->span, 0, 0);
    pointer_scan_run(reach, &is);
    ck_assert(!pointer_scan_targets(reach, node(ARENA(0)), &leads));
    ck_assert(pointer_scan_targets(reach, node(ARENA(count - 1) + 4096), &leads));
    ck_assert(pointer_scan_targets(reach, node(ARENA(count)), &leads) == heaps[_i].read);
    pointer_scan_end(reach);
    reach_end(reach);
}
END_TEST

START_TEST(what_arenas_lead_to_is_found)
{
    add_arenas(heaps[_i].arenas);
    mark_heap();
    expect(ARENA(0), REACHABLE, 0);
    for (int i = 0; i < heaps[_i].arenas; i++) {
        expect_parent(ARENA(i) + 4096, ARENA(i), 8 * 400);
        if (i)
            expect_parent(ARENA(i), ARENA(i - 1), 8 * 401);
    }
}
END_TEST

#define MANY_BLOCKS 20000

/* Each has four words: three pointers to any blocks, a few of them interior, and a number. */
static bool mark_many(uint64_t most)
{
    uint64_t state = 11;
    reach = reach_begin(MANY_BLOCKS, most);
    for (uint32_t i = 0; reach && i < MANY_BLOCKS; i++) {
        uintptr_t *words = at(64ull * i);
        for (int k = 0; k < 3; k++)
            words[k] = buffer + 64 * (unit_random(&state) % MANY_BLOCKS) +
                       (unit_random(&state) % 50 ? 0 : 8);
        words[3] = i;
        reach_add_block(reach, &(struct block){.address = (uintptr_t)words, .size = 32}, REACH_NEW);
    }
    bool good = reach && reach_build_index(reach);
    if (good)
        reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + 1), 0, REACH_ROOT_DATA);
    if (good && reach_mark(reach, &codes, NULL))
        return true;
    if (reach)
        reach_end(reach);
    return false;
}

START_TEST(where_memory_is_short_the_verdicts_and_the_ways_are_the_same)
{
    static uint8_t verdict[MANY_BLOCKS];
    static uint32_t parent[MANY_BLOCKS];
    static uint64_t offset[MANY_BLOCKS];
    unsigned good = 0, bad = 0;
    root(buffer);
    ck_assert(mark_many(UINT64_MAX));
    for (uint32_t i = 0; i < MANY_BLOCKS; i++) {
        verdict[i] = reach_verdict(reach, i);
        parent[i] = reach_parent(reach, i, &offset[i]);
    }
    reach_end(reach);
    for (uint64_t most = MIB / 4; most < 16 * MIB; most += MIB / 4) {
        if (!mark_many(most)) {
            bad++;
            continue;
        }
        good++;
        for (uint32_t i = 0; i < MANY_BLOCKS; i++) {
            uint64_t there = offset[i];
            ck_assert_uint_eq(reach_verdict(reach, i), verdict[i]);
            ck_assert_uint_eq(reach_parent(reach, i, &there), parent[i]);
            ck_assert_uint_eq(there, offset[i]);
        }
        reach_end(reach);
    }
    ck_assert_uint_gt(good, 10);
    ck_assert_uint_gt(bad, 2);
}
END_TEST

/* ---- Dense graphs ---------------------------------------------------------------------------- */

#define DENSE_MOST 300
#define DENSE_STRIDE 512
#define DENSE_GRAPHS 2000

static uint64_t dense_size[DENSE_MOST];
static enum leak_verdict dense_verdict[DENSE_MOST];

/* Up to 60 words a block: more edges than blocks, so the arrays of edges grow while the heap is marked. */
static void make_dense(uint64_t *state)
{
    block_count = 1 + (int)(unit_random(state) % DENSE_MOST);
    unsigned pointers = 1 + unit_random(state) % 8, inside = 1 + unit_random(state) % 32;
    for (int i = 0; i < block_count; i++) {
        dense_size[i] = 8 * (1 + unit_random(state) % 60);
        blocks[i] = (struct block){.address = buffer + DENSE_STRIDE * i, .size = dense_size[i]};
        for (uint64_t word = 0; word < dense_size[i] / 8; word++) {
            uint64_t to = unit_random(state) % block_count;
            bool interior = unit_random(state) % inside == 0 && dense_size[to] > 40;
            bool is_pointer = unit_random(state) % 8 < pointers && (to % 7 || word == 3);
            at(DENSE_STRIDE * i)[word] =
                is_pointer ? buffer + DENSE_STRIDE * to + (interior ? 40 : 0) : word;
        }
    }
    for (root_count = 0; root_count < 2; root_count++)
        roots[root_count] = buffer + DENSE_STRIDE * (unit_random(state) % block_count);
}

/* A word's block, if the word holds it as wanted; -1: it does not. */
static int dense_target(uintptr_t word, enum leak_verdict verdict)
{
    uint64_t i = (word - buffer) / DENSE_STRIDE, offset = (word - buffer) % DENSE_STRIDE;
    bool is_held = i < (uint64_t)block_count && offset <= dense_size[i] &&
                   (offset == 0 || verdict == POSSIBLE);
    return is_held ? (int)i : -1;
}

/* Reads every word of every held block until nothing changes. */
static void spread_dense(enum leak_verdict verdict)
{
    for (bool more = true; more;) {
        more = false;
        for (int from = -1; from < block_count; from++) {
            const uintptr_t *words = from < 0 ? roots : at(DENSE_STRIDE * from);
            uint64_t count = from < 0 ? (uint64_t)root_count : dense_size[from] / 8;
            for (uint64_t k = 0; k < count && (from < 0 || dense_verdict[from]); k++) {
                int to = dense_target(words[k], verdict);
                if (to < 0 || dense_verdict[to])
                    continue;
                dense_verdict[to] = verdict;
                more = true;
            }
        }
    }
}

START_TEST(dense_graphs_are_judged_as_by_a_marker_that_reads_every_word)
{
    uint64_t state = unit_seed, seen[LEAK_VERDICT_MAX] = {0};
    for (int graph = 0; graph < (int)unit_size(DENSE_GRAPHS); graph++) {
        make_dense(&state);
        mark_heap();
        memset(dense_verdict, 0, sizeof dense_verdict);
        spread_dense(REACHABLE);
        spread_dense(POSSIBLE);
        for (int i = 0; i < block_count; i++) {
            enum leak_verdict wanted = dense_verdict[i] ? dense_verdict[i] : LOST;
            ck_assert_msg(reach_verdict(reach, i) == wanted,
                          "graph %d, block %d of %d: %s, wanted %s (SEED=%" PRIu64 ")", graph, i,
                          block_count, verdict_name(reach_verdict(reach, i)), verdict_name(wanted),
                          unit_seed);
            seen[wanted]++;
        }
        reach_end(reach);
    }
    ck_assert_uint_gt(seen[LOST], unit_size(10000));
    ck_assert_uint_gt(seen[POSSIBLE], unit_size(1000));
    ck_assert_uint_gt(seen[REACHABLE], unit_size(10000));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("pointer_scan");
    TCase *t = part(suite, "leads");
    tcase_add_loop_test(t, the_first_pointer_to_a_block_is_reported, 0, 3);
    tcase_add_loop_test(t, arenas_are_left_to_marking, 0, ARRAY_LENGTH(heaps));
    tcase_add_loop_test(t, what_arenas_lead_to_is_found, 0, ARRAY_LENGTH(heaps));
    tcase_add_loop_test(t, the_last_word_of_a_block_counts_and_what_is_behind_it_does_not, 0, 3);
    tcase_add_loop_test(t, one_word_that_points_inside_takes_nothing_from_the_others, 0, 3);
    tcase_add_loop_test(t, a_start_that_is_met_behind_a_pointer_inside_is_the_way, 0, 3);
    tcase_add_loop_test(
        t, a_block_that_points_to_itself_leads_on_to_the_others_and_holds_not_itself, 0, 3);
    tcase_add_loop_test(t, what_leads_nowhere_hides_nothing, 0, 3);
    tcase_add_loop_test(t, a_block_of_nothing_but_pointers_leads_to_all_of_them, 0, 3);
    tcase_add_test(t, where_memory_is_short_the_verdicts_and_the_ways_are_the_same);
    tcase_add_test(t, dense_graphs_are_judged_as_by_a_marker_that_reads_every_word);
    return unit_main(argc, argv, suite);
}
