/* test_history.c - a heap over time, as it is read, and which records grew.
 *
 * No module is opened, so every instruction is a function and a place of its own.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

#define BASE 0x10000
#define SECONDS 20
#define RATE 1000000
#define STARTED 1000000000000ull
#define SECOND 1000000000ull

static struct arena *mem;
static struct resolver *resolver;
static struct build_options options;
static struct store_builder builder;
static struct store store;

static void setup(void)
{
    struct binary_search_path search = {.never_open = true};

    mem = arena_begin();
    resolver = resolve_begin(mem, &search);
    memset(&options, 0, sizeof(options));
    builder = builder_begin();
    builder_module(&builder, "/opt/app", BASE, BASE + 0x10000, BASE, 1, 0, "\x12\x34");
    builder_header(&builder)->started_ns = STARTED;
    builder_header(&builder)->ended_ns = STARTED + SECONDS * SECOND + SECOND / 4;
}

static void teardown(void)
{
    builder_end(&builder);
    resolve_end(resolver);
    arena_end(mem);
}

static void read_store(void)
{
    struct extent extent;
    struct store_image image = store_image_borrow(builder.data, builder.size, &extent);
    struct read_error trouble;
    const char *broken = NULL;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    ck_assert_msg(store_check(&store, &broken), "%s", broken ? broken : "?");
}

static struct process read_process(void)
{
    struct process process;

    read_store();
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    return process;
}

/* A site of one frame. */
static uint32_t site_at(uint64_t offset, struct leak_counts counts)
{
    return builder_site(&builder, builder_node(&builder, BASE + offset, LEAK_ROOT_COMPLETE, 0),
                        LEAK_KIND_MALLOC, counts);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

START_TEST(points_and_rows_are_read_in_their_order)
{
    uint32_t other = site_at(0x10, (struct leak_counts){1, 1, 0, 0});
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS *RATE, 0, 0});

    builder_history(&builder, site, SECONDS, RATE);
    read_store();
    ck_assert_uint_eq(store.history.moment_count, SECONDS);
    ck_assert_uint_eq(store.history.row_count, SECONDS);
    ck_assert_uint_eq(store.history.series_count, 1);
    ck_assert_uint_eq(store.sites[store.history.series[0].site].id, site);
    for (unsigned i = 0; i < SECONDS; i++) {
        ck_assert_uint_eq(store.history.rows[i], (i + 1) * LEAK_TICKS_PER_SECOND);
        ck_assert_uint_eq(store.history.moments[i].bytes, (i + 1) * RATE);
        ck_assert_uint_eq(store.history.values[i].live_bytes, (i + 1) * RATE);
    }
    ck_assert_uint_eq(store.history.peak.bytes, SECONDS * RATE);
    ck_assert_uint_eq(store.history.peak_site_count, 1);
    ck_assert_uint_ne(other, site);
    store_end(&store);
}
END_TEST

static void two_of_a_time(struct leak_history *history, size_t chunk)
{
    history->point[1].tick = history->point[0].tick;
    builder_row_at(&builder, chunk, 5)->tick = builder_row_at(&builder, chunk, 6)->tick;
}

static void from_the_future(struct leak_history *history, size_t chunk)
{
    history->point[0].tick = UINT32_MAX;
    builder_row_at(&builder, chunk, 0)->tick = 1u << 30;
}

static void no_such_site(struct leak_history *history, size_t chunk)
{
    (void)chunk;
    history->column[3].site = 4711;
    history->peak[1].site[0].site = 4711;
}

static void a_site_twice(struct leak_history *history, size_t chunk)
{
    (void)chunk;
    history->column[7] = history->column[3];
}

static void too_many_at_the_peak(struct leak_history *history, size_t chunk)
{
    (void)chunk;
    history->peak[1].count = UINT32_MAX;
}

static void no_such_limit(struct leak_history *history, size_t chunk)
{
    (void)chunk;
    history->limit_of = 77;
    history->limit = 1 << 30;
}

static void a_column_of_the_future(struct leak_history *history, size_t chunk)
{
    (void)chunk;
    history->column[3].since = UINT32_MAX;
}

static void huge_numbers(struct leak_history *history, size_t chunk)
{
    for (unsigned i = 0; i < SECONDS; i++)
        memset(&builder_row_at(&builder, chunk, i)->at[3], 0xff, sizeof(struct leak_row_entry));
    history->column[3].peak = UINT64_MAX;
    history->point[3].live_bytes = UINT64_MAX;
}

