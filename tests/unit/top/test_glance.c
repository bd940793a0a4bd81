/* test_glance.c - looks at a store that changes between them, and their rows in order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"
#include "top/glance.h"
#include "top/order.h"

/* A process with three stacks in no module, which have one name each by their kind. */
static struct store_builder builder;
static uint32_t small, large;
static char *path;

static void setup(void)
{
    builder = builder_begin();
    builder_process(&builder, "/bin/shelf", "/", 1, (const char *const[]){"shelf"});
    builder_thread(&builder, 1, "shelf");
    small = builder_site(&builder, builder_node(&builder, 0x5000, LEAK_ROOT_COMPLETE, 0),
                         LEAK_KIND_MALLOC, (struct leak_counts){10, 1000, 0, 0});
    large = builder_site(&builder, builder_node(&builder, 0x6000, LEAK_ROOT_COMPLETE, 0),
                         LEAK_KIND_NEW, (struct leak_counts){5, 50000, 4, 40000});
    builder_header(&builder)->end_how = LEAK_END_EXIT;
}

static void teardown(void)
{
    builder_end(&builder);
    if (path)
        unlink(path);
    free(path);
    path = NULL;
}

static void save(void)
{
    char *fresh = builder_save(&builder);

    if (path) {
        ck_assert_int_eq(rename(fresh, path), 0);
        free(fresh);
    } else {
        path = fresh;
    }
}

static struct glance *look(struct glances *glances)
{
    struct read_error trouble;
    struct glance *glance;

    usleep(2000); /* time passes */
    save();
    if (!glances->path)
        *glances = glances_begin(path, NULL);
    glance = glance_take(glances, &trouble);
    ck_assert_ptr_nonnull(glance);
    return glance;
}

static size_t first_by(const struct glance *glance, enum order order, const char *filter,
                       size_t *count)
{
    struct ordering ordering = {.order = order, .filter = filter};
    size_t *rows = order_rows(glance, &ordering, count), first = *count ? rows[0] : SIZE_MAX;

    free(rows);
    return first;
}

START_TEST(the_first_look_knows_no_change)
{
    struct glances glances = {0};
    struct glance *glance = look(&glances);

    ck_assert_uint_eq(glance->count, 2);
    ck_assert_uint_eq(glance->total.bytes, 11000);
    ck_assert_uint_eq(glance->total.blocks, 11);
    ck_assert(!glance->change.known && !glance->rows[0].change.known);
    ck_assert_int_eq(glance->how, END_EXIT);
    glance_end(glance);
    glances_end(&glances);
}
END_TEST

START_TEST(the_next_one_knows_what_came_and_went)
{
    struct glances glances = {0};
    struct glance *glance;

    glance_end(look(&glances));
    builder_site_at(&builder, small)->counts.allocs += 20;
    builder_site_at(&builder, small)->counts.bytes += 2000;
    glance = look(&glances);
    ck_assert(glance->change.known);
    ck_assert_int_eq(glance->change.bytes, 2000);
    ck_assert_int_eq(glance->rows[0].change.bytes, 2000);
    ck_assert(glance->rows[0].change.allocs > 0 && glance->rows[0].change.frees == 0);
    ck_assert_int_eq(glance->rows[1].change.bytes, 0);
    glance_end(glance);
    glances_end(&glances);
}
END_TEST

START_TEST(a_site_that_is_new_gets_a_row_behind_those_that_are_known)
{
    struct glances glances = {0};
    struct glance *glance, *later;

    glance = look(&glances);
    builder_site(&builder, builder_node(&builder, 0x7000, LEAK_ROOT_COMPLETE, 0),
                 LEAK_KIND_NEW_ARRAY, (struct leak_counts){1, 700, 0, 0});
    later = look(&glances);
    ck_assert_uint_eq(later->count, 3);
    ck_assert_ptr_eq(later->rows[0].name, glance->rows[0].name);
    ck_assert_ptr_eq(later->rows[1].name, glance->rows[1].name);
    ck_assert_uint_eq(later->counts[2].bytes, 700);
    ck_assert_int_eq(later->rows[2].change.bytes, 700);
    glance_end(glance);
    glance_end(later);
    glances_end(&glances);
}
END_TEST

START_TEST(stacks_of_one_name_are_one_row)
{
    struct glances glances = {0};
    struct glance *glance;

    /* Code in no module has one name, wherever it lies. */
    builder_site(&builder, builder_node(&builder, 0x8000, LEAK_ROOT_COMPLETE, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 300, 0, 0});
    glance = look(&glances);
    ck_assert_uint_eq(glance->count, 2);
    ck_assert_uint_eq(glance->counts[0].bytes, 1300);
    glance_end(glance);
    glances_end(&glances);
}
END_TEST

