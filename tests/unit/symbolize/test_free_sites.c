/* test_free_sites.c - where other blocks of a record were freed, the frees of an address, and what
 * the options left out.
 *
 * No module is opened, so every instruction is a function and a place of its own; addresses are
 * offsets in one module.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

#define BASE 0x10000

static struct arena *mem;
static struct resolver *resolver;
static struct build_options options;
static struct store_builder builder;

static void setup(void)
{
    struct binary_search_path search = {.never_open = true};

    mem = arena_begin();
    resolver = resolve_begin(mem, &search);
    memset(&options, 0, sizeof(options));
    builder = builder_begin();
    builder_module(&builder, "/opt/app", BASE, BASE + 0x10000, BASE, 1, 0, "\x12\x34");
}

static void teardown(void)
{
    resolve_end(resolver);
    arena_end(mem);
}

static struct process read_process(void)
{
    struct extent extent;
    struct store_image image = store_image_borrow(builder.data, builder.size, &extent);
    struct store store;
    struct read_error trouble;
    struct process process;
    const char *broken;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    ck_assert_msg(store_check(&store, &broken), "broken: %s", broken);
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    builder_end(&builder);
    return process;
}

/* A stack of return addresses, outermost first, 0 at the end. */
static uint32_t stack(const uint32_t *offsets)
{
    uint32_t node = LEAK_ROOT_COMPLETE;

    for (; *offsets; offsets++)
        node = builder_node(&builder, BASE + *offsets, node, 0);
    return node;
}

#define STACK(...) stack((const uint32_t[]){__VA_ARGS__, 0})

/* So many blocks of 10 bytes, so many of them freed. */
static uint32_t site(uint32_t node, uint64_t allocs, uint64_t frees)
{
    return builder_site(&builder, node, LEAK_KIND_MALLOC,
                        (struct leak_counts){allocs, 10 * allocs, frees, 10 * frees});
}

static void freed(uint32_t from, uint32_t node, uint64_t blocks)
{
    builder_freed(&builder, from, node, blocks, 10 * blocks);
}

static void all_were_looked_at(void)
{
    builder_options(&builder, "free_stacks=all (LIBLEAK_OPTIONS)\n");
}

/* Of the only record, or of the first. */
static struct freed freed_of_first(void)
{
    struct process process = read_process();

    ck_assert_uint_ge(process.record_count, 1);
    return process.records[0].freed;
}

static void expect_place(const struct freed *got, size_t i, uint32_t offset, double share)
{
    ck_assert_uint_gt(got->places, i);
    ck_assert_msg(got->place[i].frame->offset == offset - 1, "place %zu is 0x%llx, wanted 0x%x", i,
                  (unsigned long long)got->place[i].frame->offset + 1, offset);
    ck_assert_msg(got->place[i].share > share - 0.001 && got->place[i].share < share + 0.001,
                  "place %zu has %f, wanted %f", i, got->place[i].share, share);
}

/* ---- Places and shares ----------------------------------------------------------------------- */

START_TEST(the_largest_place_comes_first_with_its_commonest_stack)
{
    uint32_t from = site(STACK(1, 2), 1007, 1000);
    struct freed got;

    all_were_looked_at();
    freed(from, STACK(1, 0x30, 0x31), 300);
    freed(from, STACK(1, 0x40, 0x20), 200); /* two callers of one place */
    freed(from, STACK(1, 0x50, 0x20), 400);
    freed(from, STACK(1, 0x60), 99);
    freed(from, STACK(1, 0x70), 1);
    got = freed_of_first();
    ck_assert(got.exact && got.enough && !got.other_path);
    ck_assert_uint_eq(got.blocks, 1000);
    ck_assert_uint_eq(got.of, 1000);
    ck_assert_uint_eq(got.places, FREED_PLACES);
    expect_place(&got, 0, 0x20, 0.6);
    expect_place(&got, 1, 0x31, 0.3);
    expect_place(&got, 2, 0x60, 0.099);
    ck_assert_uint_eq(got.frame_count, 3);
    ck_assert_uint_eq(got.frames[1]->offset, 0x50 - 1);
}
END_TEST

