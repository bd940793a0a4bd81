/* test_address_order.c - every block once, region after region in address order. */
#include "tests/unit/preload/some_blocks.h"
#include "tests/unit/size.h"
#include "preload/mark/reachability.h"

#define BLOCKS 20000

/* Heaps: the number of parts, the distance between them, and the size of each. */
static const struct {
    uint64_t parts, apart, within;
} heaps[] = {
    {1, 0, 2048},                     /* one region */
    {1, 0, 1 << 24},                  /* dense */
    {2, 0x2a1122334000ull, 1 << 22},  /* as with brk and mmap */
    {4000, 1ull << 35, 1 << 12},      /* all over the address space */
    {3, (1ull << 11) << 20, 1 << 20}, /* the numbers differ above the second digit */
};

struct seen {
    uint64_t blocks, region, sum;
    bool sorted;
};

static void see(const struct block *block, void *context)
{
    struct seen *seen = context;
    seen->sorted = seen->sorted && block->address >> REGION_BITS >= seen->region;
    seen->region = block->address >> REGION_BITS;
    seen->sum += block->address * (block->count + 1ull);
    seen->blocks++;
}

/* first WAYS: some blocks in the shadow and others in the open table. */
static struct seen fill(int heap, enum way first)
{
    struct seen wanted = {0};
    uint64_t state = unit_seed;
    start_blocks();
    for (uint32_t i = 0; i < unit_size(BLOCKS); i++) {
        uint64_t part = unit_random(&state) % heaps[heap].parts;
        uintptr_t address =
            0x10000 + part * heaps[heap].apart + unit_random(&state) % (heaps[heap].within / 8) * 8;
        struct block block = {.address = address, .size = 8, .site = 1, .count = i}, old;
        set_way(first == WAYS ? i % WAYS : first);
        enum blocks_insert done = insert(&block, &old);
        UNIT_WANT(done != BLOCKS_NO_MEMORY);
        if (done == BLOCKS_REPLACED)
            wanted.sum -= old.address * (old.count + 1ull);
        else
            wanted.blocks++;
        wanted.sum += block.address * (block.count + 1ull);
    }
    return wanted;
}

START_TEST(every_block_is_visited_once_region_after_region)
{
    struct seen wanted = fill(_i / 4, _i % 4), seen = {.sorted = true};
    address_order_each_block(UINT64_MAX, see, &seen);
    ck_assert_msg(seen.blocks == wanted.blocks && seen.sum == wanted.sum,
                  "seed %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks", unit_seed, seen.blocks,
                  wanted.blocks);
    ck_assert_msg(seen.sorted, "seed %" PRIu64 ": not in order", unit_seed);
}
END_TEST

START_TEST(without_memory_every_block_is_visited_all_the_same)
{
    struct seen wanted = fill(_i / 4, _i % 4), seen = {0};
    address_order_each_block(0, see, &seen);
    ck_assert_uint_eq(seen.blocks, wanted.blocks);
    ck_assert_uint_eq(seen.sum, wanted.sum);
}
END_TEST

START_TEST(an_empty_table_has_none)
{
    struct seen seen = {0};
    start_blocks();
    address_order_each_block(UINT64_MAX, see, &seen);
    ck_assert_uint_eq(seen.blocks, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("address_order");
    TCase *all = tcase_create("in_order");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, every_block_is_visited_once_region_after_region, 0,
                        4 * ARRAY_LENGTH(heaps));
    tcase_add_loop_test(all, without_memory_every_block_is_visited_all_the_same, 0,
                        4 * ARRAY_LENGTH(heaps));
    tcase_add_test(all, an_empty_table_has_none);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
