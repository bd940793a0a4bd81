/* test_growth.c - series of every shape, and what they are called.
 *
 * A shape is a function from the time to live bytes, and perhaps to what was allocated and freed. Each is
 * sampled once a second with some jitter, for several lengths and dice; a shape that was seen for too
 * short a time has no verdict.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/growth.h"
#include "tests/unit/suite.h"

#define MB 1e6
#define MOST 4000
#define DICE 20

static unsigned dice;

/* From 0 to 1. */
static double any(void)
{
    dice = dice * 1103515245 + 12345;
    return (double)(dice >> 8 & 0xffff) / 0xffff;
}

/* ---- Shapes: t is the time, total the length of the run ---------------------------------------- */

static double linear(double t, double total) { return total * 0 + t * MB; }
static double slow_on_a_large_base(double t, double total) { return total * 0 + 500 * MB + t * 50e3; }
static double noisy_linear(double t, double total)
{
    return total * 0 + t * MB + 2 * MB * any();
}
static double steps(double t, double total) { return floor(t / total * 7) * MB; }
static double with_pauses(double t, double total)
{
    double piece = total / 6, n = floor(t / piece), rest = fmod(t, piece);
    return (n + fmin(2 * rest / piece, 1)) * piece * MB;
}
static double saw_tooth(double t, double total) { return total * 0 + fmod(t, 4.3) * MB; }
static double long_saw_tooth(double t, double total) { return fmod(t, total / 2.7) * MB; }
static double saw_tooth_with_rising_floor(double t, double total)
{
    return total * 0 + t * MB + fmod(t, 3) * MB;
}
static double plateau_late(double t, double total) { return fmin(t, total * 0.6) * MB; }
static double startup(double t, double total) { return fmin(t / total, 0.1) * 100 * MB; }
static double one_off(double t, double total) { return t > total / 3 ? 100 * MB : 0.1 * MB; }
static double steady(double t, double total) { return t * 0 + total * 0 + 10 * MB; }
static double steady_with_noise(double t, double total)
{
    return t * 0 + total * 0 + 10 * MB + 6 * MB * (any() - 0.5);
}
static double logarithmic(double t, double total) { return log1p(1000 * t / total) * 10 * MB; }
static double root(double t, double total) { return sqrt(t / total) * 100 * MB; }
static double exponential(double t, double total) { return exp(4 * t / total) * MB; }
static double quadratic(double t, double total) { return pow(t / total, 2) * 100 * MB; }
static double startup_then_linear(double t, double total)
{
    return fmin(t * 20, total) * MB * 0.5 + t * MB * 0.5;
}
static double growth_that_stopped(double t, double total) { return fmin(t, total * 0.75) * MB; }
static double cleared_at_exit(double t, double total) { return t > total - 1 ? 0 : t * MB; }
static double flat_and_cleared(double t, double total) { return t > total - 1 ? 0 : 30 * MB; }
static double came_and_went(double t, double total)
{
    return t > total * 0.3 && t < total * 0.6 ? 50 * MB : 0.1 * MB;
}
static double falling(double t, double total) { return (2 * total - t) * MB; }
static double too_small(double t, double total) { return t / total * 4000; }
static double first_full_then_more(double t, double total)
{
    return 40 * MB + (t > total / 2 ? (t - total / 2) * MB : 0);
}

#define IS(verdict) (1u << GROWTH_##verdict)
#define RESTS (IS(PLATEAU) | IS(STARTUP) | IS(STEADY) | IS(SAWTOOTH))