START_TEST(what_realloc_moved_and_what_the_same_line_freed_is_left_out)
{
    uint32_t grow = STACK(1, 2), from = site(grow, 1007, 1000);
    struct freed got;

    all_were_looked_at();
    freed(from, grow, 700);          /* the call that allocates frees, too: realloc */
    freed(from, STACK(1, 9, 2), 50); /* the same place, called from elsewhere */
    freed(from, STACK(1, 0x20), 250);
    got = freed_of_first();
    ck_assert_uint_eq(got.places, 1);
    expect_place(&got, 0, 0x20, 1);
    ck_assert_uint_eq(got.of, 250);
    ck_assert_uint_eq(got.blocks, 1000);
}
END_TEST

START_TEST(frees_in_an_unknown_place_count_but_are_no_place)
{
    uint32_t from = site(STACK(1, 2), 107, 100);
    struct freed got;

    all_were_looked_at();
    freed(from, LEAK_ROOT_BROKEN, 75);
    freed(from, STACK(1, 0x20), 25);
    got = freed_of_first();
    ck_assert_uint_eq(got.places, 1);
    expect_place(&got, 0, 0x20, 0.25);
}
END_TEST

START_TEST(the_leaf_of_a_free_is_no_frame)
{
    uint32_t from = site(STACK(1, 2), 107, 100), node = STACK(1, 0x20);
    struct freed got;

    all_were_looked_at();
    freed(from, builder_node(&builder, LEAK_PC_FREE, node, 0), 100);
    got = freed_of_first();
    expect_place(&got, 0, 0x20, 1);
    ck_assert_uint_eq(got.frame_count, 2);
}
END_TEST

START_TEST(without_records_of_frees_only_their_number_is_known)
{
    struct freed got;

    site(STACK(1, 2), 107, 100);
    got = freed_of_first();
    ck_assert_uint_eq(got.places, 0);
    ck_assert_uint_eq(got.blocks, 100);
    ck_assert(!got.other_path);
}
END_TEST

static const struct {
    uint64_t allocs, frees, moved, elsewhere; /* moved: of the frees that were inspected */
    bool all;
    uint64_t allocated;
} allocations[] = {
    {40, 37, 0, 37, true, 40}, {3, 0, 0, 0, false, 3}, /* none was freed */
    {40, 37, 0, 2, false, 40}, /* some frees were inspected, and nothing was moved */
    {40, 37, 30, 7, true, 10}, /* a buffer that grows is one block */
    {40, 37, 37, 0, true, 3},  /* all of them were moved ... */
    {40, 37, 2, 0, false, 3},  /* ... or all that were inspected */
    {40, 37, 2, 1, false, 0},  /* some were moved */
    {40, 37, 0, 0, false, 0},  /* no free was inspected */
    {2, 1, 1, 0, false, 1},    /* the only free is always inspected */
};

START_TEST(blocks_that_realloc_moves_are_not_allocated_again)
{
    uint32_t grow = STACK(1, 7, 2),
             from = site(grow, allocations[_i].allocs, allocations[_i].frees);
    struct freed got;

    if (allocations[_i].moved)
        freed(from, grow, allocations[_i].moved);
    if (allocations[_i].elsewhere)
        freed(from, STACK(1, 0x20), allocations[_i].elsewhere);
    if (allocations[_i].all)
        all_were_looked_at();
    got = freed_of_first();
    ck_assert_msg(got.allocated == allocations[_i].allocated, "row %d: %llu", _i,
                  (unsigned long long)got.allocated);
}
END_TEST

/* ---- Samples --------------------------------------------------------------------------------- */

static const struct {
    uint64_t frees, here, there;
    bool exact, enough;
    uint64_t of;
} samples[] = {
    {1, 1, 0, true, true, 1},               /* all were looked at */
    {2, 1, 1, false, false, 2},             /* unknown: all of two threads' */
    {20, 2, 64, false, false, 20},          /* three of them */
    {900, 2, 15 * 64, false, false, 900},   /* fifteen and two */
    {1000, 64, 15 * 64, false, true, 1000}, /* sixteen */
    {9000, 64, 8999, false, true, 9000},    /* less than one in 64 of many */
};

