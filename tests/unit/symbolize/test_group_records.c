/* test_group_records.c - from recording files to records: signatures, grouping, process data.
 *
 * No module is opened: functions are unknown, so names are places in modules, and addresses stand
 * for functions.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

static struct arena *mem;
static struct resolver *resolver;
static struct build_options options;

static void setup(void)
{
    struct binary_search_path search = {.never_open = true};

    mem = arena_begin();
    resolver = resolve_begin(mem, &search);
    memset(&options, 0, sizeof(options));
}

static void teardown(void)
{
    resolve_end(resolver);
    arena_end(mem);
}

static struct process process_of(struct store_builder *builder)
{
    struct extent extent;
    struct store_image image = store_image_borrow(builder->data, builder->size, &extent);
    struct store store;
    struct read_error trouble;
    struct process process;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    builder_end(builder);
    return process;
}

/* A program at `base` whose stacks are lists of offsets, outermost first, 0 at the end. */
static struct store_builder program_at(uint64_t base)
{
    struct store_builder builder = builder_begin();

    builder_module(&builder, "/opt/app", base, base + 0x10000, base, 1, 0, "\x12\x34");
    return builder;
}

static void add_stack(struct store_builder *builder, uint64_t base, const uint32_t *offsets,
                      uint64_t bytes)
{
    uint32_t node = LEAK_ROOT_COMPLETE;

    for (; *offsets; offsets++)
        node = builder_node(builder, base + *offsets, node, 0);
    builder_site(builder, node, LEAK_KIND_MALLOC, (struct leak_counts){1, bytes, 0, 0});
}

static uint64_t signature_of(uint64_t base, const uint32_t *offsets)
{
    struct store_builder builder = program_at(base);
    struct process process;

    add_stack(&builder, base, offsets, 10);
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 1);
    return process.records[0].signature;
}

#define STACK(...) ((const uint32_t[]){__VA_ARGS__, 0})

START_TEST(signatures_do_not_depend_on_where_a_module_was_loaded)
{
    ck_assert_uint_eq(signature_of(0x1000, STACK(1, 2, 3)), signature_of(0x7f0000, STACK(1, 2, 3)));
    ck_assert_uint_ne(signature_of(0x1000, STACK(1, 2, 3)), signature_of(0x1000, STACK(1, 3, 2)));
    ck_assert_uint_ne(signature_of(0x1000, STACK(1, 2)), signature_of(0x1000, STACK(1, 2, 3)));
}
END_TEST

START_TEST(recursion_counts_once)
{
    uint64_t once = signature_of(0x1000, STACK(1, 2, 3));

    ck_assert_uint_eq(once, signature_of(0x1000, STACK(1, 2, 2, 2, 3)));
    ck_assert_uint_eq(signature_of(0x1000, STACK(1, 2, 3, 4)),
                      signature_of(0x1000, STACK(1, 2, 3, 2, 3, 2, 3, 4)));
    ck_assert_uint_ne(once, signature_of(0x1000, STACK(1, 2, 3, 2)));
}
END_TEST

START_TEST(stacks_of_one_signature_are_one_record)
{
    struct store_builder builder = program_at(0x1000);
    struct process process;

    add_stack(&builder, 0x1000, STACK(1, 2, 3), 10);
    add_stack(&builder, 0x1000, STACK(1, 2, 2, 3), 30);
    add_stack(&builder, 0x1000, STACK(1, 4), 20);
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 2);
    ck_assert_uint_eq(process.records[0].bytes, 40);
    ck_assert_uint_eq(process.records[0].blocks, 2);
    ck_assert_uint_eq(process.records[0].stacks, 2);
    ck_assert_uint_eq(process.records[0].frame_count, 4); /* of the one with more bytes */
    ck_assert_uint_eq(process.records[1].bytes, 20);
    ck_assert_uint_eq(process.totals.of[VERDICT_UNFREED].bytes, 60);
    ck_assert_uint_eq(process.totals.of[VERDICT_UNFREED].records, 2);
}
END_TEST

