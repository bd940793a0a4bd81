/* test_quarantine.c - a queue of blocks: first in, first out, never more than it may hold, and each
 * block leaves it once.
 *
 *     put = left + taken + waiting
 */
#include "tests/unit/preload/unit.h"
#include "preload/base/lock.h"
#include "preload/heap/quarantine.h"

#define G (&unit_guard)

static bool put(uintptr_t n, uint64_t size)
{
    struct quarantined waiting = {.pointer = (void *)(n << 4),
                              .block = {.address = n << 4, .size = size, .site = (uint32_t)n},
                              .pc = 0x1000 + n};
    return quarantine_add(G, &waiting);
}

static uintptr_t leaves(void)
{
    return (uintptr_t)quarantine_pop_surplus(G) >> 4;
}

static bool finds(uintptr_t n, bool take)
{
    struct quarantined found;
    if (!quarantine_find(G, n << 4, take, &found))
        return false;
    ck_assert_uint_eq(found.block.site, n);
    ck_assert_uint_eq(found.pc, 0x1000 + n);
    return true;
}

START_TEST(the_oldest_leave_when_there_are_too_many_bytes)
{
    ck_assert(quarantine_start(1000));
    for (uintptr_t n = 1; n <= 4; n++)
        ck_assert(put(n, 300 - sizeof(uintptr_t)));
    ck_assert(finds(1, false) && finds(4, false) && !finds(5, false));
    ck_assert_uint_eq(leaves(), 1); /* three times 300 fit */
    ck_assert_uint_eq(leaves(), 0);
    ck_assert(!finds(1, false) && finds(2, false));
    ck_assert(put(5, 0));
    ck_assert_uint_eq(leaves(), 0);
    ck_assert(quarantine_check());
}
END_TEST

START_TEST(the_oldest_leave_when_there_are_too_many_blocks)
{
    ck_assert(quarantine_start(64 * 1024));
    uintptr_t left = 0;
    for (uintptr_t n = 1; n <= 10000; n++) {
        ck_assert(put(n, 1));
        for (uintptr_t gone; (gone = leaves());)
            ck_assert_uint_eq(gone, ++left);
        ck_assert(finds(n, false));
    }
    ck_assert_uint_ge(left, 10000 - 1024);
    ck_assert_uint_lt(left, 10000);
    ck_assert(quarantine_check());
}
END_TEST

START_TEST(what_was_taken_out_does_not_leave_again)
{
    ck_assert(quarantine_start(1000));
    for (uintptr_t n = 1; n <= 3; n++)
        ck_assert(put(n, 200));
    ck_assert(finds(1, true) && !finds(1, true) && finds(2, true));
    ck_assert(quarantine_check());
    ck_assert(put(4, 500));
    ck_assert_uint_eq(leaves(), 0); /* 200 and 500 */
    ck_assert(put(5, 500));
    ck_assert_uint_eq(leaves(), 3);
    ck_assert_uint_eq(leaves(), 4);
    ck_assert_uint_eq(leaves(), 0);
    ck_assert(quarantine_check());
}
END_TEST

START_TEST(large_blocks_and_a_queue_that_is_off_keep_nothing)
{
    ck_assert(quarantine_start(0) && !quarantine_is_on());
    ck_assert(!put(1, 10) && !finds(1, false));
    ck_assert(quarantine_start(1 << 20) && quarantine_is_on());
    ck_assert(!put(1, QUARANTINE_LARGEST + 1));
    ck_assert(put(2, QUARANTINE_LARGEST));
}
END_TEST

/* Random puts, takes and questions, against an array that says which wait. */
START_TEST(each_that_waits_is_found_and_no_other)
{
    static bool waits[4000];
    uint64_t state = unit_seed;
    ck_assert(quarantine_start(40000));
    for (int i = 0; i < 200000; i++) {
        uintptr_t n = 1 + unit_random(&state) % 3999;
        bool take = unit_random(&state) % 8 == 0;
        UNIT_WANT_MSG(finds(n, take) == waits[n], "%zu (seed %" PRIu64 ")", (size_t)n, unit_seed);
        waits[n] &= !take;
        if (!waits[n] && unit_random(&state) % 2)
            waits[n] = put(n, n % 300);
        for (uintptr_t gone; (gone = leaves()); waits[gone] = false)
            UNIT_WANT(waits[gone]);
        if (i % 5000 == 0)
            UNIT_WANT_MSG(quarantine_check(), "seed %" PRIu64, unit_seed);
    }
    ck_assert(quarantine_check());
}
END_TEST

START_TEST(unknown_addresses_cost_the_same_however_many_wait)
{
    struct timespec begin, end;
    ck_assert(quarantine_start(64ull << 20));
    for (uintptr_t n = 1; n <= 200000; n++)
        put(n, 8);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (uintptr_t n = 1; n <= 20000; n++)
        UNIT_WANT(!finds(1000000 + n, false));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
    ck_assert_msg(ms < 1000, "20,000 questions took %ld ms", ms); /* one by one: 4,000,000,000 */
}
END_TEST

#define EACH 50000
static uint32_t left[4 * EACH + 1];

static void *put_many(void *passed)
{
    for (uintptr_t n = 1; n <= EACH; n++) {
        uintptr_t mine = (uintptr_t)passed * EACH + n;
        if (!put(mine, n % 500))
            __atomic_add_fetch(&left[mine], 1, __ATOMIC_RELAXED); /* libc's at once */
        for (uintptr_t gone; (gone = leaves());)
            __atomic_add_fetch(&left[gone], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

START_TEST(of_many_threads_each_block_leaves_once)
{
    pthread_t threads[4];
    ck_assert(quarantine_start(100000));
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, put_many, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert(quarantine_check());
    for (uintptr_t n = 1; n <= 4 * EACH; n++)
        UNIT_WANT_MSG(left[n] <= 1, "block %zu left %u times", (size_t)n, left[n]);
    uint64_t waiting = 0;
    for (uintptr_t n = 1; n <= 4 * EACH; n++)
        waiting += !left[n];
    ck_assert_uint_ge(waiting, 100);
    ck_assert_uint_le(waiting, 100000 / 64);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("quarantine");
    TCase *all = tcase_create("quarantine");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, lock_start, NULL);
    tcase_add_test(all, the_oldest_leave_when_there_are_too_many_bytes);
    tcase_add_test(all, the_oldest_leave_when_there_are_too_many_blocks);
    tcase_add_test(all, what_was_taken_out_does_not_leave_again);
    tcase_add_test(all, large_blocks_and_a_queue_that_is_off_keep_nothing);
    tcase_add_test(all, each_that_waits_is_found_and_no_other);
    tcase_add_test(all, unknown_addresses_cost_the_same_however_many_wait);
    tcase_add_test(all, of_many_threads_each_block_leaves_once);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
