/* test_scan_arena.c - the memory of a leak check: zeroed, within its limit, and completely freed.
 *
 *     used, spare = sums of the sizes of the mappings; used + spare <= most
 */
#include "tests/unit/preload/unit.h"
#include "preload/mark/scan_arena.h"

#define KIB 1024ull
#define MIB (1024 * KIB)

static struct scan_arena arena;

static void setup(void)
{
    arena = (struct scan_arena){.most = 64 * MIB};
}

static uint64_t sum_of(bool spare)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < arena.maps; i++)
        all += arena.map[i].spare == spare ? arena.map[i].size : 0;
    return all;
}

static uint64_t sum(void)
{
    ck_assert_uint_eq(arena.spare, sum_of(true));
    ck_assert(arena.used + arena.spare <= arena.most);
    return sum_of(false);
}

static bool is_zero(const char *memory, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (memory[i])
            return false;
    return true;
}

static char *take(uint64_t size)
{
    char *memory = scan_arena_map(&arena, size, 1);
    ck_assert(memory && is_zero(memory, size));
    ck_assert_uint_eq(arena.used, sum());
    memset(memory, 0x55, size);
    return memory;
}

START_TEST(arrays_of_every_size_are_zeros_and_apart)
{
    static const uint64_t sizes[] = {1,       4096,      40 * KIB,  MIB - 1, 3 * MIB,
                                     5 * MIB, 700 * KIB, 700 * KIB, 8,       900 * KIB};
    char *memory[ARRAY_LENGTH(sizes)];
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        memory[i] = take(sizes[i]);
        memset(memory[i], i + 1, sizes[i]);
    }
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++)
        for (uint64_t at = 0; at < sizes[i]; at++)
            UNIT_WANT(memory[i][at] == (char)(i + 1));
    scan_arena_free(&arena);
    ck_assert_uint_eq(arena.used, 0);
    ck_assert_uint_eq(arena.maps, 0);
}
END_TEST