/* Under a tag, or 0; of a stack that is there. */
static uint32_t add_tagged(struct store_builder *builder, uint32_t node, unsigned tag,
                           struct leak_counts counts)
{
    uint32_t site = builder_site(builder, node, LEAK_KIND_MALLOC, counts);

    builder_site_at(builder, site)->tag = (uint16_t)tag;
    return site;
}

START_TEST(a_stack_under_several_tags_is_one_record)
{
    struct store_builder builder = program_at(0x1000);
    uint32_t node = builder_node(&builder, 0x1001, LEAK_ROOT_COMPLETE, 0), gone;
    const struct record *record;
    struct process process;

    builder_tag(&builder, 1, "mesh", 0);
    builder_tag(&builder, 2, "texture", 0);
    builder_tag(&builder, 3, "gone", 0);
    add_tagged(&builder, node, 1, (struct leak_counts){2, 20, 0, 0});
    add_tagged(&builder, node, 2, (struct leak_counts){5, 500, 2, 200});
    add_tagged(&builder, node, 0, (struct leak_counts){1, 7, 0, 0});
    gone = add_tagged(&builder, node, 3, (struct leak_counts){4, 40, 4, 40});
    builder_freed(&builder, gone, builder_node(&builder, 0x1400, LEAK_ROOT_COMPLETE, 0), 4, 40);
    builder_options(&builder, "free_stacks=all (LIBLEAK_OPTIONS)\n");
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 1);
    record = &process.records[0];
    ck_assert_uint_eq(record->stacks, 1);
    ck_assert_uint_eq(record->bytes, 327);
    ck_assert_uint_eq(record->tag_count, 2);
    ck_assert_str_eq(record->tags[0].name, "texture");
    ck_assert_uint_eq(record->tags[0].bytes, 300);
    ck_assert_uint_eq(record->tags[0].blocks, 3);
    ck_assert_str_eq(record->tags[1].name, "mesh");
    ck_assert_uint_eq(record->tags[1].bytes, 20);
    ck_assert_uint_eq(record->freed.places, 1); /* by those of the third tag, which are all gone */
    ck_assert(!record->freed.other_path);
}
END_TEST

START_TEST(the_signature_does_not_depend_on_tags)
{
    struct store_builder builder = program_at(0x1000);
    uint32_t node = LEAK_ROOT_COMPLETE;
    struct process process;

    node = builder_node(&builder, 0x1001, node, 0);
    add_tagged(&builder, builder_node(&builder, 0x1002, node, 0), 9,
               (struct leak_counts){1, 10, 0, 0});
    process = process_of(&builder);
    ck_assert_uint_eq(process.records[0].signature, signature_of(0x1000, STACK(1, 2)));
    ck_assert_str_eq(process.records[0].tags[0].name, "[tag 9]");
}
END_TEST

START_TEST(what_was_freed_is_no_record)
{
    struct store_builder builder = builder_example();
    struct process process = process_of(&builder);

    ck_assert_uint_eq(process.allocations, 10 + 3 + 5 + 1 + 2 + 1);
    ck_assert_uint_eq(process.frees, 4 + 1 + 5 + 1);
    ck_assert_uint_eq(process.record_count, 4);
    ck_assert_uint_eq(process.truncated_stacks, 2);
    ck_assert_uint_eq(process.truncated[LEAK_ROOT_DEPTH], 1);
    ck_assert_str_eq(process.records[0].threads[0].name, "worker");
    ck_assert_str_eq(process.argv[0], "./app");
}
END_TEST

START_TEST(inherited_blocks_are_a_note_unless_asked_for)
{
    struct store_builder builder = builder_example();
    struct process process;

    builder_header(&builder)->flags = LEAK_FLAG_FORKED;
    builder_header(&builder)->inherited_sites = 1;
    options.group.inherited = _i;
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, _i ? 4 : 3);
    ck_assert_uint_eq(process.note_count, _i ? 0 : 1);
    ck_assert(_i || strstr(process.notes[0], "800 bytes in 8 blocks inherited from pid 41"));
}
END_TEST