START_TEST(each_key_has_its_first_row)
{
    struct glances glances = {0};
    struct glance *glance;
    size_t count;

    glance_end(look(&glances));
    builder_site_at(&builder, small)->counts.allocs += 2;
    builder_site_at(&builder, small)->counts.bytes += 2;
    builder_site_at(&builder, large)->counts.frees += 1;
    builder_site_at(&builder, large)->counts.freed_bytes += 5000;
    glance = look(&glances);
    ck_assert_uint_eq(first_by(glance, ORDER_BYTES, NULL, &count), 0);
    ck_assert_uint_eq(first_by(glance, ORDER_BLOCKS, NULL, &count), 0);
    ck_assert_uint_eq(first_by(glance, ORDER_DELTA, NULL, &count), 0);
    ck_assert_uint_eq(first_by(glance, ORDER_ALLOCS, NULL, &count), 0);
    ck_assert_uint_eq(first_by(glance, ORDER_FREES, NULL, &count), 1);
    ck_assert_uint_eq(count, 2);
    glance->rows[1].growth = &(struct growth){.verdict = GROWTH_GROWING, .bytes_per_second = 1};
    ck_assert_uint_eq(first_by(glance, ORDER_GROWTH, NULL, &count), 1);
    glance->rows[1].growth = &(struct growth){.verdict = GROWTH_STEADY};
    ck_assert_uint_eq(first_by(glance, ORDER_GROWTH, NULL, &count), 0);
    glance_end(glance);
    glances_end(&glances);
}
END_TEST

START_TEST(a_site_that_is_gone_and_quiet_is_left_out)
{
    struct glances glances = {0};
    struct glance *glance;
    size_t count;

    glance_end(look(&glances));
    builder_site_at(&builder, large)->counts.frees += 1;
    builder_site_at(&builder, large)->counts.freed_bytes += 10000;
    glance = look(&glances);
    ck_assert_uint_eq(first_by(glance, ORDER_DELTA, NULL, &count), 0);
    ck_assert_uint_eq(count, 2); /* it went just now: that is worth a row */
    glance_end(glance);
    glance = look(&glances);
    ck_assert_uint_eq(first_by(glance, ORDER_BYTES, NULL, &count), 0);
    ck_assert_uint_eq(count, 1);
    glance_end(glance);
    glances_end(&glances);
}
END_TEST

START_TEST(a_mark_is_what_delta_counts_from)
{
    struct glances glances = {0};
    struct glance *glance = look(&glances);
    struct account mark =
        account_keep(glance->time, glance->total, glance->counts, glance->count);

    glance_end(glance);
    for (int i = 0; i < 2; i++) {
        builder_site_at(&builder, small)->counts.allocs += 1;
        builder_site_at(&builder, small)->counts.bytes += 100;
        glance = look(&glances);
        ck_assert_int_eq(order_change(glance, 0, &mark).bytes, 100 * (i + 1));
        ck_assert_int_eq(order_change(glance, 0, NULL).bytes, 100);
        glance_end(glance);
    }
    account_end(&mark);
    glances_end(&glances);
}
END_TEST

START_TEST(a_filter_is_part_of_a_name_in_any_case)
{
    struct frame frame = {.function = "Shelf::push"};
    struct name name = {.title = &frame};
    struct row row = {.name = &name};
    struct counted counted = {.bytes = 1, .blocks = 1};
    struct glance glance = {.rows = &row, .counts = &counted, .count = 1};
    size_t count;

    first_by(&glance, ORDER_BYTES, "shelf", &count);
    ck_assert_uint_eq(count, 1);
    first_by(&glance, ORDER_BYTES, "", &count);
    ck_assert_uint_eq(count, 1);
    first_by(&glance, ORDER_BYTES, "books", &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("glance");
    TCase *looks = tcase_create("looks");

    tcase_add_checked_fixture(looks, setup, teardown);
    tcase_add_test(looks, the_first_look_knows_no_change);
    tcase_add_test(looks, the_next_one_knows_what_came_and_went);
    tcase_add_test(looks, a_site_that_is_new_gets_a_row_behind_those_that_are_known);
    tcase_add_test(looks, stacks_of_one_name_are_one_row);
    tcase_add_test(looks, each_key_has_its_first_row);
    tcase_add_test(looks, a_site_that_is_gone_and_quiet_is_left_out);
    tcase_add_test(looks, a_mark_is_what_delta_counts_from);
    tcase_add_test(looks, a_filter_is_part_of_a_name_in_any_case);
    suite_add_tcase(suite, looks);
    return suite_run(suite);
}
