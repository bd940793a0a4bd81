/* test_stack_table.c - numbers by key: what was added is found, in every thread, and nothing else is.
 */
#include "tests/unit/preload/unit.h"
#include "preload/memory/arena.h"
#include "preload/contexts/stack_table.h"
#include "preload/contexts/table_regions.h"

#include <pthread.h>
#include <sys/wait.h>

static void setup(void)
{
    ck_assert(stack_table_start());
}

/* As different as hashes are; never 0. */
static uint64_t key_of(uint64_t n)
{
    uint64_t key = (n + 1) * 0x9e3779b97f4a7c15ull;
    key ^= key >> 29;
    key *= 0xbf58476d1ce4e5b9ull;
    return key ^ key >> 32;
}

static bool add(uint64_t key, uint32_t number)
{
    struct locked locked = stack_table_lock(key);
    bool room = stack_table_reserve(key);
    if (room && !stack_table_find(key))
        stack_table_add(key, number);
    lock_give(&locked);
    return room;
}

START_TEST(what_was_added_is_found_and_nothing_else)
{
    const uint32_t many = unit_is_emulated() ? 20000 : 500000;
    for (uint32_t n = 0; n < many; n++) {
        UNIT_WANT(stack_table_find(key_of(n)) == 0);
        UNIT_WANT(add(key_of(n), n + 1));
        UNIT_WANT(stack_table_find(key_of(n)) == n + 1);
    }
    for (uint32_t n = 0; n < many; n++)
        UNIT_WANT(stack_table_find(key_of(n)) == n + 1);
    ck_assert(stack_table_check());
}
END_TEST

/* More keys of one bucket than it has room for; the last bucket goes on in the first one. */
START_TEST(keys_of_one_bucket_go_into_the_next_ones)
{
    uint64_t high = _i ? 0xffffffffull << 32 : 0x80000000ull << 32;
    for (uint32_t n = 0; n < 40; n++)
        ck_assert(add(high | (n + 1) * 32, n + 1));
    for (uint32_t n = 0; n < 40; n++)
        ck_assert_uint_eq(stack_table_find(high | (n + 1) * 32), n + 1);
    ck_assert_uint_eq(stack_table_find(high | 41 * 32), 0);
    ck_assert(stack_table_check());
}
END_TEST

START_TEST(without_memory_nothing_is_added_and_the_old_is_found)
{
    uint32_t had = 0;
    while (had < 500 && add(key_of(had), had + 1))
        had++;
    arena_set_limit(arena_used() + 1);
    bool refused = false;
    for (uint32_t n = had; n < 100000; n++)
        refused = refused || !add(key_of(n), n + 1);
    ck_assert(refused);
    for (uint32_t n = 0; n < had; n++)
        ck_assert_uint_eq(stack_table_find(key_of(n)), n + 1);
    ck_assert(stack_table_check());
    arena_set_limit(0);
    for (uint32_t n = had; n < 100000; n++)
        UNIT_WANT(add(key_of(n), n + 1) && stack_table_find(key_of(n)) == n + 1);
}
END_TEST

/* Each thread adds the same keys in its own order, while the tables grow below the others. */
static void *add_in_order(void *step)
{
    enum { MANY = 30011 }; /* a prime: any step visits all */
    for (uint64_t n = 0, at = 0; n < MANY; n++, at = (at + (uintptr_t)step) % MANY) {
        uint32_t number = stack_table_find(key_of(at));
        UNIT_WANT(number == 0 || number == at + 1);
        UNIT_WANT(add(key_of(at), at + 1));
    }
    return NULL;
}

START_TEST(threads_add_each_key_once)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < ARRAY_LENGTH(threads); i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, add_in_order, (void *)(i * 7919 % 30011 + 1)), 0);
    for (unsigned i = 0; i < ARRAY_LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    for (uint32_t n = 0; n < 30011; n++)
        ck_assert_uint_eq(stack_table_find(key_of(n)), n + 1);
    ck_assert(stack_table_check());
}
END_TEST

START_TEST(a_fork_child_begins_with_nothing)
{
    const uint32_t many = _i ? 50000 : 10;
    for (uint32_t n = 0; n < many; n++)
        ck_assert(add(key_of(n), n + 1));
    stack_table_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        stack_table_fork_child();
        bool right = stack_table_check();
        for (uint32_t n = 0; n < many; n++)
            right = right && stack_table_find(key_of(n)) == 0 && add(key_of(n), n + 7) &&
                    stack_table_find(key_of(n)) == n + 7;
        _exit(!(right && stack_table_check()));
    }
    stack_table_fork_unlock();
    unit_await_success(pid);
    for (uint32_t n = 0; n < many; n++)
        ck_assert_uint_eq(stack_table_find(key_of(n)), n + 1);
}
END_TEST

/* Tables of one size do not overlap, and begin empty. */
START_TEST(each_stripe_has_memory_of_its_own)
{
    static struct table_regions regions;
    for (unsigned size = 0; size < 6; size++)
        for (unsigned stripe = 0; stripe < TABLE_STRIPES; stripe++) {
            table_handle table = table_regions_make(&regions, stripe, size);
            unsigned char *bytes = table_address(table);
            ck_assert_uint_eq(table_bytes(table), LEAK_PAGE << size);
            for (size_t i = 0; i < table_bytes(table); i += 512)
                ck_assert_uint_eq(bytes[i], 0);
            memset(bytes, stripe + 1, table_bytes(table));
        }
    ck_assert_uint_eq(table_regions_make(&regions, 0, TABLE_SIZES), 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("stack_table");
    TCase *all = tcase_create("table");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, what_was_added_is_found_and_nothing_else);
    tcase_add_loop_test(all, keys_of_one_bucket_go_into_the_next_ones, 0, 2);
    tcase_add_test(all, without_memory_nothing_is_added_and_the_old_is_found);
    tcase_add_test(all, threads_add_each_key_once);
    tcase_add_loop_test(all, a_fork_child_begins_with_nothing, 0, 2);
    tcase_add_test(all, each_stripe_has_memory_of_its_own);
    tcase_set_timeout(all, 60);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
