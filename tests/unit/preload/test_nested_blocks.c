/* test_nested_blocks.c - blocks inside blocks: which words belong to which, what a pointer refers
 * to, and what is left of an arena.
 */
#include "tests/unit/preload/unit.h"
#include "preload/heap/suballoc.h"
#include "preload/base/lock.h"
#include "preload/mark/nested_blocks.h"
#include "tests/unit/preload/one_heap.h"

#define G (&unit_guard)
#define ARENA 4096

/* Adds a block as a leak check does: trimmed by the nested blocks in the table. */
static void add_rest(struct block block, uint32_t pool)
{
    struct block rest = block;
    if (!nested_blocks_trim(&rest, pool))
        return;
    if (rest.address != block.address)
        nested_blocks_note_trimmed(reach, &rest, block.address, block.size);
    reach_add_block(reach, &rest, REACH_NEW);
}

static void carve(uint64_t offset, uint64_t size, uint32_t pool)
{
    struct block old, block = {.address = buffer + offset,
                               .size = size,
                               .site = 1000 + (uint32_t)offset,
                               .kind = LEAK_KIND_CUSTOM};
    suballoc_insert(G, &block, pool, &old);
}

/* start, end: memory of the program outside all blocks. */
static void mark_all(uintptr_t start, uintptr_t end, bool is_stack)
{
    struct suballoc_block it;
    reach = reach_begin(block_count + suballoc_count, UINT64_MAX);
    ck_assert_ptr_nonnull(reach);
    for (int i = 0; i < block_count; i++)
        add_rest(blocks[i], SUBALLOC_ANY_POOL);
    for (bool more = suballoc_first(0, 0, &it); more;
         more = suballoc_first(it.block.address, it.pool + 1, &it))
        add_rest(it.block, it.pool);
    ck_assert(reach_build_index(reach));
    reach_add_root(reach, (uintptr_t)roots, (uintptr_t)(roots + root_count), 77, REACH_ROOT_DATA);
    reach_add_root(reach, start, end, 78, is_stack ? REACH_ROOT_STACK : REACH_ROOT_DATA);
    ck_assert(reach_mark(reach, &codes, NULL));
}

static void mark_nested_heap(void)
{
    mark_all(0, 0, false);
}

static enum leak_verdict verdict(uint64_t offset)
{
    return reach_verdict(reach, node(offset));
}

START_TEST(a_word_of_a_carved_block_is_its_own)
{
    add(0, ARENA);
    carve(64, 32, 0);
    carve(128, 32, 0);
    add(ARENA, 16); /* a lost nested block points to it */
    add(2 * ARENA, 16); /* a word between them points to it */
    *at(64) = buffer + ARENA;
    *at(104) = buffer + 2 * ARENA;
    root(buffer);
    mark_nested_heap();
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(64), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(128), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(ARENA), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(2 * ARENA), LEAK_VERDICT_REACHABLE);
}
END_TEST

START_TEST(a_pointer_into_an_arena_means_the_block_there_or_the_arena)
{
    add(0, ARENA);
    carve(64, 32, 0);
    carve(128, 32, 0);
    root(buffer + 128);
    mark_nested_heap();
    ck_assert_int_eq(verdict(64), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(128), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_REACHABLE); /* one of its nested blocks lives */
    ck_assert_uint_eq(reach_find_node(reach, buffer + 70), node(64));
    ck_assert_uint_eq(reach_find_node(reach, buffer + 100), node(0));
    ck_assert_uint_eq(reach_find_node(reach, buffer + ARENA - 1), node(0));
    ck_assert_uint_eq(reach_find_node(reach, buffer + ARENA + 8), REACH_NONE);
}
END_TEST

START_TEST(a_pointer_between_two_blocks_is_one_to_the_arenas_inside)
{
    add(0, ARENA);
    carve(64, 32, 0);
    carve(256, 32, 0);
    root(buffer + 200);
    mark_nested_heap();
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_POSSIBLE);
    ck_assert_int_eq(verdict(64), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(256), LEAK_VERDICT_LOST);
}
END_TEST

START_TEST(an_arena_begins_behind_the_blocks_at_its_start)
{
    uintptr_t start;
    uint64_t size;
    add(0, ARENA);
    carve(0, 30, 0);
    carve(32, 64, 0);
    root(buffer);
    mark_nested_heap();
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_REACHABLE); /* the nested block */
    ck_assert_uint_eq(reach_size(reach, node(0)), 30);
    ck_assert_int_eq(verdict(32), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(96), LEAK_VERDICT_REACHABLE); /* the arena */
    ck_assert_uint_eq(reach_size(reach, node(96)), ARENA - 96);
    nested_blocks_original(reach, node(96), &start, &size);
    ck_assert_uint_eq(start, buffer);
    ck_assert_uint_eq(size, ARENA);
    nested_blocks_original(reach, node(32), &start, &size);
    ck_assert_uint_eq(start, buffer + 32);
}
END_TEST

