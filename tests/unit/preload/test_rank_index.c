/* test_rank_index.c - from an address to its block: at the edges of pages, across them, and beyond.
 */
#include "tests/unit/preload/one_heap.h"

START_TEST(a_pointer_is_found_from_everywhere_in_its_block)
{
    add(8, 0);
    add(MIB - 8, 16);       /* across the end of a page */
    add(2 * MIB, 5 * MIB);  /* across whole pages */
    add(7 * MIB + 8, 4096); /* directly behind the previous one */
    add(12 * MIB + 4096, 8);
    static const struct {
        uint64_t offset;
        int block; /* -1: none */
    } rows[] = {{0, -1},
                {8, 0},
                {9, -1},
                {MIB - 9, -1},
                {MIB - 8, 1},
                {MIB, 1},
                {MIB + 8, 1},
                {MIB + 9, -1},
                {2 * MIB - 1, -1},
                {2 * MIB, 2},
                {3 * MIB, 2},
                {5 * MIB + 123, 2},
                {7 * MIB - 1, 2},
                {7 * MIB, 2},
                {7 * MIB + 1, -1},
                {7 * MIB + 8, 3},
                {7 * MIB + 8 + 4096, 3},
                {9 * MIB, -1},
                {12 * MIB, -1},
                {12 * MIB + 4104, 4},
                {12 * MIB + 4105, -1},
                {15 * MIB, -1}};
    mark_heap();
    for (unsigned i = 0; i < ARRAY_LENGTH(rows); i++) {
        uint32_t got = reach_find_node(reach, buffer + rows[i].offset);
        uint32_t wanted = rows[i].block < 0 ? REACH_NONE : (uint32_t)rows[i].block;
        ck_assert_msg(got == wanted, "offset %#" PRIx64 ": %u, wanted %u", rows[i].offset, got,
                      wanted);
    }
    ck_assert_uint_eq(reach_find_node(reach, 0), REACH_NONE);
    ck_assert_uint_eq(reach_find_node(reach, UINTPTR_MAX), REACH_NONE);
}
END_TEST

START_TEST(a_block_of_more_than_4_gib_is_found_and_read_to_its_end)
{
    uint64_t size = (4ull << 30) + 3 * MIB, offset;
    char *big = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (big == MAP_FAILED) {
        UNIT_SKIP("no address space");
        return;
    }
    madvise(big, size, MADV_HUGEPAGE);
    add(MIB, 64);
    add(MIB + 64, 64);
    blocks[block_count++] = (struct block){.address = (uintptr_t)big, .size = size};
    *(uintptr_t *)(big + size - 8) = buffer + MIB;
    *(uintptr_t *)(big + 4096) = (uintptr_t)big + (3ull << 30);
    root((uintptr_t)big);
    mark_heap();
    expect(MIB, REACHABLE, 0);
    expect(MIB + 64, LOST, 0);
    uint32_t parent = reach_parent(reach, node(MIB), &offset);
    ck_assert_uint_eq(reach_block(reach, parent).address, (uintptr_t)big);
    ck_assert_uint_eq(reach_block(reach, parent).size, size);
    ck_assert_uint_eq(offset, size - 8);
    ck_assert_uint_eq(reach_find_node(reach, (uintptr_t)big + size - 1), parent);
    ck_assert_uint_eq(reach_find_node(reach, (uintptr_t)big + size + 1), REACH_NONE);
}
END_TEST

START_TEST(a_block_over_whole_leaves_of_the_index_is_found)
{
    uint64_t gib = 1ull << 30;
    uintptr_t base = 1024 * gib;
    /* What was lost before is not read. */
    priors[0] = priors[1] = REACH_WAS_LOST;
    blocks[block_count++] = (struct block){.address = base, .size = 100 * gib};
    blocks[block_count++] = (struct block){.address = base + 200 * gib, .size = 8};
    mark_heap();
    ck_assert_uint_eq(reach_find_node(reach, base + 50 * gib), 0);
    ck_assert_uint_eq(reach_find_node(reach, base + 100 * gib), 0);
    ck_assert_uint_eq(reach_find_node(reach, base + 150 * gib), REACH_NONE);
    ck_assert_uint_eq(reach_find_node(reach, base + 200 * gib), 1);
    ck_assert_uint_eq(reach_find_node(reach, base + 200 * gib - 1), REACH_NONE);
}
END_TEST

START_TEST(what_cannot_be_a_block_is_none)
{
    add(0, 64);
    blocks[block_count++] = (struct block){.address = 1ull << 48, .size = 64};
    blocks[block_count++] = (struct block){.address = UINT64_MAX - 7, .size = 8};
    blocks[block_count++] = (struct block){.address = 0, .size = 8};
    blocks[block_count++] = (struct block){.address = buffer + 68, .size = 8};
    root(1ull << 48);
    root(UINT64_MAX - 7);
    root(0);
    mark_heap();
    ck_assert_uint_eq(reach_count(reach), 1);
    expect(0, LOST, 0);
}
END_TEST

START_TEST(blocks_come_back_in_order_of_address_and_whole)
{
    struct block block = {.address = 1ull << 47,
                          .size = (1ull << 46) + 5,
                          .site = UINT32_MAX,
                          .tick = BLOCKS_TICK_MAX,
                          .count = UINT32_MAX,
                          .thread = UINT16_MAX,
                          .kind = UINT8_MAX};
    reach = reach_begin(3, UINT64_MAX);
    add(64, 8);
    add(8, 8);
    reach_add_block(reach, &block, REACH_WAS_LOST);
    reach_add_block(reach, &blocks[0], REACH_WAS_LOST);
    reach_add_block(reach, &blocks[1], REACH_WAS_LOST);
    ck_assert(reach_build_index(reach));
    struct block got = reach_block(reach, 2);
    ck_assert_uint_eq(reach_block(reach, 0).address, buffer + 8);
    ck_assert_uint_eq(reach_block(reach, 1).address, buffer + 64);
    ck_assert(got.address == block.address && got.size == block.size && got.site == block.site &&
              got.tick == block.tick && got.count == block.count && got.thread == block.thread &&
              got.kind == block.kind);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("rank_index");
    TCase *t = part(suite, "places");
    tcase_add_test(t, a_pointer_is_found_from_everywhere_in_its_block);
    tcase_add_test(t, a_block_of_more_than_4_gib_is_found_and_read_to_its_end);
    tcase_add_test(t, a_block_over_whole_leaves_of_the_index_is_found);
    tcase_add_test(t, what_cannot_be_a_block_is_none);
    tcase_add_test(t, blocks_come_back_in_order_of_address_and_whole);
    return unit_main(argc, argv, suite);
}
