/* test_suballoc.c - blocks of the program's own allocators, against a plain list of them; and pools by
 * their addresses.
 */
#include "tests/unit/preload/unit.h"
#include "preload/heap/suballoc.h"
#include "preload/base/lock.h"

#define G (&unit_guard)
#define MOST 300
#define POOLS 5

static struct suballoc_block model[MOST]; /* pool SUBALLOC_ANY_POOL: free */
static uint32_t living;

static struct block block_at(uintptr_t address, uint64_t size)
{
    return (struct block){
        .address = address, .size = size, .site = (uint32_t)address, .kind = LEAK_KIND_CUSTOM};
}

static enum blocks_insert insert(uintptr_t address, uint64_t size, uint32_t pool)
{
    struct block block = block_at(address, size), old;
    return suballoc_insert(G, &block, pool, &old);
}

static struct suballoc_block *find(uintptr_t address, uint32_t pool)
{
    for (unsigned i = 0; i < MOST; i++)
        if (model[i].pool == pool && model[i].block.address == address)
            return &model[i];
    return NULL;
}

static void put(uintptr_t address, uint64_t size, uint32_t pool)
{
    struct block block = block_at(address, size), old;
    struct suballoc_block *known = find(address, pool), *room = known;
    for (unsigned i = 0; !room && i < MOST; i++)
        if (model[i].pool == SUBALLOC_ANY_POOL)
            room = &model[i];
    if (!room)
        return;
    enum blocks_insert done = suballoc_insert(G, &block, pool, &old);
    ck_assert_int_eq(done, known ? BLOCKS_REPLACED : BLOCKS_NEW);
    if (known)
        ck_assert_uint_eq(old.size, known->block.size);
    living += !known;
    *room = (struct suballoc_block){.block = block, .pool = pool};
}

static void is_gone(const struct suballoc_block *got)
{
    struct suballoc_block *known = find(got->block.address, got->pool);
    ck_assert_ptr_nonnull(known);
    ck_assert_uint_eq(known->block.size, got->block.size);
    ck_assert_uint_eq(known->block.site, got->block.site);
    known->pool = SUBALLOC_ANY_POOL;
    living--;
}

static void take(uintptr_t address, uint32_t pool)
{
    struct suballoc_block got;
    bool there = suballoc_remove(G, address, pool, &got);
    ck_assert_int_eq(there, find(address, pool) != NULL);
    if (there)
        is_gone(&got);
}

static void take_any(uintptr_t address)
{
    struct suballoc_block got;
    const struct suballoc_block *smallest = NULL;
    for (unsigned i = 0; i < MOST; i++)
        if (model[i].pool != SUBALLOC_ANY_POOL && model[i].block.address == address &&
            (!smallest || model[i].block.size < smallest->block.size))
            smallest = &model[i];
    ck_assert_int_eq(suballoc_remove(G, address, SUBALLOC_ANY_POOL, &got), smallest != NULL);
    if (!smallest)
        return;
    ck_assert_uint_eq(got.block.size, smallest->block.size);
    is_gone(&got);
}

static void take_in(uintptr_t start, uintptr_t end)
{
    struct suballoc_block got;
    while (suballoc_remove_in_range(G, start, end, &got)) {
        ck_assert(got.block.address >= start && got.block.address < end);
        is_gone(&got);
    }
    for (unsigned i = 0; i < MOST; i++)
        ck_assert(model[i].pool == SUBALLOC_ANY_POOL || model[i].block.address < start ||
                  model[i].block.address >= end);
}

static void take_outside(uint32_t pool, uintptr_t start, uintptr_t end)
{
    struct suballoc_block got;
    while (suballoc_remove_outside(G, pool, start, end, &got)) {
        ck_assert(got.pool == pool && (got.block.address < start || got.block.address >= end));
        is_gone(&got);
    }
    for (unsigned i = 0; pool && i < MOST; i++)
        ck_assert(model[i].pool != pool ||
                  (model[i].block.address >= start && model[i].block.address < end));
}