static const struct {
    void (*damage)(struct leak_history *history, size_t chunk);
    bool noted;
} damages[] = {{two_of_a_time, true}, {from_the_future, true},       {no_such_site, true},
               {a_site_twice, true},  {too_many_at_the_peak, true}, {no_such_limit, false},
               {a_column_of_the_future, false}, {huge_numbers, false}};

START_TEST(what_does_not_hold_is_left_out)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    size_t chunk = builder_history(&builder, site, SECONDS, RATE);
    struct process process;

    builder_header(&builder)->end_how = LEAK_END_EXIT;
    damages[_i].damage(builder_history_at(&builder, chunk), chunk);
    process = read_process();
    ck_assert_int_eq(process.damaged, damages[_i].noted);
    ck_assert_uint_eq(process.record_count, 1);
}
END_TEST

START_TEST(a_store_of_before_there_was_a_history_has_none)
{
    struct process process;

    site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    process = read_process();
    ck_assert_uint_eq(process.history_count, 0);
    ck_assert_uint_eq(process.peak.bytes, 0);
    ck_assert_ptr_null(process.records[0].growth);
    ck_assert_uint_eq(process.totals.growing, 0);
}
END_TEST

/* ---- Records ------------------------------------------------------------------------------------ */

START_TEST(a_record_that_grew_says_so)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct process process;

    site_at(0x10, (struct leak_counts){1, 1, 0, 0});
    builder_history(&builder, site, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_eq(process.totals.growing, 1);
    ck_assert_uint_eq(process.record_count, 2);
    ck_assert_uint_eq(process.grown_count, 0);
    ck_assert(record_is_growing(&process.records[0]));
    ck_assert_uint_eq(process.records[0].growth->peak_bytes, SECONDS * RATE);
    /* Its last point is a little later than its last block. */
    ck_assert_uint_eq(process.records[0].growth->bytes_per_second / 10000, 99);
    ck_assert_str_eq(process.records[0].growth->reason,
                     "growing +997 kB/s for 19 s, nothing freed");
    ck_assert_ptr_null(process.records[1].growth);
    ck_assert_uint_eq(process.history_count, SECONDS + 1);
    ck_assert_uint_eq(process.history[SECONDS - 1].bytes, SECONDS * RATE);
    ck_assert_uint_eq(process.history[SECONDS].time_ns, builder_header(&builder)->ended_ns);
}
END_TEST

START_TEST(growth_that_was_freed_in_the_end_is_reported)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, SECONDS, SECONDS * RATE});
    struct process process;

    builder_history(&builder, site, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_eq(process.record_count, 0);
    ck_assert_uint_eq(process.grown_count, 1);
    ck_assert_uint_eq(process.totals.growing, 1);
    ck_assert_uint_eq(process.totals.of[VERDICT_UNFREED].records, 0);
    ck_assert_uint_eq(process.grown[0].bytes, 0);
    ck_assert(record_is_growing(&process.grown[0]));
    ck_assert_uint_eq(process.grown[0].frame_count, 1);
    ck_assert_uint_eq(process.grown[0].frames[0]->offset, 0x1f);
    /* The heap did not grow beyond its peak since: the report has that peak. */
    ck_assert_uint_eq(process.peak.bytes, SECONDS * RATE);
    ck_assert_uint_eq(process.peak_part_count, 1);
    ck_assert_uint_eq(process.peak_parts[0].signature, process.grown[0].signature);
}
END_TEST

START_TEST(a_heap_at_its_peak_is_what_lives)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct process process;

    site_at(0x10, (struct leak_counts){1, 3 * SECONDS * RATE, 0, 0}); /* came after the last row */
    builder_history(&builder, site, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_eq(process.peak.bytes, 4 * SECONDS * RATE);
    ck_assert_uint_eq(process.peak_part_count, 2);
    ck_assert_uint_eq(process.peak_parts[0].bytes, 3 * SECONDS * RATE);
}
END_TEST

static void suppress(void)
{
    options.group.suppressions = suppress_begin();
    ck_assert_ptr_null(suppress_add(options.group.suppressions, "test", "leak:*app", 9));
}

START_TEST(what_is_known_is_not_counted_as_growing)
{
    bool freed = _i;
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, freed ? SECONDS : 0,
                                                       freed ? SECONDS * RATE : 0});
    struct process process;

    suppress();
    builder_history(&builder, site, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_eq(process.totals.growing, 0);
    ck_assert_uint_eq(process.grown_count, 0);
    ck_assert_uint_eq(process.record_count, !freed);
    suppress_end(options.group.suppressions);
}
END_TEST

