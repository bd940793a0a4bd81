/* test_address_info.c - the block at an address and the pointers to it, from recording files with
 * such a leak check, damaged ones too.
 *
 * No module is opened: functions are places in modules.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

#define ADDRESS 0xa010
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct arena *mem;
static struct resolver *resolver;
static struct store store;
static struct process process;
static uint32_t site, holder;

static const struct leak_held roots[] = {
    {.address = 0x7010, .start = 0x7000, .size = 64, .root_class = LEAK_ROOT_CLASS_ANON}};

static void setup(void)
{
    struct binary_search_path search = {.never_open = true};

    mem = arena_begin();
    resolver = resolve_begin(mem, &search);
}

static void teardown(void)
{
    store_end(&store);
    resolve_end(resolver);
    arena_end(mem);
}

/* A look about ADDRESS that found this, and what comes of it. */
static const struct address_info *who_of(struct leak_asked asked, const struct leak_pointer *pointers,
                                size_t count)
{
    struct leak_found found = {
        .site = 1, .verdict = LEAK_VERDICT_POSSIBLE, .blocks = 1, .bytes = 64};
    struct builder_look look = {.head = {.rung = LEAK_RUNG_PARKED, .when_ns = 5, .asked = asked},
                                .found = &found,
                                .found_count = 1,
                                .roots = roots,
                                .root_count = COUNT(roots),
                                .pointers = pointers,
                                .pointer_count = count};
    struct build_options options = {.who = {true, ADDRESS}};
    struct store_builder builder = builder_begin();
    struct extent extent;
    struct store_image image;
    struct read_error trouble;

    builder_process(&builder, "/bin/shelf", "/", 1, (const char *const[]){"shelf"});
    builder_thread(&builder, 1, "shelf");
    site = builder_site(&builder, builder_node(&builder, 0x5000, LEAK_ROOT_COMPLETE, 0),
                        LEAK_KIND_NEW, (struct leak_counts){1, 64, 0, 0});
    holder = builder_site(&builder, builder_node(&builder, 0x6000, LEAK_ROOT_COMPLETE, 0),
                          LEAK_KIND_MALLOC, (struct leak_counts){1, 32, 0, 0});
    ck_assert_uint_eq(site, 1);
    ck_assert_uint_eq(holder, 2);
    builder_look(&builder, &look);
    image = store_image_borrow(builder.data, builder.size, &extent);
    ck_assert(reader_parse(mem, &image, &store, &trouble));
    build_process(mem, resolver, &store, &options, &process);
    builder_end(&builder);
    ck_assert_ptr_nonnull(process.who);
    ck_assert_uint_eq(process.who->address, ADDRESS);
    return process.who;
}

static const struct leak_asked in_a_block = {.address = ADDRESS,
                                             .block = 0xa000,
                                             .size = 64,
                                             .site = 1,
                                             .found = 1,
                                             .count = 9,
                                             .tick = 8,
                                             .thread = 1};

START_TEST(a_block_is_reported_with_all_pointers_to_it)
{
    static const struct leak_pointer pointers[] = {
        {.address = 0xb018, .offset = 0, .block = 0xb000, .size = 32, .site = 2},
        {.address = 0x7010, .offset = 16, .root = 1},
        {.address = 0x9999, .offset = 3}};
    const struct address_info *who = who_of(in_a_block, pointers, COUNT(pointers));

    ck_assert(who->asked);
    ck_assert_uint_eq(who->block, 0xa000);
    ck_assert_uint_eq(who->size, 64);
    ck_assert_int_eq(who->verdict, VERDICT_POSSIBLE);
    ck_assert_uint_eq(who->kind, LEAK_KIND_NEW);
    ck_assert_uint_eq(who->count, 9);
    ck_assert_str_eq(who->thread.name, "shelf");
    ck_assert_uint_eq(who->allocated.count, 1);
    ck_assert_uint_eq(who->pointer_count, 3);
    ck_assert_str_eq(who->pointers[0].root->words, "mapping 0x7000");
    ck_assert_uint_eq(who->pointers[0].into, 16);
    ck_assert_ptr_null(who->pointers[1].root);
    ck_assert_uint_eq(who->pointers[1].block, 0xb000);
    ck_assert_uint_eq(who->pointers[1].offset, 0x18);
    ck_assert_ptr_nonnull(who->pointers[1].frame);
    ck_assert_uint_eq(who->pointers[2].block, 0); /* there was no room to say what it is */
    ck_assert(!who->more);
}
END_TEST

START_TEST(an_address_in_no_block_is_reported_as_such)
{
    const struct address_info *who = who_of((struct leak_asked){.address = ADDRESS}, NULL, 0);

    ck_assert(who->asked);
    ck_assert_uint_eq(who->block, 0);
    ck_assert_uint_eq(who->pointer_count, 0);
}
END_TEST

START_TEST(a_look_about_something_else_says_nothing)
{
    struct leak_asked asked = in_a_block;

    asked.address = _i ? ADDRESS + 1 : 0;
    ck_assert(!who_of(asked, NULL, 0)->asked);
}
END_TEST

START_TEST(what_does_not_hold_is_left_out)
{
    static const struct leak_pointer pointers[] = {
        {.address = 0xb018, .block = 0xb000, .size = 32, .site = 77},
        {.address = 0x7010, .root = 2}};
    struct leak_asked asked = in_a_block;
    const struct address_info *who;

    asked.found = 99;
    asked.thread = 77;
    who = who_of(asked, pointers, COUNT(pointers));
    ck_assert_int_eq(who->verdict, VERDICT_UNFREED);
    ck_assert_uint_eq(who->pointer_count, 2);
    ck_assert_ptr_null(who->pointers[0].frame);
    ck_assert_ptr_null(who->pointers[1].root);
}
END_TEST

START_TEST(a_site_that_is_not_there_is_no_block)
{
    struct leak_asked asked = in_a_block;

    asked.site = 77;
    ck_assert_uint_eq(who_of(asked, NULL, 0)->block, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("who");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, a_block_is_reported_with_all_pointers_to_it);
    tcase_add_test(all, an_address_in_no_block_is_reported_as_such);
    tcase_add_loop_test(all, a_look_about_something_else_says_nothing, 0, 2);
    tcase_add_test(all, what_does_not_hold_is_left_out);
    tcase_add_test(all, a_site_that_is_not_there_is_no_block);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
