/* test_heap_snapshot.c - snapshots of a recording file that changes between them, and
 * their rows in order. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"
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

static struct heap_snapshot *look(struct snapshot_reader *reader)
{
    struct read_error trouble;
    struct heap_snapshot *snapshot;

    usleep(2000); /* time passes */
    save();
    if (!reader->path)
        *reader = snapshot_reader_begin(path, NULL);
    snapshot = heap_snapshot_take(reader, &trouble);
    ck_assert_ptr_nonnull(snapshot);
    return snapshot;
}

static size_t first_by(const struct heap_snapshot *snapshot, enum order order, const char *filter,
                       size_t *count)
{
    struct ordering ordering = {.order = order, .filter = filter};
    size_t *rows = order_rows(snapshot, &ordering, count), first = *count ? rows[0] : SIZE_MAX;

    free(rows);
    return first;
}

START_TEST(the_first_look_knows_no_change)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot = look(&reader);

    ck_assert_uint_eq(snapshot->count, 2);
    ck_assert_uint_eq(snapshot->total.bytes, 11000);
    ck_assert_uint_eq(snapshot->total.blocks, 11);
    ck_assert(!snapshot->delta.known && !snapshot->rows[0].delta.known);
    ck_assert_int_eq(snapshot->how, END_EXIT);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(the_next_one_knows_what_came_and_went)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot;

    heap_snapshot_free(look(&reader));
    builder_site_at(&builder, small)->counts.allocs += 20;
    builder_site_at(&builder, small)->counts.bytes += 2000;
    snapshot = look(&reader);
    ck_assert(snapshot->delta.known);
    ck_assert_int_eq(snapshot->delta.bytes, 2000);
    ck_assert_int_eq(snapshot->rows[0].delta.bytes, 2000);
    ck_assert(snapshot->rows[0].delta.allocs > 0 && snapshot->rows[0].delta.frees == 0);
    ck_assert_int_eq(snapshot->rows[1].delta.bytes, 0);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(a_site_that_is_new_gets_a_row_behind_those_that_are_known)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot, *later;

    snapshot = look(&reader);
    builder_site(&builder, builder_node(&builder, 0x7000, LEAK_ROOT_COMPLETE, 0),
                 LEAK_KIND_NEW_ARRAY, (struct leak_counts){1, 700, 0, 0});
    later = look(&reader);
    ck_assert_uint_eq(later->count, 3);
    ck_assert_ptr_eq(later->rows[0].name, snapshot->rows[0].name);
    ck_assert_ptr_eq(later->rows[1].name, snapshot->rows[1].name);
    ck_assert_uint_eq(later->counts[2].bytes, 700);
    ck_assert_int_eq(later->rows[2].delta.bytes, 700);
    heap_snapshot_free(snapshot);
    heap_snapshot_free(later);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(stacks_of_one_name_are_one_row)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot;

    /* Code in no module has one name, wherever it lies. */
    builder_site(&builder, builder_node(&builder, 0x8000, LEAK_ROOT_COMPLETE, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 300, 0, 0});
    snapshot = look(&reader);
    ck_assert_uint_eq(snapshot->count, 2);
    ck_assert_uint_eq(snapshot->counts[0].bytes, 1300);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(each_key_has_its_first_row)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot;
    size_t count;

    heap_snapshot_free(look(&reader));
    builder_site_at(&builder, small)->counts.allocs += 2;
    builder_site_at(&builder, small)->counts.bytes += 2;
    builder_site_at(&builder, large)->counts.frees += 1;
    builder_site_at(&builder, large)->counts.freed_bytes += 5000;
    snapshot = look(&reader);
    ck_assert_uint_eq(first_by(snapshot, ORDER_BYTES, NULL, &count), 0);
    ck_assert_uint_eq(first_by(snapshot, ORDER_BLOCKS, NULL, &count), 0);
    ck_assert_uint_eq(first_by(snapshot, ORDER_DELTA, NULL, &count), 0);
    ck_assert_uint_eq(first_by(snapshot, ORDER_ALLOCS, NULL, &count), 0);
    ck_assert_uint_eq(first_by(snapshot, ORDER_FREES, NULL, &count), 1);
    ck_assert_uint_eq(count, 2);
    snapshot->rows[1].growth = &(struct growth){.verdict = GROWTH_GROWING, .bytes_per_second = 1};
    ck_assert_uint_eq(first_by(snapshot, ORDER_GROWTH, NULL, &count), 1);
    snapshot->rows[1].growth = &(struct growth){.verdict = GROWTH_STEADY};
    ck_assert_uint_eq(first_by(snapshot, ORDER_GROWTH, NULL, &count), 0);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(a_site_that_is_gone_and_quiet_is_left_out)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot;
    size_t count;

    heap_snapshot_free(look(&reader));
    builder_site_at(&builder, large)->counts.frees += 1;
    builder_site_at(&builder, large)->counts.freed_bytes += 10000;
    snapshot = look(&reader);
    ck_assert_uint_eq(first_by(snapshot, ORDER_DELTA, NULL, &count), 0);
    ck_assert_uint_eq(count, 2); /* a row for a site whose blocks were freed just now */
    heap_snapshot_free(snapshot);
    snapshot = look(&reader);
    ck_assert_uint_eq(first_by(snapshot, ORDER_BYTES, NULL, &count), 0);
    ck_assert_uint_eq(count, 1);
    heap_snapshot_free(snapshot);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(a_mark_is_what_delta_counts_from)
{
    struct snapshot_reader reader = {0};
    struct heap_snapshot *snapshot = look(&reader);
    struct counter_baseline mark =
        counter_baseline_copy(snapshot->time, snapshot->total, snapshot->counts, snapshot->count);

    heap_snapshot_free(snapshot);
    for (int i = 0; i < 2; i++) {
        builder_site_at(&builder, small)->counts.allocs += 1;
        builder_site_at(&builder, small)->counts.bytes += 100;
        snapshot = look(&reader);
        ck_assert_int_eq(order_delta(snapshot, 0, &mark).bytes, 100 * (i + 1));
        ck_assert_int_eq(order_delta(snapshot, 0, NULL).bytes, 100);
        heap_snapshot_free(snapshot);
    }
    counter_baseline_free(&mark);
    snapshot_reader_end(&reader);
}
END_TEST

START_TEST(a_filter_is_part_of_a_name_in_any_case)
{
    struct frame frame = {.function = "Shelf::push"};
    struct site_name name = {.title = &frame};
    struct snapshot_row row = {.name = &name};
    struct counters counted = {.bytes = 1, .blocks = 1};
    struct heap_snapshot snapshot = {.rows = &row, .counts = &counted, .count = 1};
    size_t count;

    first_by(&snapshot, ORDER_BYTES, "shelf", &count);
    ck_assert_uint_eq(count, 1);
    first_by(&snapshot, ORDER_BYTES, "", &count);
    ck_assert_uint_eq(count, 1);
    first_by(&snapshot, ORDER_BYTES, "books", &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot");
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
