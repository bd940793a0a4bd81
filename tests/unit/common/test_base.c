/* test_base.c - the containers that all tools use: hash table, sorted arrays, address ranges. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/hashmap.h"
#include "common/base/interval_map.h"
#include "common/base/term_text.h"
#include "tests/unit/suite.h"

#define MANY 10000

START_TEST(hashmap_keeps_each_key_once)
{
    struct hashmap map = {0};
    bool fresh;

    ck_assert_uint_eq(hashmap_get(&map, 1), 0);
    for (uint64_t key = 0; key < MANY; key++) {
        *hashmap_put(&map, key << 32, &fresh) = key + 1;
        ck_assert(fresh);
    }
    for (uint64_t key = 0; key < MANY; key++) {
        ck_assert_uint_eq(hashmap_get(&map, key << 32), key + 1);
        ck_assert_uint_eq(*hashmap_put(&map, key << 32, &fresh), key + 1);
        ck_assert(!fresh);
    }
    ck_assert_uint_eq(hashmap_get(&map, 1), 0);
    ck_assert_uint_eq(map.used, MANY);
    hashmap_end(&map);
    ck_assert_uint_eq(hashmap_get(&map, 0), 0);
}
END_TEST

START_TEST(hashmap_iterates_over_all_values)
{
    struct hashmap map = {0};
    uint64_t value, sum = 0;
    size_t at = 0;

    ck_assert_uint_eq(hashmap_next(&map, &at), 0);
    for (uint64_t key = 0; key < MANY; key++)
        *hashmap_put(&map, key, NULL) = key + 1;
    for (at = 0; (value = hashmap_next(&map, &at));)
        sum += value;
    ck_assert_uint_eq(sum, (uint64_t)MANY * (MANY + 1) / 2);
    hashmap_end(&map);
}
END_TEST

/* Signatures in recorded baselines are made of these values. */
START_TEST(hash_values_never_change)
{
    ck_assert_uint_eq(hash_mix(0, 0), 0);
    ck_assert_uint_eq(hash_mix(1, 2), 0xbec2299b7e576688u);
    ck_assert_uint_eq(hash_text(7, "leak_check", 10), 0x87574309c8192cf2u);
}
END_TEST

static bool is_below(const void *item, const void *key)
{
    return *(const int *)item < *(const int *)key;
}

START_TEST(lower_bound_is_the_first_item_not_below_the_key)
{
    static const int items[] = {1, 3, 3, 3, 7, 9};

    for (size_t count = 0; count <= 6; count++)
        for (int key = 0; key <= 10; key++) {
            size_t expected = 0;

            while (expected < count && items[expected] < key)
                expected++;
            ck_assert_uint_eq(array_lower_bound(items, count, sizeof(*items), is_below, &key),
                              expected);
        }
}
END_TEST

START_TEST(array_grows_and_keeps_its_items)
{
    size_t capacity = 0;
    int *array = NULL;

    for (int i = 0; i < MANY; i++) {
        array = array_grow(array, &capacity, (size_t)i + 1, sizeof(*array));
        ck_assert_uint_gt(capacity, (size_t)i);
        array[i] = i;
    }
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(array[i], i);
    free(array);
}
END_TEST

START_TEST(overlapping_ranges_are_all_found_the_highest_start_first)
{
    struct interval_map spans = {0};
    size_t cursor;

    interval_map_add(&spans, 100, 200, 0);
    interval_map_add(&spans, 0, 1000, 1);
    interval_map_add(&spans, 150, 160, 2);
    interval_map_add(&spans, 300, 300, 3); /* empty: not added */
    interval_map_add(&spans, 300, 301, 4);
    interval_map_sort(&spans);
    cursor = spans.count;
    ck_assert_uint_eq(interval_map_next(&spans, 155, &cursor), 2);
    ck_assert_uint_eq(interval_map_next(&spans, 155, &cursor), 0);
    ck_assert_uint_eq(interval_map_next(&spans, 155, &cursor), 1);
    ck_assert_uint_eq(interval_map_next(&spans, 155, &cursor), INTERVAL_NONE);
    cursor = spans.count;
    ck_assert_uint_eq(interval_map_next(&spans, 300, &cursor), 4);
    ck_assert_uint_eq(interval_map_next(&spans, 300, &cursor), 1);
    cursor = spans.count;
    ck_assert_uint_eq(interval_map_next(&spans, 1000, &cursor), INTERVAL_NONE);
    interval_map_end(&spans);
}
END_TEST

START_TEST(an_arena_gives_zeroed_aligned_memory)
{
    struct arena *arena = arena_begin();

    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        char *memory = arena_alloc(arena, size);

        ck_assert_uint_eq((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_int_eq(memory[i], 0);
        memset(memory, 1, size);
    }
    ck_assert_str_eq(arena_format(arena, "%d-%s", 7, "x"), "7-x");
    ck_assert_str_eq(arena_copy(arena, "leaky", 4), "leak");
    arena_end(arena);
    arena_end(NULL);
}
END_TEST

static const struct {
    uint64_t ns;
    const char *text;
} durations[] = {{400000000, "0.4 s"},
                 {12000000000, "12 s"},
                 {200000000000, "3 min 20 s"},
                 {18600000000000, "5 h 10 min"},
                 {1036800000000000, "12 days"}};

START_TEST(durations_are_as_precise_as_they_need_be)
{
    char text[TIME_TEXT_SIZE];

    ck_assert_str_eq(time_format_span(durations[_i].ns, text), durations[_i].text);
}
END_TEST

START_TEST(a_time_is_read_back_as_it_was_written)
{
    char text[TIME_TEXT_SIZE];
    uint64_t ns = 1714979289123000000;

    ck_assert_str_eq(time_format_iso(ns, text), "2024-05-06T07:08:09.123Z");
    ck_assert_uint_eq(time_parse_iso(text), ns);
    ck_assert_uint_eq(time_parse_iso("2024-05-06T07:08:09Z"), 0);
    ck_assert_ptr_null(time_format_iso(0, text));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *all = tcase_create("all");

    tcase_add_test(all, hashmap_keeps_each_key_once);
    tcase_add_test(all, hashmap_iterates_over_all_values);
    tcase_add_test(all, hash_values_never_change);
    tcase_add_test(all, lower_bound_is_the_first_item_not_below_the_key);
    tcase_add_test(all, array_grows_and_keeps_its_items);
    tcase_add_test(all, overlapping_ranges_are_all_found_the_highest_start_first);
    tcase_add_test(all, an_arena_gives_zeroed_aligned_memory);
    tcase_add_loop_test(all, durations_are_as_precise_as_they_need_be, 0, ROWS(durations));
    tcase_add_test(all, a_time_is_read_back_as_it_was_written);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