START_TEST(an_arena_that_is_given_out_as_a_whole_is_still_there)
{
    uintptr_t start;
    uint64_t size;
    add(0, ARENA);
    carve(0, ARENA, 0);
    root(buffer);
    mark_nested_heap();
    ck_assert_uint_eq(reach_count(reach), 2);
    ck_assert_int_eq(reach_verdict(reach, 0), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(reach_verdict(reach, 1), LEAK_VERDICT_REACHABLE);
    nested_blocks_original(reach, 1, &start, &size);
    ck_assert_uint_eq(start, buffer);
}
END_TEST

START_TEST(blocks_in_blocks_in_blocks)
{
    add(0, ARENA);
    carve(512, 1024, 1);
    carve(512, 128, 0);
    carve(1024, 128, 0);
    add(ARENA, 16);
    *at(800) = buffer + ARENA; /* the pool's own word, between its two blocks */
    root(buffer + 1024);
    mark_nested_heap();
    ck_assert_int_eq(verdict(512), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(1024), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(640), LEAK_VERDICT_REACHABLE); /* the pool's node begins here */
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(ARENA), LEAK_VERDICT_REACHABLE);
    ck_assert_uint_eq(reach_find_node(reach, buffer + 1200), node(640));
    ck_assert_uint_eq(reach_find_node(reach, buffer + 1600), node(0));
}
END_TEST

START_TEST(roots_end_where_a_carved_block_begins)
{
    carve(8192, 64, 0);
    carve(8192 + 128, 64, 0);
    for (int i = 0; i < 5; i++)
        add(i * 64, 32);
    *at(8192) = buffer;                 /* in the first, */
    *at(8192 + 64) = buffer + 64;       /* between, */
    *at(8192 + 128) = buffer + 128;     /* in the second, */
    *at(8192 + 192) = buffer + 192;     /* behind */
    *at(8192 - 8) = buffer + 256;       /* and before them */
    mark_all(buffer + 4096, buffer + 16384, false);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(verdict(i * 64), i % 2 || i == 4 ? LEAK_VERDICT_REACHABLE
                                                          : LEAK_VERDICT_LOST);
}
END_TEST

/* _i: is it a stack? Only a stack inside a nested block is a root. */
START_TEST(a_piece_of_a_carved_block_is_a_root_as_a_stack_only)
{
    carve(8192, 4096, 0);
    add(0, 32);
    add(64, 32);
    *at(8192 + 1024) = buffer;
    *at(8192 + 512) = buffer + 64;
    mark_all(buffer + 8192 + 1000, buffer + 8192 + 4096, _i);
    ck_assert_int_eq(verdict(0), _i ? LEAK_VERDICT_REACHABLE : LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(64), LEAK_VERDICT_LOST);
}
END_TEST

START_TEST(what_ends_where_its_arena_ends_is_in_it)
{
    add(0, ARENA);
    add(ARENA, ARENA);
    carve(ARENA - 32, 32, 0);
    carve(ARENA, 32, 0);
    root(buffer + ARENA - 32);
    mark_nested_heap();
    ck_assert_int_eq(verdict(0), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(ARENA - 32), LEAK_VERDICT_REACHABLE);
    ck_assert_int_eq(verdict(ARENA), LEAK_VERDICT_LOST);
    ck_assert_int_eq(verdict(ARENA + 32), LEAK_VERDICT_LOST); /* the second arena */
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("nested_blocks");
    TCase *all = tcase_create("nesting");
    tcase_add_checked_fixture(all, lock_start, NULL);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, a_word_of_a_carved_block_is_its_own);
    tcase_add_test(all, a_pointer_into_an_arena_means_the_block_there_or_the_arena);
    tcase_add_test(all, a_pointer_between_two_blocks_is_one_to_the_arenas_inside);
    tcase_add_test(all, an_arena_begins_behind_the_blocks_at_its_start);
    tcase_add_test(all, an_arena_that_is_given_out_as_a_whole_is_still_there);
    tcase_add_test(all, blocks_in_blocks_in_blocks);
    tcase_add_test(all, roots_end_where_a_carved_block_begins);
    tcase_add_loop_test(all, a_piece_of_a_carved_block_is_a_root_as_a_stack_only, 0, 2);
    tcase_add_test(all, what_ends_where_its_arena_ends_is_in_it);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
