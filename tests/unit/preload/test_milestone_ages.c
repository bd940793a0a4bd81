/* test_milestone_ages.c - milestones, and how a leak check counts by them.
 *
 *     the ticks of milestones ascend; a block belongs to the last milestone that is not newer
 */
#include "tests/unit/preload/unit.h"
#include "tests/unit/preload/store_view.h"
#include "preload/leakcheck/result_writer.h"
#include "preload/track/milestones.h"
#include "preload/options/options.h"
#include "preload/store/store.h"
#include "preload/track/track.h"

static struct leak_milestone sorted[LEAK_MILESTONES];

static void setup(void)
{
    options_defaults(&options_current);
    ck_assert(store_create(unit_directory, "ages", environ));
    track_start();
}

START_TEST(each_milestone_begins_a_tick_of_its_own)
{
    uint32_t before = store_header->epoch;
    for (uint32_t n = 1; n <= 5; n++)
        ck_assert_uint_eq(milestones_add(n == 3 ? NULL : "same"), n);
    ck_assert_uint_eq(milestones_sorted(sorted), 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(sorted[i].number, i + 1);
        ck_assert_uint_gt(sorted[i].tick, i ? sorted[i - 1].tick : before);
        ck_assert_uint_eq(sorted[i].is_look, i == 2);
        ck_assert_str_eq(sorted[i].name, i == 2 ? "" : "same");
    }
    ck_assert_uint_eq(store_header->epoch, sorted[4].tick);
}
END_TEST

#define ROOM (LEAK_MILESTONES - 1)
START_TEST(a_long_name_is_cut_and_the_oldest_make_room)
{
    const char *name = "a name that is much longer than there is room for";
    for (uint32_t n = 1; n <= ROOM + 3; n++)
        milestones_add(name);
    ck_assert_uint_eq(milestones_sorted(sorted), ROOM);
    ck_assert_uint_eq(sorted[0].number, 4);
    ck_assert_uint_eq(sorted[ROOM - 1].number, ROOM + 3);
    ck_assert_uint_eq(strlen(sorted[0].name), LEAK_MILESTONE_NAME - 1);
    ck_assert(strncmp(sorted[0].name, name, LEAK_MILESTONE_NAME - 1) == 0);
}
END_TEST

START_TEST(what_is_known_has_a_place_to_itself)
{
    ck_assert_uint_eq(milestones_add_known(), 1);
    for (uint32_t n = 2; n <= 3 * ROOM; n++)
        milestones_add("more");
    ck_assert_uint_eq(milestones_sorted(sorted), LEAK_MILESTONES);
    ck_assert_uint_eq(sorted[0].number, 1);
    ck_assert(sorted[0].is_known && !sorted[0].is_look);
    ck_assert_str_eq(sorted[0].name, LEAK_MILESTONE_KNOWN);
    ck_assert_uint_eq(milestones_add_known(), 3 * ROOM + 1);
    ck_assert_uint_eq(milestones_sorted(sorted), LEAK_MILESTONES);
    ck_assert(!sorted[0].is_known && sorted[ROOM].is_known);
}
END_TEST

START_TEST(what_is_known_takes_no_other_milestones_place)
{
    for (uint32_t n = 0; n < ROOM; n++) {
        milestones_add("mark");
        milestones_add_known();
    }
    ck_assert_uint_eq(milestones_sorted(sorted), LEAK_MILESTONES);
    ck_assert_uint_eq(sorted[0].number, 1);
}
END_TEST

/* The only entry of a line and a milestone; 0 if there is none. */
static uint64_t told_of(const struct growable_array *told, uint32_t line, uint32_t milestone)
{
    const struct leak_age *age = (const struct leak_age *)told->bytes;
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < told->count; i++)
        if (age[i].found == line && age[i].milestone == milestone) {
            ck_assert_uint_eq(blocks, 0);
            ck_assert_uint_eq(age[i].bytes, age[i].blocks * 24);
            blocks = age[i].blocks;
        }
    return blocks;
}

START_TEST(a_block_counts_for_the_last_milestone_before_it)
{
    struct milestone_ages ages;
    struct growable_array told;
    milestones_add("one");
    milestones_add("two");
    milestones_sorted(sorted);
    const struct block blocks[] = {
        {.size = 24, .site = 9, .tick = sorted[0].tick - 1},
        {.size = 24, .site = 9, .tick = sorted[0].tick},
        {.size = 24, .site = 9, .tick = sorted[1].tick},
        {.size = 24, .site = 9, .tick = sorted[1].tick + 7},
        {.size = 24, .site = 4, .tick = sorted[1].tick}, /* inherited from a parent
 */
    };
    store_header->inherited_sites = 4;
    ck_assert(milestone_ages_begin(&ages, 2));
    for (uint32_t i = 0; i < ARRAY_LENGTH(blocks); i++)
        milestone_ages_add(&ages, 1, &blocks[i]);
    ck_assert(growable_array_map(&told, sizeof(struct leak_age), 16));
    milestone_ages_write(&ages, 2, &told);
    ck_assert_uint_eq(told_of(&told, 1, 1), 1);
    ck_assert_uint_eq(told_of(&told, 1, 2), 2);
    ck_assert_uint_eq(told.count, 2);
}
END_TEST

START_TEST(without_milestones_there_are_no_ages)
{
    struct milestone_ages ages;
    struct growable_array told;
    const struct block block = {.size = 24, .site = 9, .tick = 1000};
    ck_assert(milestone_ages_begin(&ages, 1) && growable_array_map(&told, sizeof(struct leak_age), 16));
    milestone_ages_add(&ages, 0, &block);
    milestone_ages_write(&ages, 1, &told);
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("milestone_ages");
    TCase *all = tcase_create("ages");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, each_milestone_begins_a_tick_of_its_own);
    tcase_add_test(all, a_long_name_is_cut_and_the_oldest_make_room);
    tcase_add_test(all, what_is_known_has_a_place_to_itself);
    tcase_add_test(all, what_is_known_takes_no_other_milestones_place);
    tcase_add_test(all, a_block_counts_for_the_last_milestone_before_it);
    tcase_add_test(all, without_milestones_there_are_no_ages);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
