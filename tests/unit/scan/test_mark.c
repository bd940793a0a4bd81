/* test_mark.c - heap, marking and what is lost, on heaps that the tests build. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "scan/leakcheck/lost_graph.h"
#include "scan/heap/mapped_chunks.h"
#include "tests/unit/scan/heap.h"
#include "tests/unit/suite.h"

static struct heap heap;
static struct glibc_heap found;
static struct roots roots;
static struct marking marking;
static struct lost_graph graph;

static void setup(void)
{
    heap_begin(&heap);
}

static void setup_32(void)
{
    heap_begin_32(&heap);
}

static void scan(const struct earlier_verdicts *earlier)
{
    const char *trouble = NULL;

    ck_assert_msg(glibc_heap_read(&found, &heap.objects, &trouble), "%s", trouble);
    ck_assert(heap_map_check(&found.chunks));
    ck_assert(image_check(&heap.image));
    roots_find(&roots, &heap.image, &heap.objects, &found);
    ck_assert(mark_run(&marking, &heap.objects, &found, &roots, earlier));
    ck_assert(lost_graph_build(&graph, &marking));
}

static void teardown(void)
{
    lost_graph_end(&graph);
    mark_end(&marking);
    roots_end(&roots);
    glibc_heap_end(&found);
    memset(&graph, 0, sizeof(graph));
    memset(&marking, 0, sizeof(marking));
    memset(&roots, 0, sizeof(roots));
    memset(&found, 0, sizeof(found));
    heap_end(&heap);
}

static enum verdict verdict_of(uint64_t block)
{
    uint32_t number = heap_map_at(&found.chunks, block - 2 * heap.word);

    ck_assert_uint_ne(number, CHUNK_NONE);
    return (enum verdict)marking.verdict[number];
}

static enum chunk_state state_of(uint64_t block)
{
    uint32_t number = heap_map_at(&found.chunks, block - 2 * heap.word);

    ck_assert_uint_ne(number, CHUNK_NONE);
    return chunk_state(&found.chunks.chunk[number]);
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

START_TEST(pointers_from_variables_stacks_and_registers_hold_blocks_and_dead_stacks_do_not)
{
    uint64_t global = heap_add(&heap, 40), local = heap_add(&heap, 40), dead = heap_add(&heap, 40),
             in_register = heap_add(&heap, 40), next = heap_add(&heap, 40);

    heap_put(&heap, HEAP_GLOBAL, global);
    heap_put(&heap, HEAP_LOCAL, local);
    heap_put(&heap, HEAP_DEAD, dead);
    heap_put(&heap, global, next);
    heap.thread->words = &in_register;
    heap.thread->word_count = 1;
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(global), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(local), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(in_register), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(next), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(dead), VERDICT_LOST);
}
END_TEST

static const struct inside_row {
    uint64_t offset;
    enum verdict verdict;
} inside_rows[] = {
    {0, VERDICT_REACHABLE}, {1, VERDICT_POSSIBLE},  {16, VERDICT_POSSIBLE},
    {87, VERDICT_POSSIBLE}, {88, VERDICT_POSSIBLE}, {89, VERDICT_LOST},
};

START_TEST(an_inside_pointer_holds_possibly_and_one_behind_the_next_byte_not_at_all)
{
    const struct inside_row *row = &inside_rows[_i];
    uint64_t block = heap_add(&heap, 88), below = heap_add(&heap, 88);

    memset(heap.bytes + (block - HEAP_START), 0xee, 88);
    heap_put(&heap, block + 80, below);
    heap_put(&heap, HEAP_LOCAL, block + row->offset);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(block), row->verdict);
    ck_assert_int_eq(verdict_of(below),
                     row->verdict == VERDICT_LOST ? VERDICT_INDIRECT : row->verdict);
}
END_TEST

START_TEST(the_stacks_of_two_threads_in_one_mapping_are_told_apart)
{
    struct image_thread *upper;
    uint64_t block[4], place[] = {HEAP_STACK + 0x100, HEAP_STACK + 0x900, HEAP_STACK + 0x1100,
                                  HEAP_STACK + 0x1900};

    heap.image.main_stack = 0;
    heap.thread->tls = HEAP_STACK + 0xe00; /* sp: 0x800 */
    upper = image_add_thread(&heap.image, 2);
    upper->sp = HEAP_STACK + 0x1800;
    upper->tls = HEAP_STACK + 0x1e00;
    for (int i = 0; i < 4; i++) {
        block[i] = heap_add(&heap, 40);
        heap_put(&heap, place[i], block[i]);
    }
    heap_finish(&heap);
    scan(NULL);
    for (int i = 0; i < 4; i++) /* below the stack pointers, and above them */
        ck_assert_int_eq(verdict_of(block[i]), i % 2 ? VERDICT_REACHABLE : VERDICT_LOST);
}
END_TEST

