/* test_preexisting_heap.c - a heap laid out chunk by chunk: known blocks and free chunks are no
 * roots, the rest is; behind an implausible chunk everything is a root.
 */
#include "tests/unit/preload/unit.h"
#include "preload/roots/heap_ranges.h"

#define WORDS 128
#define IN_USE 1u

static uint64_t heap[WORDS] __attribute__((aligned(16)));
static struct reach *reach;
static bool kept_out[WORDS];
static unsigned next_chunk; /* index of a word */

/* Makes a chunk of so many words; before: the chunk in front of it is in use. Returns the index of
 * its block's first word. */
static unsigned chunk(unsigned words, bool before)
{
    unsigned at = next_chunk;
    heap[at + 1] = words * 8 | (before ? IN_USE : 0);
    next_chunk += words;
    return at + 2;
}

static void leave_out(uintptr_t start, size_t size, void *context)
{
    uintptr_t *last = context, from = (start - (uintptr_t)heap) / 8;
    ck_assert_msg(start >= *last, "ascending, apart");
    ck_assert(from + size / 8 <= WORDS);
    for (size_t i = 0; i < size / 8; i++)
        kept_out[from + i] = true;
    *last = start + size;
}

static void look(const unsigned *known, unsigned count, bool glibc)
{
    struct heap_range one = {(uintptr_t)heap, (uintptr_t)(heap + WORDS)};
    struct heap_ranges heaps = {&one, 1};
    uintptr_t last = 0;
    reach = reach_begin(count, UINT64_MAX);
    ck_assert_ptr_nonnull(reach);
    for (unsigned i = 0; i < count; i++)
        reach_add_block(reach, &(struct block){.address = (uintptr_t)&heap[known[i]], .size = 32},
                  REACH_NEW);
    ck_assert(reach_build_index(reach));
    heap_ranges_each_non_root(&heaps, reach, glibc, leave_out, &last);
    reach_end(reach);
}

static unsigned old_block, free_block, new_block, behind_block, top;

static void lay_out(void)
{
    old_block = chunk(6, true);
    free_block = chunk(8, true);
    new_block = chunk(6, false);
    behind_block = chunk(6, true);
    top = chunk(WORDS - next_chunk, true);
}

START_TEST(an_old_block_may_hold_and_a_free_chunk_may_not)
{
    lay_out();
    look(&new_block, 1, true);
    ck_assert(!kept_out[old_block] && !kept_out[old_block + 3]);
    ck_assert(kept_out[free_block] && kept_out[free_block + 5]);
    ck_assert(kept_out[new_block] && kept_out[new_block + 3]);
    ck_assert(!kept_out[behind_block] && !kept_out[behind_block + 3]);
    ck_assert(kept_out[top] && kept_out[WORDS - 1]);
}
END_TEST

START_TEST(without_known_blocks_all_but_the_free_chunks_hold)
{
    lay_out();
    look(NULL, 0, true);
    ck_assert(!kept_out[old_block] && kept_out[free_block] && !kept_out[new_block]);
}
END_TEST

START_TEST(of_another_allocator_all_but_the_known_blocks_holds)
{
    lay_out();
    look(&new_block, 1, false);
    for (unsigned i = 0; i < WORDS; i++)
        ck_assert_msg(kept_out[i] == (i >= new_block && i < new_block + 4), "word %u", i);
}
END_TEST

static const uint64_t wrong_sizes[] = {0, 8 | IN_USE, 40 | IN_USE, 1ull << 40 | IN_USE, UINT64_MAX,
                                       72 * 8 | IN_USE};

START_TEST(behind_a_wrong_size_everything_holds_until_the_next_known_block)
{
    lay_out();
    heap[old_block - 1] = wrong_sizes[_i];
    look(&new_block, 1, true);
    for (unsigned i = 0; i < new_block; i++)
        ck_assert_msg(!kept_out[i], "word %u", i);
    ck_assert(kept_out[new_block] && !kept_out[behind_block] && kept_out[top]);
}
END_TEST

START_TEST(a_block_with_a_mapping_of_its_own_is_no_row_of_chunks)
{
    lay_out();
    heap[old_block - 1] |= 2;
    look(&old_block, 1, true);
    for (unsigned i = 0; i < WORDS; i++)
        ck_assert_msg(kept_out[i] == (i >= old_block && i < old_block + 4), "word %u", i);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("preexisting_heap");
    TCase *all = tcase_create("older");
    tcase_add_test(all, an_old_block_may_hold_and_a_free_chunk_may_not);
    tcase_add_test(all, without_known_blocks_all_but_the_free_chunks_hold);
    tcase_add_test(all, of_another_allocator_all_but_the_known_blocks_holds);
    tcase_add_loop_test(all, behind_a_wrong_size_everything_holds_until_the_next_known_block, 0,
                        ARRAY_LENGTH(wrong_sizes));
    tcase_add_test(all, a_block_with_a_mapping_of_its_own_is_no_row_of_chunks);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