START_TEST(a_share_is_reported_with_enough_samples)
{
    uint32_t from = site(STACK(1, 2), samples[_i].frees + 1, samples[_i].frees);
    struct freed got;

    freed(from, STACK(1, 0x20), samples[_i].here);
    freed(from, STACK(1, 0x30), samples[_i].there);
    got = freed_of_first();
    ck_assert_msg(got.exact == samples[_i].exact && got.enough == samples[_i].enough &&
                      got.of == samples[_i].of,
                  "row %d: exact %d, enough %d, of %llu", _i, got.exact, got.enough,
                  (unsigned long long)got.of);
}
END_TEST

/* Of a busy site one free in 512 is looked at: what most of its blocks do tells much of those few
 * that do something else. */
START_TEST(two_looks_at_a_busy_site_are_not_enough)
{
    uint32_t own = STACK(1, 2), from = site(own, 10000001, 10000000);

    freed(from, own, 10000000 - 2 * LEAK_FREED_ONE_IN_MANY); /* by realloc */
    freed(from, STACK(1, 0x20), LEAK_FREED_ONE_IN_MANY);
    freed(from, STACK(1, 0x30), LEAK_FREED_ONE_IN_MANY);
    ck_assert(!freed_of_first().enough);
}
END_TEST

/* With sample= the frees of samples are looked at, all of them; 10 bytes a block. */
static const struct {
    uint64_t sample;
    const char *options;
    uint64_t frees;
    bool exact, enough;
} sampled[] = {
    {1, "", 1000, true, true}, /* every block is a sample */
    {2, "", 1000, false, true},
    {11000, "", 15900, false, false}, /* one in 1000.5 */
    {11000, "", 16100, false, true},
    {11000, "free_stacks=all (x)\n", 16100, false, true},
    {11000, "free_stacks=all (x)\n", 2, false, false},
    {11000, "", 2, false, false},
    {UINT64_MAX, "", UINT32_MAX, false, false},
};

START_TEST(frees_of_a_sampled_process_are_estimates)
{
    uint32_t from = site(STACK(1, 2), sampled[_i].frees + 1, sampled[_i].frees);
    struct freed got;

    builder_header(&builder)->sample = sampled[_i].sample;
    builder_options(&builder, sampled[_i].options);
    freed(from, STACK(1, 0x20), sampled[_i].frees);
    got = freed_of_first();
    ck_assert_msg(got.exact == sampled[_i].exact && got.enough == sampled[_i].enough &&
                      got.sampled == !sampled[_i].exact && got.of == sampled[_i].frees,
                  "row %d: exact %d, enough %d, sampled %d", _i, got.exact, got.enough,
                  got.sampled);
    expect_place(&got, 0, 0x20, 1);
}
END_TEST

START_TEST(one_look_at_a_large_block_is_as_good_as_one_at_many_small_ones)
{
    uint32_t from = builder_site(&builder, STACK(1, 2), LEAK_KIND_MALLOC,
                                 (struct leak_counts){17, 17u << 20, 16, 16u << 20});
    struct freed got;

    builder_header(&builder)->sample = 1000;
    builder_freed(&builder, from, STACK(1, 0x20), 16 - (uint64_t)_i, (16 - (uint64_t)_i) << 20);
    got = freed_of_first();
    ck_assert(!got.exact);
    ck_assert_int_eq(got.enough, !_i);
}
END_TEST

START_TEST(stable_reports_leave_out_samples)
{
    uint32_t from = site(STACK(1, 2), 1001, 1000);
    struct process process;
    struct report report = {.processes = &process, .process_count = 1};

    if (_i)
        all_were_looked_at();
    freed(from, STACK(1, 0x20), 1000);
    process = read_process();
    ck_assert_uint_eq(process.records[0].freed.places, 1);
    options.stable = true;
    build_finish(&report, &options);
    ck_assert_uint_eq(process.records[0].freed.places, _i);
    ck_assert(!_i || !process.records[0].freed.frames[0]->has_offset);
}
END_TEST

/* ---- Paths that never free ------------------------------------------------------------------- */

