/* test_events.c - the table of wrong releases: equal ones are one record, each is counted once.
 *
 *     sum of the records' counts + left_out = calls
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/misuse/errors.h"
#include "preload/base/lock.h"
#include "preload/store/store.h"

#define G (&unit_guard)
#define KINDS (LEAK_EVENTS + 46)

static void setup(void)
{
    ck_assert(store_create(unit_directory, "events", environ));
}

static const struct leak_events *table(void)
{
    uint64_t at = 0;
    const struct leak_chunk *chunk = view_chunk(store_header, LEAK_CHUNK_EVENTS, &at);
    return chunk ? (const struct leak_events *)(chunk + 1) : NULL;
}

static struct leak_event event(uint32_t n)
{
    return (struct leak_event){.type = LEAK_EVENT_MISMATCHED_FREE,
                               .form = LEAK_FORM_FREE,
                               .site = 1 + n,
                               .node = 9,
                               .pc = 0x1000,
                               .address = 0x5000,
                               .tick = 3};
}

static bool meet(uint32_t n)
{
    struct leak_event one = event(n);
    return error_table_add(G, &one);
}

static uint64_t all_counts(void)
{
    uint64_t sum = table()->left_out;
    for (int i = 0; i < LEAK_EVENTS; i++)
        sum += table()->event[i].count;
    return sum;
}

START_TEST(equal_calls_are_one_record)
{
    struct leak_event other = event(0);
    ck_assert_ptr_null(table()); /* a right program has no table */
    ck_assert(meet(0));
    other.address = 0x6000; /* of another block of the site, later */
    other.tick = 8;
    ck_assert(!error_table_add(G, &other));
    const struct leak_event *record = table()->event;
    ck_assert_uint_eq(record[0].count, 2);
    ck_assert_uint_eq(record[0].address, 0x5000);
    ck_assert_uint_eq(record[0].tick, 3);
    ck_assert_uint_eq(record[0].last_tick, 8);
    ck_assert_uint_eq(record[1].type, LEAK_EVENT_NONE);
    ck_assert(error_table_check());
}
END_TEST

START_TEST(what_differs_is_a_record_of_its_own)
{
    struct leak_event others[] = {event(0), event(0), event(0), event(0), event(0), event(0)};
    others[1].type = LEAK_EVENT_SIZE_MISMATCH;
    others[2].form = LEAK_FORM_DELETE;
    others[3].node = 10;
    others[4].freed_pc = 0x2000;
    others[5].place = LEAK_PLACE_STACK;
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        ck_assert(error_table_add(G, &others[i]));
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        ck_assert(!error_table_add(G, &others[i]));
    ck_assert_uint_eq(all_counts(), 2 * ARRAY_LENGTH(others));
    ck_assert(error_table_check());
}
END_TEST

START_TEST(a_full_table_goes_on_counting)
{
    for (uint32_t n = 0; n < KINDS; n++)
        ck_assert(meet(n) == (n < LEAK_EVENTS));
    ck_assert(!meet(5)); /* those that are known have their records still */
    ck_assert_uint_eq(table()->event[5].count, 2);
    ck_assert_uint_eq(table()->left_out, KINDS - LEAK_EVENTS);
    ck_assert_uint_eq(all_counts(), KINDS + 1);
    ck_assert(error_table_check());
}
END_TEST

static void *meet_many(void *passed)
{
    for (uint32_t n = 0; n < 100000; n++)
        meet(n % 7);
    return passed;
}

START_TEST(threads_count_together)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, meet_many, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(all_counts(), 400000);
    ck_assert_uint_eq(table()->event[7].type, LEAK_EVENT_NONE);
    ck_assert(error_table_check());
}
END_TEST

/* _i: somebody holds the lock when the process forks */
START_TEST(a_fork_child_has_met_none)
{
    struct leak_header *parent;
    uint64_t size;
    meet(0);
    if (_i)
        error_table_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        if (!store_create_child(&parent, &size))
            _exit(1);
        error_table_fork_child();
        _exit(!meet(0) || all_counts() != 1);
    }
    unit_await_success(pid);
    if (_i)
        error_table_fork_unlock();
    ck_assert(!meet(0));
    ck_assert_uint_eq(all_counts(), 2);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("events");
    TCase *all = tcase_create("events");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, equal_calls_are_one_record);
    tcase_add_test(all, what_differs_is_a_record_of_its_own);
    tcase_add_test(all, a_full_table_goes_on_counting);
    tcase_add_test(all, threads_count_together);
    tcase_add_loop_test(all, a_fork_child_has_met_none, 0, 2);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