static const struct shape {
    const char *name;
    double (*bytes)(double t, double total);
    unsigned allowed;
} shapes[] = {
#define SHAPE(function, allowed) {#function, function, allowed}
    SHAPE(linear, IS(GROWING)),
    SHAPE(slow_on_a_large_base, IS(GROWING)),
    SHAPE(noisy_linear, IS(GROWING)),
    SHAPE(steps, IS(GROWING)),
    SHAPE(with_pauses, IS(GROWING)),
    SHAPE(saw_tooth_with_rising_floor, IS(GROWING)),
    SHAPE(root, IS(GROWING)),
    SHAPE(exponential, IS(GROWING)),
    SHAPE(quadratic, IS(GROWING)),
    SHAPE(startup_then_linear, IS(GROWING)),
    SHAPE(cleared_at_exit, IS(GROWING)),
    SHAPE(first_full_then_more, IS(GROWING)),
    SHAPE(saw_tooth, IS(SAWTOOTH)),
    SHAPE(long_saw_tooth, IS(SAWTOOTH)),
    SHAPE(plateau_late, IS(PLATEAU)),
    SHAPE(growth_that_stopped, IS(PLATEAU)),
    SHAPE(one_off, IS(PLATEAU)),
    SHAPE(startup, IS(STARTUP)),
    SHAPE(steady, IS(STARTUP) | IS(STEADY)),
    SHAPE(flat_and_cleared, IS(STARTUP) | IS(STEADY)),
    SHAPE(steady_with_noise, IS(STEADY) | IS(SAWTOOTH)),
    SHAPE(logarithmic, IS(PLATEAU)),
    SHAPE(came_and_went, IS(STEADY)),
    SHAPE(falling, RESTS),
    SHAPE(too_small, RESTS),
};
#define SHAPES (int)(sizeof(shapes) / sizeof(*shapes))

/* Points of a run, about one a `gap`. */
static size_t sample(const struct shape *shape, double total, double gap, struct growth_point *points)
{
    size_t count = 0;

    for (double t = 0.5; t <= total && count < MOST; t += gap * (0.9 + 0.3 * any()))
        points[count++] = (struct growth_point){
            .time = t, .bytes = shape->bytes(t, total), .allocs = 100 * t, .frees = 10 * t};
    return count;
}

static struct growth_point points[MOST];

/* 16 s as somebody waits for, 60 s, and an hour thinned to what the store keeps of it. */
static const struct {
    double total, gap;
} runs[] = {{18, 1}, {60, 1}, {3600, 60}};

START_TEST(a_shape_is_called_what_it_is)
{
    const struct shape *shape = &shapes[_i];

    for (size_t r = 0; r < sizeof(runs) / sizeof(*runs); r++)
        for (dice = 1; dice <= DICE; dice++) {
            unsigned seed = dice;
            size_t count = sample(shape, runs[r].total, runs[r].gap, points);
            struct growth_finding finding = growth_judge(points, count, false);

            if (runs[r].gap > 4 && strstr(shape->name, "saw_tooth") == shape->name)
                break; /* its teeth are shorter than what is between two samples */
            ck_assert_msg(shape->allowed & 1u << finding.verdict, "%s, %.0f s, dice %u: %s", shape->name,
                          runs[r].total, seed,
                          finding.verdict ? growth_word[finding.verdict] : "no verdict");
            ck_assert_msg((finding.bytes_per_second > 0) == growth_is_growing(finding.verdict),
                          "%s: %f bytes/s", shape->name, finding.bytes_per_second);
            ck_assert(finding.confidence > 0 && finding.confidence <= 1);
            dice = seed;
        }
}
END_TEST

START_TEST(a_rate_is_that_of_the_growth)
{
    size_t count = sample(&shapes[0], 60, 1, points);
    struct growth_finding finding = growth_judge(points, count, false);

    ck_assert_double_eq_tol(finding.bytes_per_second, MB, MB / 100);
    ck_assert_double_eq_tol(finding.peak, 60 * MB, 2 * MB);
}
END_TEST

/* Of many steady sites none is called growing because one of them may be, by chance. */
START_TEST(noise_is_hardly_ever_growth)
{
    static const double lengths[] = {12, 18, 30, 64, 200};
    unsigned growing = 0, all = 0;

    for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++)
        for (unsigned seed = 1; seed <= 4000; seed++, all++) {
            double level = 10 * MB, walk = 0;
            size_t count = 0;

            dice = seed * 2654435761u;
            for (double t = 0.5; t < lengths[l] && count < 64; t += fmax(1, lengths[l] / 64)) {
                walk = 0.7 * walk + (any() - 0.5) * 2 * MB; /* it comes back */
                points[count++] = (struct growth_point){
                    .time = t, .bytes = seed & 1 ? level + walk : level * any(), .allocs = t, .frees = t};
            }
            growing += growth_is_growing(growth_judge(points, count, false).verdict);
        }
    ck_assert_msg(growing <= all / 1000, "%u of %u noises grow", growing, all);
}
END_TEST

/* ---- Too little --------------------------------------------------------------------------------- */