START_TEST(errors_of_a_sampled_process_add_up_as_variances_do)
{
    static const struct leak_variance variances[] = {
        {3, 9 * 256, 4ull << 32, 0}, {1, 16 * 256, 9ull << 32, 0}, {2, 0, 1ull << 32, 0}};
    struct store_builder builder = program_at(0x1000);
    struct process process;

    add_stack(&builder, 0x1000, STACK(1, 2, 3), 10000);
    add_stack(&builder, 0x1000, STACK(1, 2, 2, 3), 30000);
    add_stack(&builder, 0x1000, STACK(1, 4), 2000);
    builder_variances(&builder, 1, 3, variances);
    builder_header(&builder)->sample = 100;
    process = process_of(&builder);
    ck_assert_uint_eq(process.sample, 100);
    /* 1.96 sqrt(variance (n + 1) / n); bytes are in units of sample^2. */
    ck_assert_uint_eq(process.records[0].error.samples, 4);
    ck_assert_uint_eq(process.records[0].error.blocks, 11); /* 10.96 */
    ck_assert_uint_eq(process.records[0].error.bytes, 790); /* 790.1 */
    ck_assert_uint_eq(process.records[1].error.bytes, 240); /* 240.0 */
    ck_assert_uint_eq(process.errors[VERDICT_UNFREED].samples, 6);
    ck_assert_uint_eq(process.errors[VERDICT_UNFREED].bytes, 792);
    ck_assert_uint_eq(process.live_error.bytes, 792);
    ck_assert_uint_eq(process.errors[VERDICT_LOST].bytes, 0);
    ck_assert_uint_eq(process.note_count, 2);
    ck_assert(strstr(process.notes[0], "sample=100"));
    ck_assert(strstr(process.notes[1], "37 % at 100 bytes"));
}
END_TEST

START_TEST(the_end_is_the_stores_or_lost)
{
    struct store_builder builder = builder_example();

    ck_assert_int_eq(process_of(&builder).how, END_EXIT);
    builder = builder_example();
    builder_header(&builder)->end_how = LEAK_END_NONE;
    ck_assert_int_eq(process_of(&builder).how, END_LOST);
    builder = builder_example();
    builder_header(&builder)->end_how = LEAK_END_NONE;
    builder_header(&builder)->exec_at = 5;
    ck_assert_int_eq(process_of(&builder).how, END_EXEC);
    builder = builder_example(); /* our pid, and another start time */
    builder_header(&builder)->end_how = LEAK_END_NONE;
    builder_header(&builder)->pid = getpid();
    gethostname(builder_header(&builder)->host, 63);
    ck_assert_int_eq(process_of(&builder).how, END_LOST);
}
END_TEST

START_TEST(processes_that_show_the_same_are_alike)
{
    struct report report = {.processes = arena_alloc_array(mem, 3, sizeof(struct process)),
                            .process_count = 3};

    for (int i = 0; i < 3; i++) {
        struct store_builder builder = builder_example();

        builder_header(&builder)->pid = 100 + i;
        if (i == 1)
            builder_site(&builder, LEAK_ROOT_DEPTH, LEAK_KIND_NEW,
                         (struct leak_counts){1, 1, 0, 0});
        report.processes[i] = process_of(&builder);
    }
    options.stable = _i;
    build_finish(&report, &options);
    ck_assert_uint_eq(report.processes[1].alike, 1);
    ck_assert_uint_eq(report.processes[2].alike, 0);
    ck_assert_int_eq(report.processes[2].pid, _i ? 0 : 102);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("group");
    TCase *all = tcase_create("group");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, signatures_do_not_depend_on_where_a_module_was_loaded);
    tcase_add_test(all, recursion_counts_once);
    tcase_add_test(all, stacks_of_one_signature_are_one_record);
    tcase_add_test(all, a_stack_under_several_tags_is_one_record);
    tcase_add_test(all, the_signature_does_not_depend_on_tags);
    tcase_add_test(all, what_was_freed_is_no_record);
    tcase_add_loop_test(all, inherited_blocks_are_a_note_unless_asked_for, 0, 2);
    tcase_add_test(all, errors_of_a_sampled_process_add_up_as_variances_do);
    tcase_add_test(all, the_end_is_the_stores_or_lost);
    tcase_add_loop_test(all, processes_that_show_the_same_are_alike, 0, 2);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