START_TEST(a_path_that_never_frees_is_reported_if_others_do)
{
    struct freed got;
    uint32_t others;

    site(STACK(1, 7, 2), 500, 0);
    others = site(STACK(1, 8, 2), 100, 100);
    freed(others, STACK(1, 0x20), 40);
    freed(site(STACK(1, 9, 2), 11, 10), STACK(1, 0x30), 10);
    freed(others, STACK(1, 0x21), 60);
    all_were_looked_at();
    got = freed_of_first();
    ck_assert(got.other_path);
    ck_assert_uint_eq(got.blocks, 0);
    ck_assert_uint_eq(got.of, 110);
    expect_place(&got, 0, 0x21, 60.0 / 110);
    expect_place(&got, 1, 0x20, 40.0 / 110);
}
END_TEST

/* Its samples were not freed; the blocks between them may have been. */
START_TEST(never_is_not_said_of_a_sampled_process)
{
    struct freed got;

    site(STACK(1, 7, 2), 500, 0);
    freed(site(STACK(1, 8, 2), 100, 100), STACK(1, 0x20), 100);
    builder_header(&builder)->sample = _i ? 1000 : 1;
    got = freed_of_first();
    ck_assert_int_eq(got.other_path, !_i);
}
END_TEST

START_TEST(blocks_of_another_place_or_kind_are_not_its_others)
{
    struct freed got;

    site(STACK(1, 7, 2), 500, 0);
    freed(site(STACK(1, 7, 3), 100, 100), STACK(1, 0x20), 100);
    freed(builder_site(&builder, STACK(1, 8, 2), LEAK_KIND_NEW,
                       (struct leak_counts){100, 1000, 100, 1000}),
          STACK(1, 0x20), 100);
    all_were_looked_at();
    got = freed_of_first();
    ck_assert_uint_eq(got.places, 0);
    ck_assert(!got.other_path);
}
END_TEST

/* frees that the records of this stack account for: all moved by realloc; and how many there were
 */
static const struct {
    uint64_t frees, moved;
    bool all, told;
} nevers[] = {
    {0, 0, false, true},    {1, 1, false, true},    {1, 0, false, false},     {2, 2, false, false},
    {100, 100, true, true}, {100, 99, true, false}, {100, 100, false, false},
};

START_TEST(never_is_said_only_where_each_free_is_accounted_for)
{
    uint32_t grow = STACK(1, 7, 2), from = site(grow, 500, nevers[_i].frees);
    struct freed got;

    if (nevers[_i].moved)
        freed(from, grow, nevers[_i].moved);
    freed(site(STACK(1, 8, 2), 100, 100), STACK(1, 0x20), 100);
    if (nevers[_i].all)
        all_were_looked_at();
    got = freed_of_first();
    ck_assert_msg(got.other_path == nevers[_i].told && got.places == nevers[_i].told,
                  "row %d: other path %d, %zu places", _i, got.other_path, got.places);
}
END_TEST

/* ---- Funnels --------------------------------------------------------------------------------- */

/* Allocators of the program's own, called by so many functions for so many sizes. */
static void through_funnels(uint32_t callers, uint32_t sizes)
{
    for (uint32_t i = 0; i < callers; i++) {
        uint64_t size = 16ull << i % sizes;
        uint32_t from = builder_site(&builder, STACK(1, 0x100 + i, 0x81, 0x80), LEAK_KIND_MALLOC,
                                     (struct leak_counts){100, 100 * size, 90, 90 * size});

        builder_freed(&builder, from, STACK(1, 0x200 + i, 0x91, 0x90), 90, 90 * size);
    }
}

static const struct {
    uint32_t callers, sizes, place; /* of the first record, which is the largest */
} funnels[] = {
    {7, 7, 0x90},  /* few callers */
    {20, 5, 0x90}, /* blocks of few sizes */
    {8, 6, 0x205}, /* 0x91 is one, and 0x90 a part of it */
    {20, 20, 0x213},
};

START_TEST(what_frees_everything_is_no_place)
{
    struct process process;

    through_funnels(funnels[_i].callers, funnels[_i].sizes);
    all_were_looked_at();
    process = read_process();
    ck_assert_uint_eq(process.record_count, funnels[_i].callers);
    expect_place(&process.records[0].freed, 0, funnels[_i].place, 1);
}
END_TEST