START_TEST(what_is_given_back_can_be_had_again_as_zeros)
{
    for (unsigned i = 0; i < 200; i++) { /* twice the limit, one after the other */
        char *memory = take((i % 4 + 1) * 512 * KIB - 4096);
        scan_arena_unmap(&arena, memory);
    }
    scan_arena_unmap(&arena, NULL);
    scan_arena_free(&arena);
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

START_TEST(the_limit_holds_to_the_page)
{
    arena.most = 3 * MIB;
    ck_assert(!scan_arena_map(&arena, 3 * MIB + 1, 1));
    char *memory = take(3 * MIB); /* too little for whole huge pages */
    ck_assert_uint_eq(arena.used, 3 * MIB);
    ck_assert(!scan_arena_map(&arena, 1, 1));
    scan_arena_unmap(&arena, memory);
    take(2 * MIB);
    for (unsigned i = 0; i < 8; i++) /* nor for a mapping to cut parts from */
        take(128 * KIB);
    ck_assert_uint_eq(arena.used, 3 * MIB);
    ck_assert(!scan_arena_map(&arena, 1, 1));
    ck_assert(!scan_arena_map(&arena, UINT64_MAX / 2, 4));
    scan_arena_free(&arena);
}
END_TEST

START_TEST(going_back_leaves_what_was_there_before)
{
    char *before = take(2 * MIB), *part = take(100 * KIB);
    struct scan_arena then = arena;
    for (unsigned i = 0; i < 30; i++)
        take(i * 60 * KIB + 1);
    scan_arena_rewind(&arena, &then);
    ck_assert_uint_eq(arena.used, then.used);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert(before[2 * MIB - 1] == 0x55 && part[100 * KIB - 1] == 0x55);
    for (unsigned i = 0; i < 10; i++)
        take(200 * KIB); /* zeros again */
    scan_arena_free(&arena);
}
END_TEST

/* Until it does not fit: then the old array is still there. */
START_TEST(what_grows_keeps_its_content)
{
    static const uint64_t begins[] = {4096, 700 * KIB, 2 * MIB};
    for (unsigned i = 0; i < ARRAY_LENGTH(begins); i++) {
        uint64_t size = begins[i];
        char *other = take(3 * MIB), *memory = take(size), *larger;
        memory[0] = 1;
        memory[size - 1] = 2;
        while ((larger = scan_arena_grow(&arena, memory, size, 2 * size, 1))) {
            ck_assert(larger[0] == 1 && larger[size - 1] == 2 && larger[size / 2] == 0x55);
            ck_assert_uint_eq(arena.used, sum());
            memset(larger + size, 0x55, size);
            memory = larger;
            size *= 2;
            memory[size - 1] = 2;
        }
        ck_assert(size >= 16 * MIB && memory[0] == 1 && memory[size - 1] == 2);
        ck_assert(other[0] == 0x55 && other[3 * MIB - 1] == 0x55);
        ck_assert(!scan_arena_grow(&arena, memory, size, UINT64_MAX / 2, 4));
        scan_arena_free(&arena);
        ck_assert_uint_eq(arena.used + arena.spare, 0);
    }
}
END_TEST

START_TEST(large_maps_grow_where_they_are_or_into_what_was_given_back)
{
    char *large = take(4 * MIB);
    uint64_t used = arena.used;
    ck_assert_ptr_eq(scan_arena_grow(&arena, large, MIB, 4 * MIB, 1), large); /* that much is there */
    ck_assert_uint_eq(arena.used, used);
    char *spare = take(16 * MIB);
    scan_arena_unmap(&arena, spare);
    ck_assert_ptr_eq(scan_arena_grow(&arena, large, 4 * MIB, 8 * MIB, 1), spare);
    ck_assert(spare[0] == 0x55 && spare[4 * MIB - 1] == 0x55);
    ck_assert_uint_eq(arena.used, sum());
    scan_arena_free(&arena);
}
END_TEST

/* A spare mapping is freed when an array needs the memory. */
START_TEST(what_was_given_back_goes_where_the_limit_is_near)
{
    arena.most = 20 * MIB;
    char *large = take(4 * MIB), *other = take(10 * MIB), *spare = take(4 * MIB);
    scan_arena_unmap(&arena, spare);
    char *larger = scan_arena_grow(&arena, large, 4 * MIB, 8 * MIB, 1);
    ck_assert(larger && larger[4 * MIB - 1] == 0x55 && other[0] == 0x55);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert_uint_eq(arena.used, 18 * MIB);
    ck_assert(!scan_arena_grow(&arena, larger, 8 * MIB, 16 * MIB, 1));
    scan_arena_free(&arena);
}
END_TEST

START_TEST(large_maps_are_cut_from_what_was_given_back)
{
    char *large = take(8 * MIB), *small = take(4 * MIB);
    scan_arena_unmap(&arena, large);
    scan_arena_unmap(&arena, small);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert_uint_eq(arena.used, 0);
    ck_assert_ptr_eq(scan_arena_map_raw(&arena, 3 * MIB, 1), small); /* the smallest that fits */
    ck_assert_ptr_eq(scan_arena_map_raw(&arena, 5 * MIB, 1), large);
    ck_assert_ptr_eq(scan_arena_map_raw(&arena, 2 * MIB, 1), large + 6 * MIB);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert_uint_eq(arena.used, 12 * MIB);
    ck_assert_uint_eq(arena.spare, 0);
    char *other = scan_arena_map_raw(&arena, 2 * MIB, 1); /* no spare mapping is left to cut */
    ck_assert(other && (other < large || other >= large + 8 * MIB) &&
              (other < small || other >= small + 4 * MIB));
    scan_arena_unmap(&arena, large);
    ck_assert_uint_eq(arena.spare, 6 * MIB);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert_ptr_eq(take(2 * MIB), large); /* zeros again */
    ck_assert_uint_eq(arena.spare, 4 * MIB);
    ck_assert(!scan_arena_map_raw(&arena, UINT64_MAX / 2, 4));
    scan_arena_free(&arena);
    ck_assert_uint_eq(arena.used + arena.spare, 0);
}
END_TEST

START_TEST(what_is_kept_makes_room_when_the_limit_is_near)
{
    scan_arena_unmap(&arena, take(40 * MIB));
    ck_assert_uint_eq(arena.spare, 40 * MIB);
    take(50 * MIB);
    ck_assert_uint_eq(arena.spare, 0);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert(!scan_arena_map(&arena, 20 * MIB, 1));
    scan_arena_free(&arena);
}
END_TEST

START_TEST(going_back_leaves_nothing_of_what_was_cut_meanwhile)
{
    char *large = take(8 * MIB), *kept = take(4 * MIB);
    struct scan_arena then = arena;
    scan_arena_unmap(&arena, large);
    ck_assert_ptr_eq(scan_arena_map_raw(&arena, 8 * MIB, 1), large); /* the same address, and another mapping */
    scan_arena_rewind(&arena, &then);
    ck_assert_uint_eq(arena.used, 4 * MIB);
    ck_assert_uint_eq(arena.used, sum());
    ck_assert_uint_eq(arena.spare, 0);
    ck_assert(kept[4 * MIB - 1] == 0x55);
    scan_arena_free(&arena);
}
END_TEST

START_TEST(an_array_keeps_what_it_has_when_it_grows)
{
    struct scan_array array = {0};
    take(2 * MIB);
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t *place = scan_array_push(&arena, &array, sizeof *place);
        UNIT_WANT(place);
        *place = i * 3;
    }
    for (uint64_t i = 0; i < 300000; i++)
        UNIT_WANT(((uint64_t *)array.at)[i] == i * 3);
    scan_array_free(&arena, &array);
    scan_arena_free(&arena);
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("scan_arena");
    TCase *maps = tcase_create("maps");
    tcase_add_checked_fixture(maps, setup, NULL);
    tcase_add_test(maps, arrays_of_every_size_are_zeros_and_apart);
    tcase_add_test(maps, what_is_given_back_can_be_had_again_as_zeros);
    tcase_add_test(maps, the_limit_holds_to_the_page);
    tcase_add_test(maps, going_back_leaves_what_was_there_before);
    tcase_add_test(maps, what_grows_keeps_its_content);
    tcase_add_test(maps, large_maps_grow_where_they_are_or_into_what_was_given_back);
    tcase_add_test(maps, what_was_given_back_goes_where_the_limit_is_near);
    tcase_add_test(maps, large_maps_are_cut_from_what_was_given_back);
    tcase_add_test(maps, what_is_kept_makes_room_when_the_limit_is_near);
    tcase_add_test(maps, going_back_leaves_nothing_of_what_was_cut_meanwhile);
    tcase_add_test(maps, an_array_keeps_what_it_has_when_it_grows);
    suite_add_tcase(suite, maps);
    return unit_main(argc, argv, suite);
}
