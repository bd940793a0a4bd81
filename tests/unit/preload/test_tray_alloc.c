/* test_tray_alloc.c - trays are memory: each as large as it says, none handed out twice, and few bytes beside.
 */
#include "tests/unit/preload/unit.h"
#include "preload/memory/arena.h"
#include "preload/blocks/table.h"
#include "leak_store.h"

/* A tray and what stands in it from the first key to the last entry. */
struct held {
    uint8_t *tray;
    unsigned size_class;
    uint8_t filling;
};

static size_t size_of(unsigned size_class)
{
    uint8_t *none = NULL;
    return (size_t)(tray_entries(none, size_class) - none) +
           (size_t)tray_capacity[size_class] * TRAY_ENTRY_SIZE;
}

static bool take(struct held *held, unsigned size_class, uint8_t filling)
{
    *held = (struct held){tray_alloc(size_class), size_class, filling};
    if (held->tray)
        memset(held->tray, filling, size_of(size_class));
    return held->tray != NULL;
}

static bool whole(const struct held *held)
{
    for (size_t i = 0; i < size_of(held->size_class); i++)
        if (held->tray[i] != held->filling)
            return false;
    return true;
}

START_TEST(classes_rise_to_all_the_blocks_of_a_region)
{
    uint8_t *start = (uint8_t *)(uintptr_t)4096;
    ck_assert_uint_eq(tray_capacity[0], 1);
    ck_assert_uint_eq(tray_capacity[TRAY_CLASSES - 1], 256);
    for (unsigned i = 0; i < TRAY_CLASSES; i++) {
        ck_assert_msg(!i || tray_capacity[i] > tray_capacity[i - 1], "class %u", i);
        ck_assert_msg(!i || tray_capacity[i] <= 2 * tray_capacity[i - 1], "class %u", i);
        size_t keys = (size_t)(tray_entries(start, i) - start);
        ck_assert_msg(keys >= tray_capacity[i] && keys < tray_capacity[i] + 4u && keys % 4 == 0,
                      "class %u: entries begin at %zu", i, keys);
    }
}
END_TEST

START_TEST(a_tray_that_was_given_is_the_next_to_be_taken)
{
    for (unsigned i = 0; i < TRAY_CLASSES; i++) {
        uint8_t *first = tray_alloc(i), *second = tray_alloc(i);
        ck_assert(first && second && first != second);
        ck_assert_uint_eq((uintptr_t)first % 8, 0);
        tray_free(first, i);
        tray_free(second, i);
        ck_assert_ptr_eq(tray_alloc(i), second);
        ck_assert_ptr_eq(tray_alloc(i), first);
    }
}
END_TEST

#define MOST 3000

/* 0: all classes alike; 1: mostly small ones, as in a heap; 2: mostly the largest. */
static unsigned random_class(uint64_t *state, int way)
{
    unsigned size_class = unit_random(state) % TRAY_CLASSES;
    if (way == 1)
        size_class = size_class * size_class / TRAY_CLASSES;
    return way == 2 && unit_random(state) % 4 ? TRAY_CLASSES - 1 : size_class;
}

START_TEST(trays_taken_and_given_at_random_do_not_touch)
{
    static struct held held[MOST];
    uint64_t state = unit_seed + (uint64_t)_i;
    unsigned count = 0;
    for (unsigned n = 0; n < 30000; n++) {
        if (count < MOST && unit_random(&state) % 5 < (n < 15000 ? 3 : 2)) {
            ck_assert(take(&held[count], random_class(&state, _i), n));
            count++;
        } else if (count) {
            unsigned at = unit_random(&state) % count;
            ck_assert_msg(whole(&held[at]),
                          "seed %" PRIu64 " step %u: a tray of class %u is damaged", unit_seed, n,
                          held[at].size_class);
            tray_free(held[at].tray, held[at].size_class);
            held[at] = held[--count];
        }
    }
    while (count--)
        ck_assert_msg(whole(&held[count]), "seed %" PRIu64 ": a tray of class %u is damaged",
                      unit_seed, held[count].size_class);
}
END_TEST