START_TEST(without_time_there_is_no_verdict)
{
    static const struct {
        double total, gap;
    } rows[] = {{2, 0.125}, {5, 1}, {30, 16}, {100, 60}, {6.5, 0.2}};
    size_t count = sample(&shapes[0], rows[_i].total, rows[_i].gap, points);

    ck_assert_int_eq(growth_judge(points, count, false).verdict, GROWTH_UNKNOWN);
    ck_assert_int_eq(growth_judge(points, 0, false).verdict, GROWTH_UNKNOWN);
    ck_assert_int_eq(growth_judge(points, 1, false).verdict, GROWTH_UNKNOWN);
    ck_assert_int_eq(growth_judge(points, 2, false).verdict, GROWTH_UNKNOWN);
}
END_TEST

START_TEST(nothing_at_all_has_no_verdict)
{
    for (size_t i = 0; i < 60; i++)
        points[i] = (struct growth_point){.time = (double)i};
    ck_assert_int_eq(growth_judge(points, 60, false).verdict, GROWTH_UNKNOWN);
}
END_TEST

/* ---- Queues ------------------------------------------------------------------------------------- */

/* 1,000 a second come and `gone` go; how old they are when they go is the row's. */
struct queue {
    double gone;
    enum { OLDEST, YOUNGEST, ANY_AGE, UNKNOWN_AGE } order;
    enum growth_verdict verdict;
};

static const struct queue queues[] = {
    {500, OLDEST, GROWTH_SLOW_CONSUMER},  {900, OLDEST, GROWTH_SLOW_CONSUMER},
    {200, OLDEST, GROWTH_SLOW_CONSUMER},  {20, OLDEST, GROWTH_GROWING},
    {500, YOUNGEST, GROWTH_GROWING},      {950, YOUNGEST, GROWTH_GROWING},
    {500, UNKNOWN_AGE, GROWTH_GROWING},   {500, ANY_AGE, GROWTH_GROWING},
};

static double age_of(const struct queue *queue, double t)
{
    double oldest = t - t * queue->gone / 1000; /* the n-th to go was the n-th to come */

    return queue->order == OLDEST     ? oldest
           : queue->order == YOUNGEST ? 0.01
           : queue->order == ANY_AGE  ? oldest * 0.4
                                      : 0;
}

START_TEST(a_queue_gives_back_its_oldest)
{
    const struct queue *queue = &queues[_i];
    double age = 0;
    size_t count = 0;
    struct growth_finding finding;

    for (double t = 0.5; t < 18; t += 1) {
        age += age_of(queue, t) * queue->gone;
        points[count++] = (struct growth_point){.time = t,
                                                .bytes = (1000 - queue->gone) * t * 512,
                                                .allocs = 1000 * t,
                                                .frees = queue->gone * t,
                                                .freed_age = age};
    }
    finding = growth_judge(points, count, false);
    ck_assert_str_eq(growth_word[finding.verdict], growth_word[queue->verdict]);
    ck_assert_double_eq_tol(finding.kept, 1 - queue->gone / 1000, 0.01);
    ck_assert(!finding.one_block);
}
END_TEST

/* realloc takes the old one and gives a longer one: one comes, one goes, and that was the oldest. */
START_TEST(one_block_that_becomes_longer_is_no_queue)
{
    size_t count = 0;
    struct growth_finding finding;

    for (double t = 0.5; t < 18; t += 1)
        points[count++] = (struct growth_point){.time = t,
                                                .bytes = t * MB,
                                                .allocs = 10 * t + 1,
                                                .frees = 10 * t,
                                                .freed_age = t};
    finding = growth_judge(points, count, false);
    ck_assert_str_eq(growth_word[finding.verdict], "growing");
    ck_assert(finding.one_block);
}
END_TEST

/* ---- The end ------------------------------------------------------------------------------------ */

/* Grows for 12 s, falls for `falls` s to `left` of it, and waits. */
static const struct teardown {
    double falls, left, waits;
    bool goes_on; /* it still allocates while it falls */
    bool ended, grew;
} teardowns[] = {
    {2, 0, 0, false, false, true},   {2, 0, 0, true, true, true},    {4, 0, 0, false, true, true},
    {5, 0, 0.5, false, true, true},  {4, 0.05, 0.5, false, true, true}, {4, 0, 0, false, false, false},
    {4, 0, 0, true, true, false},    {4, 0.3, 0, false, true, false}, {12, 0, 0, false, true, false},
    {2, 0, 4, false, true, false},   {4, 0, 5, false, true, false},
};