/* Two stacks with the same names, of which one has no row of its own before the other's tenth. */
START_TEST(stacks_of_one_record_are_added_up)
{
    uint32_t first = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0}), second;
    uint32_t node = builder_node(&builder, BASE + 0x20, LEAK_ROOT_COMPLETE, 0);
    struct leak_history *history;
    struct process process;
    size_t chunk;

    node = builder_node(&builder, BASE + 0x20, node, 0); /* the same frame again: recursion */
    second = builder_site(&builder, node, LEAK_KIND_MALLOC,
                          (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    chunk = builder_history(&builder, first, SECONDS, RATE);
    history = builder_history_at(&builder, chunk);
    history->column[4] = (struct leak_column){
        .site = second, .since = 10 * LEAK_TICKS_PER_SECOND, .peak = SECONDS * RATE};
    for (unsigned i = 0; i < SECONDS; i++)
        builder_row_at(&builder, chunk, i)->at[4] = builder_row_at(&builder, chunk, i)->at[3];
    process = read_process();
    ck_assert_uint_eq(process.record_count, 1);
    ck_assert_uint_eq(process.records[0].stacks, 2);
    ck_assert_uint_eq(process.records[0].growth->peak_bytes, 2 * SECONDS * RATE);
}
END_TEST

/* ---- Owners ------------------------------------------------------------------------------------ */

/* What a look says of the site that grows: by whom its blocks are held, and the rest of what these
 * hold. Owner 0 is two words of one mapping; it is asked about. */
#define HELD(part) ((part) * SECONDS * RATE / 10)
static const struct {
    const char *what;
    uint64_t own[3], other[3]; /* tenths of what the growing site has: by root */
    uint64_t lost;
    bool told;
} held_rows[] = {
    {"all of it", {10, 0, 0}, {0}, 0, true},
    {"all of it, by two words of one name", {4, 6, 0}, {0}, 0, true},
    {"and little of a site without a series", {10, 0, 0}, {1, 0, 0}, 0, true},
    {"nearly all of it, the rest is lost", {10, 0, 0}, {0}, 1, true},
    {"half of it, another owner has the rest", {5, 0, 5}, {0}, 0, false},
    {"half of it, the rest is lost", {10, 0, 0}, {0}, 10, false},
    {"as much of a site without a series", {10, 0, 0}, {10, 0, 0}, 0, false},
    {"only a site without a series", {0}, {10, 0, 0}, 0, false},
};

static void add_held(size_t row, uint32_t grows, uint32_t stays)
{
    struct leak_found found[] = {
        {.site = grows, .verdict = LEAK_VERDICT_REACHABLE},
        {.site = stays, .verdict = LEAK_VERDICT_REACHABLE},
        {.site = grows, .verdict = LEAK_VERDICT_LOST, .bytes = HELD(held_rows[row].lost)}};
    struct leak_held roots[] = {{.address = 0x108, .start = 0x100, .root_class = LEAK_ROOT_CLASS_ANON},
                                {.address = 0x108, .start = 0x100, .root_class = LEAK_ROOT_CLASS_ANON},
                                {.address = 0x208, .start = 0x200, .root_class = LEAK_ROOT_CLASS_ANON}};
    struct leak_part parts[6] = {{0}};
    size_t count = 0;

    for (uint32_t root = 0; root < 3; root++) {
        uint64_t held[2] = {HELD(held_rows[row].own[root]), HELD(held_rows[row].other[root])};

        for (int i = 0; i < 2; i++) {
            if (!held[i])
                continue;
            parts[count++] = (struct leak_part){root + 1, found[i].site, 1, held[i]};
            found[i].bytes += held[i];
            roots[root].blocks++;
            roots[root].bytes += held[i];
        }
    }
    for (int i = 0; i < 3; i++)
        found[i].blocks = found[i].bytes > 0;
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 3,
                                                  .roots = roots,
                                                  .root_count = 3,
                                                  .parts = parts,
                                                  .part_count = count});
}