START_TEST(chunks_grow_with_what_is_there)
{
    uint64_t asked = 0, state = unit_seed;
    ck_assert_uint_eq(arena_used(), 0);
    ck_assert(tray_alloc(0));
    ck_assert_uint_eq(arena_used(), 64 << 10);
    for (unsigned n = 0; n < 100000; n++) {
        unsigned size_class = random_class(&state, 1);
        ck_assert(tray_alloc(size_class));
        asked += size_of(size_class);
        uint64_t most = asked + asked / 8 + (asked < 2 << 20 ? 64 << 10 : 256 << 10);
        ck_assert_msg(arena_used() <= most + asked / 50,
                      "seed %" PRIu64 ": %" PRIu64 " bytes for trays of %" PRIu64, unit_seed,
                      arena_used(), asked);
    }
}
END_TEST

/* ---- Without memory -------------------------------------------------------------------------- */

#define ROOMS 12 /* pages left */

/* The nearer the limit, the smaller the chunks, whatever their size was before: 64 KiB, 68, 72 ...
 */
START_TEST(near_the_limit_what_is_left_is_used_and_no_more)
{
    static struct held held[2000];
    unsigned count = 0;
    while (arena_used() < (400u + 50u * (_i / ROOMS)) << 10)
        ck_assert(take(&held[count], TRAY_CLASSES - 1, count)), count++;
    uint64_t limit = round_up(arena_used(), LEAK_PAGE) + (1 + _i % ROOMS) * LEAK_PAGE;
    arena_set_limit(limit);
    while (take(&held[count], TRAY_CLASSES - 1 - count % 3, count))
        count++;
    ck_assert_uint_le(arena_used(), limit);
    ck_assert_msg(arena_used() + 2 * LEAK_PAGE > limit, "%" PRIu64 " of %" PRIu64 " used",
                  arena_used(), limit);
    for (unsigned i = 0; i < count; i++)
        ck_assert_msg(whole(&held[i]), "tray %u of %u is damaged", i, count);
    /* What was there can still be had. */
    tray_free(held[0].tray, held[0].size_class);
    ck_assert_ptr_eq(tray_alloc(held[0].size_class), held[0].tray);
    ck_assert_ptr_null(tray_alloc(held[0].size_class));
    arena_set_limit(0);
    ck_assert(tray_alloc(held[0].size_class));
}
END_TEST

/* ---- Threads and fork ------------------------------------------------------------------------ */

#define THREADS 4

static void *take_and_give(void *argument)
{
    uint64_t state = unit_seed + (uintptr_t)argument, bad = 0;
    struct held held[64] = {{0}};
    for (unsigned n = 0; n < 50000; n++) {
        struct held *one = &held[unit_random(&state) % ARRAY_LENGTH(held)];
        if (one->tray) {
            bad += !whole(one);
            tray_free(one->tray, one->size_class);
            one->tray = NULL;
        } else {
            bad += !take(one, unit_random(&state) % 12, unit_random(&state));
        }
    }
    return (void *)(uintptr_t)bad;
}

START_TEST(threads_do_not_share_a_tray)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_and_give, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        ck_assert_msg(!bad, "seed %" PRIu64 ", thread %d: %d trays damaged or not to be had",
                      unit_seed, i, (int)(intptr_t)bad);
    }
}
END_TEST

START_TEST(a_fork_child_goes_on_with_its_copy)
{
    struct held mine, other;
    ck_assert(take(&mine, 10, 7));
    tray_fork_lock();
    pid_t pid = fork();
    if (pid == 0) {
        tray_fork_child();
        _exit(!(whole(&mine) && take(&other, 10, 8) && whole(&mine) && whole(&other)));
    }
    tray_fork_unlock();
    unit_await_success(pid);
    ck_assert(take(&other, 10, 9) && whole(&mine) && whole(&other));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("trays");
    TCase *all = tcase_create("trays");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, classes_rise_to_all_the_blocks_of_a_region);
    tcase_add_test(all, a_tray_that_was_given_is_the_next_to_be_taken);
    tcase_add_loop_test(all, trays_taken_and_given_at_random_do_not_touch, 0, 3);
    tcase_add_test(all, chunks_grow_with_what_is_there);
    tcase_add_loop_test(all, near_the_limit_what_is_left_is_used_and_no_more, 0, 12 * ROOMS);
    tcase_add_test(all, threads_do_not_share_a_tray);
    tcase_add_test(all, a_fork_child_goes_on_with_its_copy);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