START_TEST(in_the_data_of_libc_only_pointers_to_the_start_count)
{
    uint64_t start = heap_add(&heap, 88), inside = heap_add(&heap, 88);

    heap_put(&heap, HEAP_GLOBAL, start);
    heap_put(&heap, HEAP_GLOBAL + heap.word, inside + 16);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(start), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(inside), VERDICT_LOST);
}
END_TEST

START_TEST(an_encoded_pointer_holds_hidden)
{
    uint64_t block = heap_add(&heap, 88), below = heap_add(&heap, 88);
    uint64_t forms[] = {~block, block | 5, block | 0xabcdull << 48, block >> 3};

    heap_put(&heap, HEAP_LOCAL, forms[_i]);
    heap_put(&heap, block, below);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(block), _i == 1 ? VERDICT_POSSIBLE : VERDICT_HIDDEN);
    ck_assert_int_eq(verdict_of(below), verdict_of(block));
}
END_TEST

START_TEST(a_complement_of_32_bits_holds_hidden)
{
    uint64_t block = heap_add(&heap, 88), beside = heap_add(&heap, 88);

    heap_put(&heap, HEAP_LOCAL, ~block);
    heap_put(&heap, HEAP_LOCAL + 4, ~beside + 8);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(block), VERDICT_HIDDEN);
    ck_assert_int_eq(verdict_of(beside), VERDICT_LOST);
}
END_TEST

START_TEST(a_tagged_link_from_a_block_of_the_same_size_holds_and_others_possibly)
{
    uint64_t root = heap_add(&heap, 24), next = heap_add(&heap, 24), larger = heap_add(&heap, 40);

    heap_put(&heap, HEAP_LOCAL, root);
    heap_put(&heap, root + heap.word, next + 1);
    heap_put(&heap, root + 2 * heap.word, larger + 1);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(next), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(larger), VERDICT_POSSIBLE);
}
END_TEST

START_TEST(a_chunk_in_the_hand_of_malloc_is_held_and_in_that_of_a_waiting_thread_not)
{
    uint64_t block = heap_add(&heap, 40), chunk = block - 2 * heap.word;

    heap.thread->words = &chunk;
    heap.thread->word_count = 1;
    heap.thread->waits = _i;
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(block), _i ? VERDICT_LOST : VERDICT_REACHABLE);
}
END_TEST

START_TEST(a_cycle_has_one_lost_block_and_what_hangs_on_it_is_indirect)
{
    uint64_t one = heap_add(&heap, 40), two = heap_add(&heap, 40), leaf = heap_add(&heap, 40),
             self = heap_add(&heap, 40);

    heap_put(&heap, one, two);
    heap_put(&heap, two, one);
    heap_put(&heap, two + heap.word, leaf);
    heap_put(&heap, self, self);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(one), VERDICT_LOST);
    ck_assert_int_eq(verdict_of(two), VERDICT_INDIRECT);
    ck_assert_int_eq(verdict_of(leaf), VERDICT_INDIRECT);
    ck_assert_int_eq(verdict_of(self), VERDICT_LOST);
    ck_assert_uint_eq(graph.count, 4);
    ck_assert(graph.block[0].cycle);
    ck_assert(!graph.block[3].cycle);
    ck_assert_uint_eq(graph.block[0].retained_blocks, 3);
    ck_assert_uint_eq(graph.block[0].retained_bytes, 3 * (48 - heap.word));
}
END_TEST

/* one: its word points into two, and that of two into one, at these offsets in words */
static const struct {
    int two, one;
    bool cycle;
} interior_cycles[] = {{0, 0, true}, {0, 1, false}, {2, 2, true}, {1, 2, false}};

START_TEST(a_pointer_into_the_lost_block_closes_no_cycle_but_behind_equal_headers)
{
    uint64_t one = heap_add(&heap, 40), two = heap_add(&heap, 40);

    heap_put(&heap, one, two + interior_cycles[_i].two * heap.word);
    heap_put(&heap, two, one + interior_cycles[_i].one * heap.word);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(verdict_of(one), VERDICT_LOST);
    ck_assert_int_eq(verdict_of(two), VERDICT_INDIRECT);
    ck_assert(graph.block[0].cycle == interior_cycles[_i].cycle);
}
END_TEST