START_TEST(an_owner_grows_as_the_sites_that_are_its_own)
{
    uint32_t grows = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    uint32_t stays = site_at(0x10, (struct leak_counts){1, SECONDS * RATE, 0, 0});
    struct process process;
    const struct growth *growth = NULL;

    add_held((size_t)_i, grows, stays);
    builder_history(&builder, grows, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_ge(process.owner_count, 1);
    for (size_t i = 0; i < process.owner_count; i++)
        if (strstr(process.owners[i].root->words, "0x100"))
            growth = process.owners[i].growth;
        else
            ck_assert_msg(!process.owners[i].growth, "%s: of another one", held_rows[_i].what);
    ck_assert_msg((growth != NULL) == held_rows[_i].told, "%s", held_rows[_i].what);
    ck_assert(!growth || growth_is_growing(growth->verdict));
    ck_assert(!growth || growth->peak_bytes == SECONDS * RATE);
}
END_TEST

START_TEST(stable_reports_say_so_of_owners)
{
    uint32_t grows = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct process process;
    struct report report = {.processes = &process, .process_count = 1};

    add_held(0, grows, site_at(0x10, (struct leak_counts){1, 1, 0, 0}));
    builder_history(&builder, grows, SECONDS, RATE);
    process = read_process();
    options.stable = true;
    build_finish(&report, &options);
    ck_assert_uint_eq(process.owner_count, 1);
    ck_assert_uint_eq(process.owners[0].growth->bytes_per_second, 0);
    ck_assert_str_eq(process.owners[0].growth->reason, "growing");
}
END_TEST

START_TEST(a_look_that_says_nothing_of_parts_tells_no_growth_of_owners)
{
    uint32_t grows = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct leak_found found = {
        .site = grows, .verdict = LEAK_VERDICT_REACHABLE, .root = 1, .blocks = 1, .bytes = 8};
    struct leak_held root = {.root_class = LEAK_ROOT_CLASS_USER, .blocks = 1, .bytes = 8};
    struct process process;

    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = &found,
                                                  .found_count = 1,
                                                  .roots = &root,
                                                  .root_count = 1});
    builder_history(&builder, grows, SECONDS, RATE);
    process = read_process();
    ck_assert_uint_eq(process.owner_count, 1);
    ck_assert_ptr_null(process.owners[0].growth);
    ck_assert(record_is_growing(&process.records[0]));
}
END_TEST

/* ---- Words --------------------------------------------------------------------------------------- */

START_TEST(a_limit_is_reported_for_sites_that_still_grow)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct leak_history *history;
    struct process process;

    history = builder_history_at(&builder, builder_history(&builder, site, SECONDS, RATE));
    history->limit = 1020 * RATE;
    history->limit_of = LEAK_LIMIT_DATA;
    builder_header(&builder)->end_how = _i ? LEAK_END_EXIT : LEAK_END_NONE;
    process = read_process();
    ck_assert_int_eq(strstr(process.records[0].growth->reason, "; at this rate the limit of its data, 1.0 "
                                                               "GB, is reached within 16 min") != NULL,
                     !_i);
}
END_TEST

START_TEST(stable_reports_say_that_and_not_how_fast)
{
    uint32_t site = site_at(0x20, (struct leak_counts){SECONDS, SECONDS * RATE, 0, 0});
    struct process process;
    struct report report = {.processes = &process, .process_count = 1};

    builder_history(&builder, site, SECONDS, RATE);
    process = read_process();
    options.stable = true;
    build_finish(&report, &options);
    ck_assert(record_is_growing(&process.records[0]));
    ck_assert_uint_eq(process.records[0].growth->bytes_per_second, 0);
    ck_assert_str_eq(process.records[0].growth->reason, "growing");
    ck_assert_uint_eq(process.history_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, points_and_rows_are_read_in_their_order);
    tcase_add_loop_test(all, what_does_not_hold_is_left_out, 0, ROWS(damages));
    tcase_add_test(all, a_store_of_before_there_was_a_history_has_none);
    tcase_add_test(all, a_record_that_grew_says_so);
    tcase_add_test(all, growth_that_was_freed_in_the_end_is_reported);
    tcase_add_test(all, a_heap_at_its_peak_is_what_lives);
    tcase_add_loop_test(all, what_is_known_is_not_counted_as_growing, 0, 2);
    tcase_add_test(all, stacks_of_one_record_are_added_up);
    tcase_add_loop_test(all, an_owner_grows_as_the_sites_that_are_its_own, 0, ROWS(held_rows));
    tcase_add_test(all, stable_reports_say_so_of_owners);
    tcase_add_test(all, a_look_that_says_nothing_of_parts_tells_no_growth_of_owners);
    tcase_add_loop_test(all, a_limit_is_reported_for_sites_that_still_grow, 0, 2);
    tcase_add_test(all, stable_reports_say_that_and_not_how_fast);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