START_TEST(blocks_of_one_allocator_are_not_of_one_kind)
{
    struct process process;

    site(STACK(1, 0x300, 0x81, 0x80), 1u << 20, 0);
    through_funnels(20, 10);
    all_were_looked_at();
    process = read_process();
    ck_assert_uint_eq(process.records[0].blocks, 1u << 20);
    ck_assert_uint_eq(process.records[0].freed.places, 0);
}
END_TEST

/* ---- Recent frees ---------------------------------------------------------------------------- */

static struct process recent_process(void)
{
    uint32_t from = site(STACK(1, 2, 3), 10, 9);

    builder_thread(&builder, 1, "main");
    builder_recent(&builder, 1);
    builder_recent_free(&builder, 0xa000, BASE + 0x20, STACK(1, 0x20), from, 8);
    builder_recent_free(&builder, 0xb000, BASE + 0x30, 0, from, 8);
    builder_recent_free(&builder, 0xa000, 0x20, 0, 4711, 9);
    return read_process();
}

START_TEST(recent_frees_are_named_when_asked_for)
{
    struct process process;

    options.recent.all = true;
    process = recent_process();
    ck_assert_uint_eq(process.recent_count, 3);
    ck_assert(!process.recent[0].whole); /* in no module, of no site */
    ck_assert_ptr_null(process.recent[0].freed.frames[0]->module);
    ck_assert_uint_eq(process.recent[0].allocated.count, 0);
    ck_assert_uint_eq(process.recent[1].freed.count, 1);
    ck_assert_uint_eq(process.recent[1].freed.frames[0]->offset, 0x30 - 1);
    ck_assert_str_eq(process.recent[1].freed.frames[0]->module, "/opt/app");
    ck_assert_uint_eq(process.recent[1].allocated.count, 3);
    ck_assert_uint_eq(process.recent[1].kind, LEAK_KIND_MALLOC);
    ck_assert_str_eq(process.recent[1].thread.name, "main");
    ck_assert(process.recent[2].whole);
    ck_assert_uint_eq(process.recent[2].freed.count, 2);
}
END_TEST

START_TEST(one_address_has_its_own_frees_only)
{
    struct process process;

    options.recent.one = true;
    options.recent.address = _i ? 0xa000 : 0xc000;
    process = recent_process();
    ck_assert_uint_eq(process.recent_count, _i ? 2 : 0);
    ck_assert_uint_eq(process.recent_known, 3);
}
END_TEST

START_TEST(without_being_asked_nothing_is_named)
{
    ck_assert_uint_eq(recent_process().recent_count, 0);
}
END_TEST

/* ---- Coverage and notes ---------------------------------------------------------------------- */

START_TEST(captures_are_walks_and_leaf_cache_hits)
{
    struct process process;
    struct leak_thread *thread;

    builder_thread(&builder, 1, "main");
    thread = (struct leak_thread *)(builder.data + builder.threads + sizeof(struct leak_chunk));
    thread->allocations = 1000;
    thread->walks = _i ? 2000 : 100; /* 2000: a running process, seen between two stores */
    thread->frames_walked = 300;
    thread->frames_shared = 700;
    builder_recent(&builder, 1);
    builder_recent_free(&builder, 0xa000, BASE + 0x20, STACK(1, 0x20), 0, 8);
    process = read_process();
    ck_assert_uint_eq(process.stacks.captures, _i ? 2000 : 1001);
    ck_assert_uint_eq(process.stacks.walks, _i ? 2000 : 100);
    ck_assert_uint_eq(process.stacks.leaf_cache_hits, _i ? 0 : 901);
    ck_assert_uint_eq(process.stacks.frames_walked, 300);
    ck_assert_uint_eq(process.stacks.frames_shared, 700);
}
END_TEST