START_TEST(a_teardown_is_not_taken_for_the_fall_of_a_tooth)
{
    const struct teardown *it = &teardowns[_i];
    double total = 12 + it->falls + it->waits;
    size_t count = 0;
    struct growth_finding finding;

    for (double t = 0.25; t <= total; t += 0.5) {
        double down = fmin(fmax(t - 12, 0) / it->falls, 1), up = fmin(t, 12) * 1000;

        points[count++] = (struct growth_point){.time = t,
                                                .bytes = up * 1000 * (1 - down * (1 - it->left)),
                                                .allocs = it->goes_on ? t * 1000 : up,
                                                .frees = up * down};
    }
    finding = growth_judge(points, count, it->ended);
    ck_assert_msg(growth_is_growing(finding.verdict) == it->grew, "%d: %s", _i,
                  growth_word[finding.verdict]);
    if (it->grew)
        ck_assert_double_eq_tol(finding.bytes_per_second, MB, MB / 20);
}
END_TEST

/* ---- A long life -------------------------------------------------------------------------------- */

/* Points as the store keeps them of a month: close together now, far apart then. */
static size_t month(double (*bytes)(double before_end))
{
    static const double before[] = {2.6e6, 2.2e6, 1.8e6, 1.4e6, 1e6,  8e5,  6e5,  4e5,  3e5,  2e5, 1e5,
                                    5e4,   3e4,   2e4,   1e4,   7000, 5000, 3600, 2900, 2400, 2000, 1600,
                                    1300,  1000,  800,   600,   450,  300,  200,  150,  100,  70,  50,
                                    30,    20,    14,    10,    7,    5,    3,    2,    1,    0};
    size_t count = sizeof(before) / sizeof(*before);

    for (size_t i = 0; i < count; i++)
        points[i] = (struct growth_point){.time = 2.6e6 - before[i], .bytes = bytes(before[i])};
    return count;
}

static double lately(double before) { return 50 * MB + fmax(2400 - before, 0) * 660e3; }
static double once_an_hour(double before) { return 50 * MB + fmod(2.6e6 - before, 3600.7) * 1e5; }
static double always(double before) { return (2.6e6 - before) * 100; }
static double long_ago(double before) { return 500 * MB - fmax(before - 2e6, 0) * 100; }

START_TEST(what_began_lately_is_found_in_a_month)
{
    struct growth_finding finding = growth_judge(points, month(lately), false);

    ck_assert_str_eq(growth_word[finding.verdict], "growing");
    ck_assert_double_eq_tol(finding.bytes_per_second, 660e3, 66e3);
    ck_assert_double_lt(finding.until - finding.from, 3 * 2400);
    finding = growth_judge(points, month(always), false);
    ck_assert_str_eq(growth_word[finding.verdict], "growing");
    finding = growth_judge(points, month(long_ago), false);
    ck_assert(!growth_is_growing(finding.verdict));
}
END_TEST

START_TEST(a_tooth_of_an_hour_is_no_growth_in_its_last_minutes)
{
    struct growth_finding finding = growth_judge(points, month(once_an_hour), false);

    ck_assert_msg(!growth_is_growing(finding.verdict), "%s from %f to %f", growth_word[finding.verdict],
                  finding.from, finding.until);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("growth");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, a_shape_is_called_what_it_is, 0, SHAPES);
    tcase_add_test(all, a_rate_is_that_of_the_growth);
    tcase_add_loop_test(all, a_teardown_is_not_taken_for_the_fall_of_a_tooth, 0,
                        sizeof(teardowns) / sizeof(*teardowns));
    tcase_add_test(all, noise_is_hardly_ever_growth);
    tcase_add_loop_test(all, without_time_there_is_no_verdict, 0, 5);
    tcase_add_test(all, nothing_at_all_has_no_verdict);
    tcase_add_loop_test(all, a_queue_gives_back_its_oldest, 0, ROWS(queues));
    tcase_add_test(all, one_block_that_becomes_longer_is_no_queue);
    tcase_add_test(all, what_began_lately_is_found_in_a_month);
    tcase_add_test(all, a_tooth_of_an_hour_is_no_growth_in_its_last_minutes);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