static void is_as_the_model(void)
{
    struct suballoc_block it;
    uint32_t count = 0;
    uintptr_t last = 0;
    for (bool more = suballoc_first(0, 0, &it); more;
         more = suballoc_first(it.block.address, it.pool + 1, &it)) {
        ck_assert(it.block.address >= last);
        last = it.block.address;
        ck_assert_ptr_nonnull(find(it.block.address, it.pool));
        count++;
    }
    ck_assert_uint_eq(count, living);
    ck_assert_uint_eq(suballoc_count, living);
    ck_assert(suballoc_check());
}

START_TEST(table_is_as_a_list_of_its_blocks)
{
    uint64_t dice = _i + 1;
    for (unsigned i = 0; i < MOST; i++)
        model[i].pool = SUBALLOC_ANY_POOL;
    for (unsigned step = 0; step < 4000; step++) {
        dice = dice * 6364136223846793005ull + 1442695040888963407ull;
        uintptr_t address = 4096 + (dice >> 40) % 200 * 8;
        uint32_t pool = (dice >> 33) % POOLS;
        uint64_t what = (dice >> 50) % 100;
        if (what < 60)
            put(address, 8 + (dice >> 20) % 500, pool);
        else if (what < 80)
            take(address, pool);
        else if (what < 92)
            take_any(address);
        else if (what < 97)
            take_in(address, address + (dice >> 20) % 256);
        else
            take_outside(pool, address, address + (dice >> 20) % 1024);
        if (step % 16 == 0)
            is_as_the_model();
    }
    take_in(0, UINTPTR_MAX);
    is_as_the_model();
    ck_assert_uint_eq(living, 0);
}
END_TEST

START_TEST(many_blocks_of_one_pool_go_with_it)
{
    struct suballoc_block got;
    uint32_t gone = 0;
    for (uintptr_t i = 1; i <= 100000; i++)
        UNIT_WANT(insert(i * 16, 16, i % 2 ? 700 : 0) == BLOCKS_NEW);
    ck_assert(suballoc_check());
    while (suballoc_remove_member(G, 700, &got))
        gone += got.block.address / 16 % 2;
    ck_assert_uint_eq(gone, 50000);
    ck_assert_uint_eq(suballoc_count, 50000);
    ck_assert(!suballoc_remove_member(G, 0, &got) && !suballoc_remove_member(G, 5000000, &got));
    ck_assert(suballoc_check());
}
END_TEST

START_TEST(the_smallest_block_around_an_address_is_found)
{
    struct suballoc_block got;
    insert(0x1000, 0x1000, 1);
    insert(0x1000, 0x40, 0);
    insert(0x1100, 0x40, 0);
    ck_assert(suballoc_find_containing(G, 0x1000, &got) && got.block.size == 0x40);
    ck_assert(suballoc_find_containing(G, 0x113f, &got) && got.block.address == 0x1100);
    ck_assert(suballoc_find_containing(G, 0x1140, &got) && got.block.size == 0x1000);
    ck_assert(suballoc_find_containing(G, 0x1fff, &got) && got.block.size == 0x1000);
    ck_assert(!suballoc_find_containing(G, 0x2000, &got) && !suballoc_find_containing(G, 0xfff, &got));
    ck_assert(suballoc_ignore(G, 0x1110) && suballoc_find_containing(G, 0x1100, &got));
    ck_assert(got.block.kind & BLOCKS_IGNORED);
    ck_assert(suballoc_find_containing(G, 0x1000, &got) && !(got.block.kind & BLOCKS_IGNORED));
    suballoc_remove(G, 0x1000, SUBALLOC_ANY_POOL, &got);
    ck_assert_uint_eq(got.block.size, 0x40);
}
END_TEST

START_TEST(an_address_that_is_no_multiple_of_eight_has_no_place)
{
    struct suballoc_block got;
    ck_assert_int_eq(insert(0x1004, 16, 0), BLOCKS_NO_MEMORY);
    ck_assert(!suballoc_remove(G, 0x1004, 0, &got) && suballoc_count == 0);
}
END_TEST

/* ---- Threads -------------------------------------------------------------------------------- */