START_TEST(what_an_earlier_look_reached_is_not_lost_and_what_both_miss_is)
{
    uint64_t moved = heap_add(&heap, 40), below = heap_add(&heap, 40), lost = heap_add(&heap, 40);
    struct earlier_verdict known[] = {{lost, 48, VERDICT_MAX}};
    struct earlier_verdicts earlier = {.block = known, .count = 1};

    heap_put(&heap, moved, below);
    heap_finish(&heap);
    scan(&earlier);
    ck_assert_int_eq(verdict_of(moved), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(below), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(lost), VERDICT_LOST);
}
END_TEST

/* ---- Free chunks ----------------------------------------------------------------------------- */

START_TEST(chunks_in_caches_fast_bins_and_bins_are_free)
{
    uint64_t cached[] = {heap_add(&heap, 40), heap_add(&heap, 40), heap_add(&heap, 40)};
    uint64_t used = heap_add(&heap, 40);
    uint64_t fast[] = {heap_add(&heap, 24), heap_add(&heap, 24)}; /* of 32 bytes */
    uint64_t binned = heap_add_free(&heap, 2000), last = heap_add(&heap, 40);

    heap_cache(&heap, heap.word == 4 ? 2 : 1, cached, 3, _i);
    heap_fast(&heap, heap.word == 4 ? 2 : 0, fast, 2);
    heap_put(&heap, HEAP_LOCAL, last);
    heap_finish(&heap);
    scan(NULL);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(state_of(cached[i]), CHUNK_CACHED);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(state_of(fast[i]), CHUNK_FAST);
    ck_assert_int_eq(state_of(binned), CHUNK_FREE);
    ck_assert_int_eq(verdict_of(used), VERDICT_LOST);
    ck_assert_int_eq(verdict_of(last), VERDICT_REACHABLE);
    ck_assert_uint_eq(graph.count, 1);
    ck_assert_uint_eq(found.caches, 1);
    ck_assert(!found.lists_damaged);
    ck_assert_uint_eq(found.arenas[0].largest_hole, 2016);
}
END_TEST

/* One that counts wrongly, or holds a block of another size, is a block like others, and its blocks are lost. */
START_TEST(the_heap_of_glibc_2_43_is_read_and_a_cache_that_counts_wrongly_is_none)
{
    uint64_t cached[20], large[2], global, lost;

    heap_end(&heap);
    heap_begin_newer(&heap);
    global = heap_add(&heap, 40);
    lost = heap_add(&heap, 40);
    for (int i = 0; i < 20; i++)
        cached[i] = heap_add(&heap, 56);
    large[0] = heap_add(&heap, 4096);
    large[1] = heap_add(&heap, 8000);
    heap_cache(&heap, 2, cached, HEAP_CACHED, true);
    heap_cache(&heap, 66, large, 2, true); /* of 4,096 to 8,191 bytes */
    heap_put(&heap, HEAP_GLOBAL, global);
    if (_i == 1)
        heap.bytes[16 + 2 * 1] = HEAP_CACHED - 1; /* list 1 is empty */
    else if (_i == 2)
        heap_cache(&heap, 65, large, 2, true);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_uint_eq(found.arena_count, 1);
    ck_assert(!found.arenas[0].broken);
    ck_assert_uint_eq(found.caches, _i == 0);
    ck_assert_int_eq(verdict_of(global), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(lost), VERDICT_LOST);
    for (int i = 0; i < HEAP_CACHED; i++)
        ck_assert_int_eq(state_of(cached[i]), _i == 0 ? CHUNK_CACHED : CHUNK_USED);
    ck_assert_int_eq(state_of(cached[HEAP_CACHED]), CHUNK_USED);
    ck_assert_int_eq(state_of(large[1]), _i == 0 ? CHUNK_CACHED : CHUNK_USED);
}
END_TEST

START_TEST(a_block_of_a_caches_size_is_no_cache)
{
    uint64_t block = heap_add(&heap, 0x288), other = heap_add(&heap, 40);

    heap_put(&heap, block, 1);           /* one block counted in list 0, */
    heap_put(&heap, block + 128, other); /* and one of another size there */
    heap_put(&heap, HEAP_LOCAL, other);
    heap_finish(&heap);
    scan(NULL);
    ck_assert_int_eq(state_of(block), CHUNK_USED);
    ck_assert_int_eq(state_of(other), CHUNK_USED);
    ck_assert_int_eq(verdict_of(block), VERDICT_LOST);
}
END_TEST

