/* test_downsample.c - of the points of a month a handful remains: dense for recent ones, sparse for old ones. */
#include "tests/unit/preload/unit.h"
#include "tests/unit/size.h"
#include "preload/memory/collections.h"

#define DAY 86400u

static struct downsample points;

static void invariant(void)
{
    bool used[DOWNSAMPLE_MOST] = {false};
    for (uint32_t i = 0; i < points.count; i++) {
        UNIT_WANT(i == 0 || points.tick[i] > points.tick[i - 1]);
        UNIT_WANT(points.place[i] < points.room && !used[points.place[i]]);
        used[points.place[i]] = true;
    }
}

static void fill(uint32_t room, uint32_t from, uint32_t to, uint32_t every)
{
    points.room = room;
    for (uint32_t t = from; t <= to; t += every)
        UNIT_WANT(downsample_place(&points, t) < room);
}

START_TEST(places_are_taken_in_turn_and_then_given_again)
{
    fill(64, 10, 73, 1);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(points.place[i], i);
    fill(64, 74, 5000, 1);
    ck_assert_uint_eq(points.count, 64);
    invariant();
}
END_TEST

START_TEST(the_first_and_the_last_stay)
{
    fill(64, 7, DAY, 1);
    ck_assert_uint_eq(points.tick[0], 7);
    ck_assert_uint_eq(downsample_last(&points), DAY);
}
END_TEST

START_TEST(time_does_not_stand_still)
{
    fill(64, 1, 100, 1);
    ck_assert_uint_eq(downsample_place(&points, 100), SIZE_MAX);
    ck_assert_uint_eq(downsample_place(&points, 3), SIZE_MAX);
    ck_assert_uint_lt(downsample_place(&points, 101), 64);
}
END_TEST

/* Nowhere is there a hole: neither for the age of what it hides, nor for the whole. */
static const struct {
    uint32_t room, end, every;
} lives[] = {{64, 3600, 1},     {64, DAY, 1},       {64, 30 * DAY, 1},
             {256, 8 * DAY, 1}, {256, 30 * DAY, 3}, {64, 365 * DAY, 60}};

START_TEST(a_long_life_is_known_from_its_beginning_to_now)
{
    uint32_t end = unit_size(lives[_i].end), every = lives[_i].every;
    fill(lives[_i].room, 1, end, every);
    invariant();
    uint32_t recent = 0;
    for (uint32_t i = 1; i < points.count; i++) {
        uint32_t gap = points.tick[i] - points.tick[i - 1], age = end - points.tick[i - 1];
        ck_assert_msg(gap <= 2 * every || (gap < age * 0.7 && gap < end / 10),
                      "%u without a point, %u ago, of %u", gap, age, end);
        recent += age <= 60 * every;
    }
    ck_assert_uint_ge(recent, 8); /* of the last sixty */
}
END_TEST

START_TEST(points_that_come_in_bursts_leave_no_hole)
{
    points.room = 64;
    for (uint32_t day = 0; day < 60; day++)
        for (uint32_t t = 0; t < 600; t++)
            ck_assert_uint_lt(downsample_place(&points, 1 + day * DAY + t), 64);
    invariant();
    uint32_t days = 0;
    for (uint32_t day = 0; day < 60; day++) {
        bool any = false;
        for (uint32_t i = 0; i < points.count; i++)
            any |= points.tick[i] / DAY == day;
        days += any;
    }
    ck_assert_uint_ge(days, 30);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("thin");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, places_are_taken_in_turn_and_then_given_again);
    tcase_add_test(all, the_first_and_the_last_stay);
    tcase_add_test(all, time_does_not_stand_still);
    tcase_add_loop_test(all, a_long_life_is_known_from_its_beginning_to_now, 0,
                        ARRAY_LENGTH(lives));
    tcase_add_test(all, points_that_come_in_bursts_leave_no_hole);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