static void *come_and_go(void *argument)
{
    struct guard guard = {0};
    struct suballoc_block got;
    uintptr_t mine = (uintptr_t)argument;
    for (unsigned round = 0; round < 200; round++) {
        for (uintptr_t i = 0; i < 50; i++)
            insert(mine + i * 16, 16, i % 2 ? mine >> 20 : 0);
        while (suballoc_remove_member(&guard, mine >> 20, &got))
            ck_assert_uint_eq(got.block.address >> 20, mine >> 20);
        for (uintptr_t i = 0; i < 50; i += 2)
            ck_assert(suballoc_remove(&guard, mine + i * 16, 0, &got));
    }
    return NULL;
}

START_TEST(threads_find_their_own_blocks)
{
    pthread_t thread[8];
    for (uintptr_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, come_and_go, (void *)((i + 1) << 20)), 0);
    for (unsigned i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(suballoc_count, 0);
    ck_assert(suballoc_check());
}
END_TEST

/* ---- Pools ---------------------------------------------------------------------------------- */

START_TEST(pools_keep_their_numbers_and_numbers_are_used_again)
{
    static uint32_t number[3000];
    uint32_t most = 0;
    for (uintptr_t i = 0; i < 3000; i++) {
        number[i] = pools_create(G, (i + 1) * 64, i % 3 ? NULL : "a name");
        ck_assert_uint_ne(number[i], 0);
        most = number[i] > most ? number[i] : most;
    }
    ck_assert(pools_check());
    ck_assert_uint_eq(most, 3000);
    for (uintptr_t i = 0; i < 3000; i++)
        ck_assert_uint_eq(pools_find(G, (i + 1) * 64), number[i]);
    for (unsigned round = 0; round < 5; round++) {
        for (uintptr_t i = 0; i < 3000; i += 2)
            pools_remove(G, (i + 1) * 64);
        ck_assert(pools_check());
        for (uintptr_t i = 0; i < 3000; i++)
            ck_assert_int_eq(pools_find(G, (i + 1) * 64) != 0, i % 2);
        for (uintptr_t i = 0; i < 3000; i += 2)
            ck_assert_uint_le(pools_create(G, (i + 1) * 64, NULL), most);
    }
    ck_assert(pools_check());
}
END_TEST

START_TEST(a_pool_that_moves_keeps_its_number)
{
    uint32_t number = pools_create(G, 64, "one"), other = pools_create(G, 128, "two");
    ck_assert(number && other && number != other);
    for (uintptr_t at = 64; at < 64 * 10000; at += 1024) /* each leaves a mark */
        ck_assert(pools_move(G, at, at + 1024));
    ck_assert(pools_check());
    ck_assert_uint_eq(pools_find(G, 64), 0);
    ck_assert(!pools_move(G, 128, 0) && !pools_move(G, 4096 * 4096, 192));
    pools_create(G, 256, NULL);
    ck_assert(!pools_move(G, 128, 256));
    ck_assert_uint_eq(pools_find(G, 128), other);
    ck_assert_uint_eq(pools_create(G, 0, "none"), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("carved");
    TCase *blocks = tcase_create("blocks"), *pools = tcase_create("pools");
    tcase_set_timeout(blocks, 60);
    tcase_add_checked_fixture(blocks, lock_start, NULL);
    tcase_add_checked_fixture(pools, lock_start, NULL);
    tcase_add_loop_test(blocks, table_is_as_a_list_of_its_blocks, 0, 4);
    tcase_add_test(blocks, many_blocks_of_one_pool_go_with_it);
    tcase_add_test(blocks, the_smallest_block_around_an_address_is_found);
    tcase_add_test(blocks, an_address_that_is_no_multiple_of_eight_has_no_place);
    tcase_add_test(blocks, threads_find_their_own_blocks);
    tcase_add_test(pools, pools_keep_their_numbers_and_numbers_are_used_again);
    tcase_add_test(pools, a_pool_that_moves_keeps_its_number);
    suite_add_tcase(suite, blocks);
    suite_add_tcase(suite, pools);
    return unit_main(argc, argv, suite);
}