/* As sbrk called by others leaves it: a fence, their memory, and a later part of the heap. */
START_TEST(a_heap_in_several_parts_is_found_and_what_lies_between_is_a_root)
{
    uint64_t before = heap_add(&heap, 40), lost = heap_add(&heap, 40), after, fence;

    for (int gap = 0; gap < 3; gap++) {
        fence = heap.next;
        heap_put(&heap, fence + heap.word, 2 * heap.word | 1);
        heap_put(&heap, fence + 3 * heap.word, 2 * heap.word | 1);
        heap.next += 0x1390; /* of others */
        heap.previous_in_use = 1;
        after = heap_add(&heap, 40);
        heap_add(&heap, 100);
        heap_put(&heap, fence + 0x800 + 0x10 * (uint64_t)gap, gap == 1 ? before : after);
    }
    heap_finish(&heap);
    scan(NULL);
    ck_assert(!found.arenas[0].broken);
    ck_assert_uint_eq(found.chunks.region_count, 4);
    ck_assert_int_eq(verdict_of(before), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(after), VERDICT_REACHABLE);
    ck_assert_int_eq(verdict_of(lost), VERDICT_LOST);
}
END_TEST

/* ---- Damage ---------------------------------------------------------------------------------- */

START_TEST(what_lies_behind_a_damaged_header_is_a_root)
{
    uint64_t before = heap_add(&heap, 40), damaged = heap_add(&heap, 40),
             behind = heap_add(&heap, 40);

    heap_put(&heap, behind, before);
    heap_put(&heap, damaged - 8, _i ? 0xffffffffffffff01 : 0x33);
    heap_finish(&heap);
    scan(NULL);
    /* Either the rest is walked from a later start, or all of it may hold pointers. */
    ck_assert_int_ne(heap_map_at(&found.chunks, before - 16) == CHUNK_NONE ? VERDICT_REACHABLE
                                                                           : verdict_of(before),
                     VERDICT_MAX);
    ck_assert(found.arenas[0].broken || heap_map_at(&found.chunks, damaged - 16) == CHUNK_NONE);
}
END_TEST

START_TEST(random_damage_is_survived)
{
    unsigned seed = 4711u + (unsigned)_i;
    uint64_t blocks[40];

    for (int i = 0; i < 40; i++)
        blocks[i] = rand_r(&seed) % 4 ? heap_add(&heap, rand_r(&seed) % 300u)
                                      : heap_add_free(&heap, rand_r(&seed) % 300u);
    heap_cache(&heap, 3, blocks + 3, 4, true);
    heap_finish(&heap);
    for (int i = 0; i < 20; i++) {
        uint64_t start = heap_address(&heap, HEAP_START),
                 at = start + rand_r(&seed) % (heap.next - start) / 8 * 8;

        heap_put(&heap, at, rand_r(&seed) % 2 ? (uint64_t)rand_r(&seed) % 4096 : blocks[i]);
    }
    scan(NULL);
}
END_TEST

START_TEST(without_the_shape_of_an_arena_there_is_no_heap)
{
    const char *trouble = NULL;

    heap_finish(&heap);
    if (_i == 0)
        heap_put(&heap, HEAP_ARENA + 112 + 16 * 126, 0); /* the last bin */
    else if (_i == 1)
        heap_put(&heap, HEAP_ARENA + 2160, HEAP_DATA); /* the ring */
    else
        heap_put(&heap, HEAP_ARENA + 96, 3); /* the top */
    ck_assert(!glibc_heap_read(&found, &heap.objects, &trouble));
    ck_assert_ptr_nonnull(trouble);
}
END_TEST

/* ---- Mapped chunks --------------------------------------------------------------------------- */

static const struct mapped_row {
    uint64_t address, words[2], size;
    unsigned word;
} mapped_rows[] = {
    {0x10000, {0, 0x2002}, 0x2000, 8},
    {0x10000, {0, 0x2003}, 0, 8},
    {0x10000, {0, 0x2006}, 0, 8},
    {0x10000, {0, 0x2012}, 0, 8},
    {0x10000, {0, 0x100002}, 0, 8},
    {0x10000, {8, 0x2002}, 0, 8},
    {0x10030, {0x30, 0x1fd2}, 0x1fd0, 8},
    {0x10030, {0x20, 0x1fd2}, 0, 8},
    {0x10000, {0, 2}, 0, 8},
    /* glibc 2.43: the size ends 16 bytes before the mapping does; 1: huge pages */
    {0x10000, {0, 0x1ff2}, 0x2000, 8},
    {0x10000, {1, 0x1ff2}, 0x2000, 8},
    {0x10000, {1, 0x2002}, 0, 8},
    {0x10030, {0x31, 0x1fc2}, 0x1fd0, 8},
    {0x10000, {0, 0x1fe2}, 0, 8},
    /* In a 32-bit program the first one stands 8 bytes behind the beginning. */
    {0x10008, {8, 0x1ffa}, 0x1ff8, 4},
    {0x10008, {0, 0x1ffa}, 0, 4},
    {0x10000, {0, 0x2002}, 0, 4},
    {0x10038, {0x38, 0x1fca}, 0x1fc8, 4},
    {0x10008, {8, 0x1ffa}, 0, 8},
};