static const struct {
    const char *options;
    uint32_t flags;
    const char *note; /* the whole of it, NULL = none */
} notes[] = {
    {"", 0, NULL},
    {"free_stacks=all (x)\n", 0, NULL},
    {"free_stacks=off (x)\n", 0,
     "recorded with free_stacks=off: the places where blocks are freed are unknown"},
    {"site_stacks=off (x)\nfree_stacks=off (x)\n", LEAK_FLAG_NO_STACKS,
     "recorded with site_stacks=off: no stacks of allocations or frees"},
    {"min_size=100 (x)\n", LEAK_FLAG_FILTERED,
     "recorded with min_size=100: smaller blocks are left out (1,234 allocations)"},
    {"max_size=1024 (x)\nmin_size=0 (x)\n", LEAK_FLAG_FILTERED,
     "recorded with max_size=1024: larger blocks are left out (1,234 allocations)"},
    {"min_size=8 (x)\nmax_size=9 (x)\n", LEAK_FLAG_FILTERED,
     "recorded with min_size=8:max_size=9: other blocks are left out (1,234 allocations)"},
};

/* A sample stands for many there, too. */
START_TEST(what_a_sampled_process_left_out_is_an_estimate)
{
    struct process process;

    builder_options(&builder, "min_size=100 (x)\n");
    builder_header(&builder)->flags = LEAK_FLAG_FILTERED;
    builder_header(&builder)->untracked[LEAK_UNTRACKED_FILTERED] = 123456;
    builder_header(&builder)->sample = 1000;
    process = read_process();
    ck_assert_uint_eq(process.note_count, 3); /* two of them about sampling itself */
    ck_assert_str_eq(process.notes[2],
                     "recorded with min_size=100: smaller blocks are left out (~123,000 "
                     "allocations)");
}
END_TEST

START_TEST(what_options_left_out_is_one_note)
{
    struct process process;

    builder_options(&builder, notes[_i].options);
    builder_header(&builder)->flags = notes[_i].flags;
    builder_header(&builder)->untracked[LEAK_UNTRACKED_FILTERED] = 1234;
    process = read_process();
    ck_assert_uint_eq(process.note_count, notes[_i].note != NULL);
    if (notes[_i].note)
        ck_assert_str_eq(process.notes[0], notes[_i].note);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frees");
    TCase *all = tcase_create("frees");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, the_largest_place_comes_first_with_its_commonest_stack);
    tcase_add_test(all, what_realloc_moved_and_what_the_same_line_freed_is_left_out);
    tcase_add_test(all, frees_in_an_unknown_place_count_but_are_no_place);
    tcase_add_test(all, the_leaf_of_a_free_is_no_frame);
    tcase_add_test(all, without_records_of_frees_only_their_number_is_known);
    tcase_add_loop_test(all, blocks_that_realloc_moves_are_not_allocated_again, 0,
                        ROWS(allocations));
    tcase_add_loop_test(all, a_share_is_reported_with_enough_samples, 0, ROWS(samples));
    tcase_add_test(all, two_looks_at_a_busy_site_are_not_enough);
    tcase_add_loop_test(all, frees_of_a_sampled_process_are_estimates, 0, ROWS(sampled));
    tcase_add_loop_test(all, one_look_at_a_large_block_is_as_good_as_one_at_many_small_ones, 0, 2);
    tcase_add_loop_test(all, stable_reports_leave_out_samples, 0, 2);
    tcase_add_test(all, a_path_that_never_frees_is_reported_if_others_do);
    tcase_add_loop_test(all, never_is_not_said_of_a_sampled_process, 0, 2);
    tcase_add_test(all, blocks_of_another_place_or_kind_are_not_its_others);
    tcase_add_loop_test(all, never_is_said_only_where_each_free_is_accounted_for, 0, ROWS(nevers));
    tcase_add_loop_test(all, what_frees_everything_is_no_place, 0, ROWS(funnels));
    tcase_add_test(all, blocks_of_one_allocator_are_not_of_one_kind);
    tcase_add_test(all, recent_frees_are_named_when_asked_for);
    tcase_add_loop_test(all, one_address_has_its_own_frees_only, 0, 2);
    tcase_add_test(all, without_being_asked_nothing_is_named);
    tcase_add_loop_test(all, captures_are_walks_and_leaf_cache_hits, 0, 2);
    tcase_add_loop_test(all, what_options_left_out_is_one_note, 0, ROWS(notes));
    tcase_add_test(all, what_a_sampled_process_left_out_is_an_estimate);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