START_TEST(a_mapped_chunk_is_known_by_its_header)
{
    const struct mapped_row *row = &mapped_rows[_i];
    const struct mapped_range range = {0x10000, 0x20000, row->word};
    uint64_t before;

    ck_assert_uint_eq(mapped_chunk_size(&range, row->address, row->words, &before), row->size);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scan");
    TCase *tcase = tcase_create("mark");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase,
                   pointers_from_variables_stacks_and_registers_hold_blocks_and_dead_stacks_do_not);
    tcase_add_loop_test(tcase,
                        an_inside_pointer_holds_possibly_and_one_behind_the_next_byte_not_at_all, 0,
                        ROWS(inside_rows));
    tcase_add_test(tcase, the_stacks_of_two_threads_in_one_mapping_are_told_apart);
    tcase_add_test(tcase, in_the_data_of_libc_only_pointers_to_the_start_count);
    tcase_add_loop_test(tcase, an_encoded_pointer_holds_hidden, 0, 4);
    tcase_add_test(tcase, a_tagged_link_from_a_block_of_the_same_size_holds_and_others_possibly);
    tcase_add_loop_test(
        tcase, a_chunk_in_the_hand_of_malloc_is_held_and_in_that_of_a_waiting_thread_not, 0, 2);
    tcase_add_test(tcase, a_cycle_has_one_lost_block_and_what_hangs_on_it_is_indirect);
    tcase_add_loop_test(tcase,
                        a_pointer_into_the_lost_block_closes_no_cycle_but_behind_equal_headers, 0,
                        ROWS(interior_cycles));
    tcase_add_test(tcase, what_an_earlier_look_reached_is_not_lost_and_what_both_miss_is);
    tcase_add_loop_test(tcase, chunks_in_caches_fast_bins_and_bins_are_free, 0, 2);
    tcase_add_loop_test(
        tcase, the_heap_of_glibc_2_43_is_read_and_a_cache_that_counts_wrongly_is_none, 0, 3);
    tcase_add_test(tcase, a_block_of_a_caches_size_is_no_cache);
    tcase_add_test(tcase, a_heap_in_several_parts_is_found_and_what_lies_between_is_a_root);
    tcase_add_loop_test(tcase, what_lies_behind_a_damaged_header_is_a_root, 0, 2);
    tcase_add_loop_test(tcase, random_damage_is_survived, 0, 200);
    tcase_add_loop_test(tcase, without_the_shape_of_an_arena_there_is_no_heap, 0, 3);
    tcase_add_loop_test(tcase, a_mapped_chunk_is_known_by_its_header, 0, ROWS(mapped_rows));
    suite_add_tcase(suite, tcase);

    tcase = tcase_create("mark, 32 bits");
    tcase_add_checked_fixture(tcase, setup_32, teardown);
    tcase_add_test(tcase,
                   pointers_from_variables_stacks_and_registers_hold_blocks_and_dead_stacks_do_not);
    tcase_add_test(tcase, in_the_data_of_libc_only_pointers_to_the_start_count);
    tcase_add_test(tcase, a_complement_of_32_bits_holds_hidden);
    tcase_add_test(tcase, a_tagged_link_from_a_block_of_the_same_size_holds_and_others_possibly);
    tcase_add_loop_test(
        tcase, a_chunk_in_the_hand_of_malloc_is_held_and_in_that_of_a_waiting_thread_not, 0, 2);
    tcase_add_test(tcase, a_cycle_has_one_lost_block_and_what_hangs_on_it_is_indirect);
    tcase_add_loop_test(tcase,
                        a_pointer_into_the_lost_block_closes_no_cycle_but_behind_equal_headers, 0,
                        ROWS(interior_cycles));
    tcase_add_test(tcase, what_an_earlier_look_reached_is_not_lost_and_what_both_miss_is);
    tcase_add_loop_test(tcase, chunks_in_caches_fast_bins_and_bins_are_free, 0, 2);
    tcase_add_test(tcase, a_heap_in_several_parts_is_found_and_what_lies_between_is_a_root);
    tcase_add_loop_test(tcase, random_damage_is_survived, 0, 200);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
