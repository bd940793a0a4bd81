/* test_look.c - what a look at the heap found: read, whatever the file says, and settled with what
 * lives now.
 *
 * No module is opened: functions are places in modules, as in test_group.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/build/build.h"
#include "common/store/reader.h"
#include "common/sites/sites.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

static struct arena *mem;
static struct resolver *resolver;
static struct store store;
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

static void parse(const struct store_builder *builder)
{
    struct extent extent;
    struct store_image image = store_image_borrow(builder->data, builder->size, &extent);
    struct read_error trouble;
    const char *broken;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    ck_assert_msg(store_check(&store, &broken), "broken: %s", broken);
}

/* Parsed, built, and both given back. */
static struct process process_of(struct store_builder *builder)
{
    struct process process;

    parse(builder);
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    builder_end(builder);
    return process;
}

/* ---- Reading -------------------------------------------------------------------------------- */

START_TEST(a_look_is_read_whole)
{
    struct store_builder builder = builder_looked();
    const struct store_leak_check *look;

    parse(&builder);
    look = store.look;
    ck_assert_ptr_nonnull(look);
    ck_assert_uint_eq(store.note_count, 0);
    ck_assert_uint_eq(look->found_count, 5);
    ck_assert_uint_eq(store.sites[look->found[0].site].id, 1);
    ck_assert_int_eq(look->found[1].verdict, LEAK_VERDICT_INDIRECT);
    ck_assert_uint_eq(look->found[1].owner, 0);
    ck_assert_uint_eq(look->found[0].owner, STORE_NONE);
    ck_assert_uint_eq(look->found[3].root, 0);
    ck_assert_uint_eq(look->found[3].path_count, 2);
    ck_assert_uint_eq(look->root_count, 7);
    ck_assert_uint_eq(look->part_count, 2);
    ck_assert_uint_eq(look->parts[1].root, 1);
    ck_assert_uint_eq(store.sites[look->parts[1].site].id, 3);
    ck_assert_uint_eq(look->parts[1].bytes, 64);
    ck_assert_uint_eq(look->steps[1].into, 8);
    ck_assert_uint_eq(look->steps[3].site, STORE_NO_SITE);
    ck_assert_uint_eq(look->samples[1].address, 0xa110);
    ck_assert_str_eq(look->threads[1].name, "worker");
    ck_assert_uint_eq(look->threads[1].pc_count, 2);
    ck_assert_uint_eq(look->pcs[0], 0x1300);
    ck_assert_str_eq(look->modules[0].path, "/opt/app");
    ck_assert_ptr_null(store.failed);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

/* Each was taken after the ones before. */
static struct builder_look empty_look(enum leak_rung rung, enum leak_trouble trouble)
{
    static uint64_t when = 1800000000000000000;

    when++;
    return (struct builder_look){
        .head = {.rung = (uint8_t)rung,
                 .trouble = (uint8_t)trouble,
                 .when_ns = when,
                 .occasion = rung == LEAK_RUNG_NONE ? LEAK_OCCASION_LATE : LEAK_OCCASION_EARLY}};
}

START_TEST(the_last_look_counts)
{
    struct store_builder builder = builder_looked();
    struct builder_look later = empty_look(LEAK_RUNG_UNSTOPPED, LEAK_TROUBLE_NONE);

    builder_look(&builder, &later);
    parse(&builder);
    ck_assert_int_eq(store.look->head.rung, LEAK_RUNG_UNSTOPPED);
    ck_assert_uint_eq(store.look->found_count, 0);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

START_TEST(a_look_that_was_written_over_an_older_one_counts)
{
    struct store_builder builder = builder_example();
    struct builder_look first = empty_look(LEAK_RUNG_UNSTOPPED, LEAK_TROUBLE_NONE);
    struct builder_look second = empty_look(LEAK_RUNG_PARKED, LEAK_TROUBLE_NONE);

    builder_look(&builder, &second);
    builder_look(&builder, &first);
    parse(&builder);
    ck_assert_int_eq(store.look->head.rung, LEAK_RUNG_PARKED);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

START_TEST(a_look_that_failed_never_stands_in_for_one_that_did_not)
{
    struct store_builder builder = builder_looked();
    struct builder_look failed = empty_look(LEAK_RUNG_NONE, LEAK_TROUBLE_NO_TIME);
    struct process process;

    builder_look(&builder, &failed);
    process = process_of(&builder);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].bytes, 200);
    ck_assert_str_eq(process.look->rung, "parked");
    ck_assert_uint_eq(process.note_count, 1);
    ck_assert_str_eq(
        process.notes[0],
        "a later leak check after the last exit handler failed (the leak check did not "
        "finish within exit_budget): blocks allocated after the earlier one are not "
        "classified");
}
END_TEST

START_TEST(an_earlier_failure_is_forgotten)
{
    struct store_builder builder = builder_example();
    struct builder_look failed = empty_look(LEAK_RUNG_NONE, LEAK_TROUBLE_NO_CHILD);
    struct builder_look made = empty_look(LEAK_RUNG_PARKED, LEAK_TROUBLE_NONE);
    struct process process;

    builder_look(&builder, &failed);
    builder_look(&builder, &made);
    process = process_of(&builder);
    ck_assert_str_eq(process.look->rung, "parked");
    ck_assert_uint_eq(process.note_count, 0);
}
END_TEST

START_TEST(without_a_look_all_is_unfreed_and_the_reason_is_said)
{
    struct store_builder builder = builder_example();
    struct builder_look failed = empty_look(LEAK_RUNG_NONE, LEAK_TROUBLE_SAMPLED);
    struct process process;

    if (_i)
        builder_look(&builder, &failed);
    process = process_of(&builder);
    ck_assert_uint_eq(process.totals.of[VERDICT_UNFREED].bytes, process.live_bytes);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].records, 0);
    ck_assert_uint_eq(process.note_count, _i);
    ck_assert((process.look != NULL) == (_i == 1));
    if (_i)
        ck_assert_str_eq(process.notes[0],
                         "no leak check was made: with sample= most blocks are unknown");
}
END_TEST

START_TEST(an_unpublished_look_is_none)
{
    struct store_builder builder = builder_looked();

    ((struct leak_chunk *)(builder.data + builder.look))->length = 0;
    parse(&builder);
    ck_assert_ptr_null(store.look);
    ck_assert_uint_eq(store.note_count, 0);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

/* ---- Damage --------------------------------------------------------------------------------- */

static const uint64_t odd[] = {0, 1, 5, 255, 4095, 0x7fffffff, 0x80000000, UINT32_MAX, UINT64_MAX};

static void must_be_survived(struct store_builder *builder)
{
    struct store_builder copy = *builder;
    struct process process;

    copy.data = malloc(builder->size);
    memcpy(copy.data, builder->data, builder->size);
    process = process_of(&copy);
    ck_assert_uint_le(process.totals.of[VERDICT_LOST].blocks, process.live_blocks);
}

/* Each word of the head and of all tables takes each odd value, in each width. */
START_TEST(damage_at_every_field_is_survived)
{
    struct store_builder builder = builder_looked();
    const struct leak_chunk *chunk = (struct leak_chunk *)(builder.data + builder.look);
    size_t begin = builder.look + sizeof(*chunk), end = begin + chunk->length;
    size_t width = (size_t)1 << _i;

    for (size_t at = begin; at + width <= end; at += width)
        for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
            uint64_t before = 0;

            memcpy(&before, builder.data + at, width);
            memcpy(builder.data + at, &odd[i], width);
            must_be_survived(&builder);
            memcpy(builder.data + at, &before, width);
        }
    builder_end(&builder);
}
END_TEST

START_TEST(a_look_cut_off_anywhere_keeps_what_is_there)
{
    struct store_builder builder = builder_looked();
    struct leak_chunk *chunk = (struct leak_chunk *)(builder.data + builder.look);

    for (uint64_t length = chunk->length; length--;) {
        chunk->length = length;
        parse(&builder);
        ck_assert((store.look != NULL) == (length >= sizeof(struct leak_snapshot)));
        ck_assert_uint_eq(store.note_count, length != 0);
        store_end(&store);
    }
    builder_end(&builder);
}
END_TEST

static const struct {
    const char *what;
    size_t table; /* in the head */
    size_t field, size;
    uint32_t value;
} wrong[] = {
#define HEAD(name) offsetof(struct leak_snapshot, name)
#define FIELD(type, name) offsetof(struct type, name), sizeof(((struct type *)0)->name)
    {"no such site", HEAD(found), FIELD(leak_found, site), 77},
    {"no such verdict", HEAD(found), FIELD(leak_found, verdict), LEAK_VERDICT_MAX},
    {"no verdict", HEAD(found), FIELD(leak_found, verdict), 0},
    {"an owner that is not there", HEAD(found), FIELD(leak_found, owner), 6},
    {"an owner that is not lost", HEAD(found), FIELD(leak_found, owner), 2},
    {"a root that is not there", HEAD(found), FIELD(leak_found, root), 8},
    {"steps behind the last", HEAD(found), FIELD(leak_found, path.count), 5},
    {"samples behind the last", HEAD(found), FIELD(leak_found, sample.first), 2},
    {"no such class", HEAD(roots), FIELD(leak_held, root_class), LEAK_ROOT_CLASS_MAX},
    {"content behind the last", HEAD(samples), FIELD(leak_sample, content.count), 17},
    {"pcs behind the last", HEAD(threads), FIELD(leak_seen_thread, stack.count), 4},
    {"a part of a root that is not there", HEAD(parts), FIELD(leak_part, root), 8},
    {"a part of no root", HEAD(parts), FIELD(leak_part, root), 0},
    {"a part of no site", HEAD(parts), FIELD(leak_part, site), 77},
    {"a pointer into no result", HEAD(interiors), FIELD(leak_interior, found), 5},
    {"a pointer from no site", HEAD(interiors), FIELD(leak_interior, holder), 77},
    {"a loss at no site", HEAD(losses), FIELD(leak_loss, site), 77},
    {"a loss at no time", HEAD(losses), FIELD(leak_loss, first.by_ns), 0},
    {"a module without an end", HEAD(modules), FIELD(leak_module, length), 12},
};

START_TEST(what_does_not_hold_is_left_out_and_said)
{
    struct store_builder builder = builder_looked();
    struct leak_table table;

    memcpy(&table, (uint8_t *)builder_look_at(&builder, builder.look) + wrong[_i].table,
           sizeof(table));
    memcpy((uint8_t *)builder_look_at(&builder, builder.look) + table.at + wrong[_i].field,
           &wrong[_i].value, wrong[_i].size);
    parse(&builder);
    ck_assert_msg(store.note_count == 1, "%s: %zu notes", wrong[_i].what, store.note_count);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

/* The head ended where that of today goes on. */
START_TEST(a_look_from_before_there_were_interiors_is_read)
{
    struct store_builder builder = builder_looked();

    builder_look_at(&builder, builder.look)->head_size = offsetof(struct leak_snapshot, interiors);
    parse(&builder);
    ck_assert_ptr_nonnull(store.look);
    ck_assert_uint_eq(store.note_count, 0);
    ck_assert_uint_eq(store.look->found_count, 5);
    ck_assert_uint_eq(store.look->interior_count, 0);
    ck_assert_uint_eq(store.look->loss_count, 0);
    store_end(&store);
    builder_look_at(&builder, builder.look)->head_size =
        offsetof(struct leak_snapshot, interiors) - 8;
    parse(&builder);
    ck_assert_ptr_null(store.look);
    ck_assert_uint_eq(store.note_count, 1);
    store_end(&store);
    builder_end(&builder);
}
END_TEST

/* A chunk of a terabyte in a sparse file: what was never written is no table. */
START_TEST(a_table_in_a_hole_costs_nothing)
{
    struct store_builder builder = builder_looked();
    struct leak_chunk *chunk = (struct leak_chunk *)(builder.data + builder.look);
    struct extent extent = {0, builder.size};
    struct store_image image = {.data = builder.data,
                                .size = builder.look + ((size_t)1 << 40),
                                .extents = &extent,
                                .extent_count = 1,
                                .steady = true};
    struct read_error trouble;

    builder_header(&builder)->used = image.size;
    chunk->size = (uint64_t)1 << 40;
    chunk->length = chunk->size - sizeof(*chunk);
    builder_look_at(&builder, builder.look)->found.count = UINT32_MAX;
    ck_assert(reader_parse(mem, &image, &store, &trouble));
    ck_assert_uint_le(store.look->found_count, LEAK_PAGE / sizeof(struct leak_found));
    store_end(&store);
    builder_end(&builder);
}
END_TEST

/* ---- Settling ------------------------------------------------------------------------------- */

#define L LEAK_VERDICT_LOST
#define I LEAK_VERDICT_INDIRECT
#define P LEAK_VERDICT_POSSIBLE
#define H LEAK_VERDICT_HIDDEN
#define R LEAK_VERDICT_REACHABLE
#define EACH 5 /* blocks of 10 bytes of each of the five verdicts were found */

static const struct {
    uint64_t live;
    uint64_t left[VERDICT_MAX]; /* lost indirect possible hidden reachable runtime unfreed */
} settled[] = {
    {25, {5, 5, 5, 5, 5, 0, 0}}, {27, {5, 5, 5, 5, 5, 0, 2}}, {24, {5, 5, 5, 5, 4, 0, 0}},
    {20, {5, 5, 5, 5, 0, 0, 0}}, {17, {5, 5, 5, 2, 0, 0, 0}}, {12, {5, 5, 2, 0, 0, 0, 0}},
    {6, {5, 1, 0, 0, 0, 0, 0}},  {3, {3, 0, 0, 0, 0, 0, 0}},  {1, {1, 0, 0, 0, 0, 0, 0}},
};

START_TEST(what_lives_is_shared_out_over_what_was_found)
{
    static const enum leak_verdict order[] = {R, H, L, I, P};
    struct store_builder builder = builder_begin();
    uint64_t live = settled[_i].live;
    struct leak_found found[5];
    struct process process;

    builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_MALLOC,
                 (struct leak_counts){30, 300, 30 - live, 300 - 10 * live});
    for (int i = 0; i < 5; i++)
        found[i] = (struct leak_found){
            .site = 1, .verdict = (uint8_t)order[i], .blocks = EACH, .bytes = 10 * EACH};
    found[3].owner = 3;
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 5});
    process = process_of(&builder);
    for (int v = 0; v < VERDICT_MAX; v++) {
        ck_assert_msg(process.totals.of[v].blocks == settled[_i].left[v], "%s: %d blocks of %d",
                      verdict_word[v], (int)process.totals.of[v].blocks, (int)live);
        ck_assert_uint_eq(process.totals.of[v].bytes, 10 * settled[_i].left[v]);
    }
}
END_TEST

/* ---- Records -------------------------------------------------------------------------------- */

static const struct record *record_of(const struct process *process, enum verdict verdict, int skip)
{
    for (size_t i = 0; i < process->record_count; i++)
        if (process->records[i].verdict == verdict && skip-- == 0)
            return &process->records[i];
    ck_abort_msg("no such record: %s", verdict_word[verdict]);
    return NULL;
}

/* By the C library alone; by an unknown stack. */
START_TEST(an_owner_may_be_freed_outside_user_code)
{
    struct store_builder builder = builder_looked();
    uint32_t node = _i ? LEAK_ROOT_BROKEN : builder_node(&builder, 0x12000, LEAK_ROOT_COMPLETE, 0);
    struct leak_snapshot *head = builder_look_at(&builder, builder.look);
    struct leak_orphan *orphan = (struct leak_orphan *)((char *)head + head->orphans.at);
    struct process process;
    const struct orphaned *got;

    orphan->node = node;
    process = process_of(&builder);
    got = &record_of(&process, VERDICT_LOST, 0)->orphaned;
    ck_assert_uint_eq(got->blocks, _i ? 0 : 2);
    ck_assert(!got->blocks || got->user < got->frame_count);
}
END_TEST

START_TEST(records_have_verdicts_owners_and_paths)
{
    struct store_builder builder = builder_looked();
    struct process process = process_of(&builder);
    const struct record *lost = record_of(&process, VERDICT_LOST, 0);
    const struct record *held = record_of(&process, VERDICT_INDIRECT, 0);
    const struct record *reachable = record_of(&process, VERDICT_REACHABLE, 0);

    ck_assert_ptr_eq(lost, &process.records[0]);
    ck_assert(lost->cycle);
    ck_assert_uint_eq(lost->retained.blocks, 4);
    ck_assert_uint_eq(lost->orphaned.blocks, 2); /* of two pairs the one with more */
    ck_assert_uint_eq(lost->orphaned.frames[lost->orphaned.user]->offset, 0x11ff);
    ck_assert_uint_eq(reachable->orphaned.blocks, 0);
    ck_assert_uint_eq(held->owner, 1);
    ck_assert_uint_eq(lost->owned, (size_t)(held - process.records) + 1);
    ck_assert(held->shared && !held->cycle);
    ck_assert(record_of(&process, VERDICT_POSSIBLE, 0)->tagged);
    ck_assert_uint_eq(record_of(&process, VERDICT_LOST, 0)->first_lost.after_ns,
                      1700000005000000000);
    ck_assert_uint_eq(record_of(&process, VERDICT_LOST, 0)->last_lost.by_ns, 1700000009000000000);
    ck_assert_uint_eq(record_of(&process, VERDICT_POSSIBLE, 0)->last_lost.by_ns, 0);
    ck_assert_uint_eq(record_of(&process, VERDICT_POSSIBLE, 0)->interior_count, 1);
    ck_assert_uint_eq(record_of(&process, VERDICT_POSSIBLE, 0)->interiors[0].offset, 9);
    ck_assert_uint_eq(record_of(&process, VERDICT_POSSIBLE, 0)->interiors[0].holder->offset,
                      0x10ff);
    ck_assert_uint_eq(reachable->interior_count, 0);
    ck_assert(!reachable->header);
    ck_assert_uint_eq(record_of(&process, VERDICT_UNFREED, 0)->blocks, 2);
    ck_assert_uint_eq(lost->sample_count, 2);
    ck_assert_uint_eq(lost->samples[0].length, 8);
    ck_assert_mem_eq(lost->samples[0].content, "he\"l\\lo\n", 8);
    ck_assert(!lost->samples[0].pointers && lost->samples[1].pointers);
    ck_assert_str_eq(reachable->path->root->words, "app +0x8010");
    ck_assert_uint_eq(reachable->path->count, 2);
    ck_assert_uint_eq(reachable->path->steps[1].signature, reachable->signature);
    ck_assert_str_eq(record_of(&process, VERDICT_REACHABLE, 1)->path->root->words,
                     "a stack slot of a function in app (T2)");
    ck_assert_uint_eq(process.owner_count, 2);
    ck_assert_uint_eq(process.owners[0].bytes, 164);
    ck_assert_ptr_eq(process.owners[0].path, reachable->path);
    ck_assert_uint_eq(process.thread_count, 2); /* beside the one that looked */
}
END_TEST

/* Two sites of one signature, and flags that tell records apart or do not. */
START_TEST(records_differ_by_their_content)
{
    static const struct {
        uint8_t verdict, flags, other;
        size_t records;
    } rows[] = {
        {L, 0, 0, 1},
        {L, 0, LEAK_FOUND_CYCLE, 2},
        {R, 0, LEAK_FOUND_DROPPED, 2},
        {R, 0, LEAK_FOUND_IGNORED, 2},
        {R, LEAK_FOUND_DROPPED, LEAK_FOUND_DROPPED, 1},
        {P, 0, LEAK_FOUND_TAGGED, 1},
        {R, 0, LEAK_FOUND_HEADER, 1},
    };
    struct store_builder builder = builder_begin();
    struct leak_found found[2];
    struct process process;

    for (uint32_t i = 0; i < 2; i++) {
        builder_site(&builder, LEAK_ROOT_COMPLETE, LEAK_KIND_MALLOC,
                     (struct leak_counts){1, 8, 0, 0});
        found[i] = (struct leak_found){.site = i + 1,
                                       .verdict = rows[_i].verdict,
                                       .flags = i ? rows[_i].other : rows[_i].flags,
                                       .blocks = 1,
                                       .bytes = 8};
    }
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 2});
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, rows[_i].records);
}
END_TEST

static uint32_t site_at(struct store_builder *builder, uint64_t pc, uint64_t bytes)
{
    return builder_site(builder, builder_node(builder, pc, LEAK_ROOT_COMPLETE, 0), LEAK_KIND_MALLOC,
                        (struct leak_counts){1, bytes, 0, 0});
}

static struct store_builder program(void)
{
    struct store_builder builder = builder_begin();

    builder_module(&builder, "/opt/app", 0x1000, 0x9000, 0, 1, 0, "\x12\x34");
    builder_module(&builder, "/lib/libc.so.6", 0x10000, 0x20000, 0x10000, 1, 0, "\x55\x66");
    builder_module(&builder, "/lib/libleak.so", 0x30000, 0x40000, 0x30000, 1, 0, "\x77\x66");
    return builder;
}

START_TEST(what_hangs_under_different_records_is_different_records)
{
    struct store_builder builder = program();
    struct leak_found found[] = {
        {.site = site_at(&builder, 0x1100, 8), .verdict = L, .blocks = 1, .bytes = 8},
        {.site = site_at(&builder, 0x1200, 100),
         .verdict = L,
         .blocks = 1,
         .bytes = 100,
         .retained_blocks = 2,
         .retained_bytes = 110},
        {.site = site_at(&builder, 0x1300, 10), .verdict = I, .owner = 2, .blocks = 1, .bytes = 10},
        {.site = 0, .verdict = I, .owner = 1, .blocks = 1, .bytes = 10},
    };
    struct process process;

    found[3].site = site_at(&builder, 0x1300, 10);
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 4});
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 4);
    ck_assert_uint_eq(process.records[0].bytes, 100);
    ck_assert_uint_eq(process.records[1].bytes, 8);
    ck_assert_int_eq(process.records[2].verdict, VERDICT_INDIRECT);
    ck_assert_uint_eq(process.records[2].signature, process.records[3].signature);
    ck_assert_uint_eq(process.records[2].owner + process.records[3].owner, 1 + 2);
    ck_assert_uint_eq(process.records[0].owned, process.records[2].owner == 1 ? 3 : 4);
    ck_assert_uint_eq(process.records[1].owned, process.records[2].owner == 2 ? 3 : 4);
}
END_TEST

START_TEST(the_runtimes_own_blocks_are_no_loss_whatever_the_look_says)
{
    struct store_builder builder = program();
    struct leak_found found[2] = {{.verdict = _i ? R : L, .blocks = 1, .bytes = 72}};
    struct process process;

    found[0].site = site_at(&builder, 0x12000, 72); /* libc, without a caller */
    found[1] = found[0];
    found[1].site = site_at(&builder, 0x1200, 72);
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 2});
    process = process_of(&builder);
    ck_assert_uint_eq(process.totals.of[VERDICT_RUNTIME].blocks, 1);
    ck_assert_uint_eq(process.totals.of[_i ? VERDICT_REACHABLE : VERDICT_LOST].blocks, 1);
}
END_TEST

START_TEST(what_was_lost_comes_first_and_then_what_gives_back_most)
{
    struct store_builder builder = program();
    struct leak_found found[] = {
        {.verdict = R, .bytes = 9000},
        {.verdict = P, .bytes = 500},
        {.verdict = L, .bytes = 20, .retained_blocks = 9, .retained_bytes = 4000},
        {.verdict = L, .bytes = 3000, .retained_blocks = 1, .retained_bytes = 3000},
        {.verdict = H, .bytes = 800},
    };
    static const uint64_t order[] = {20, 3000, 500, 800, 7000, 9000};
    struct process process;

    for (uint32_t i = 0; i < 5; i++) {
        found[i].site = site_at(&builder, 0x1100 + 0x100 * i, found[i].bytes);
        found[i].blocks = 1;
    }
    site_at(&builder, 0x2000, 7000);
    builder_look(&builder, &(struct builder_look){.head = {.rung = LEAK_RUNG_PARKED},
                                                  .found = found,
                                                  .found_count = 5});
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 6);
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(process.records[i].bytes, order[i]);
}
END_TEST

START_TEST(inherited_blocks_keep_their_treatment)
{
    struct store_builder builder = builder_looked();
    struct process process;

    builder_header(&builder)->flags = LEAK_FLAG_FORKED;
    builder_header(&builder)->inherited_sites = 1;
    options.group.inherited = _i;
    process = process_of(&builder);
    ck_assert_uint_eq(process.totals.of[VERDICT_LOST].blocks, _i ? 2 : 0);
    ck_assert_uint_eq(process.totals.of[VERDICT_REACHABLE].blocks, _i ? 2 : 1);
    ck_assert_uint_eq(process.note_count, !_i);
}
END_TEST

/* The library stands between main and what called it, and is in no trace. */
START_TEST(frames_of_the_library_are_left_out_of_stacks)
{
    struct store_builder builder = program();
    uint32_t node = builder_node(&builder, 0x12000, LEAK_ROOT_COMPLETE, 0);
    uint32_t around = builder_node(&builder, 0x31000, node, 0);
    struct process process;

    builder_site(&builder, builder_node(&builder, 0x1200, around, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 100, 0, 0});
    builder_site(&builder, builder_node(&builder, 0x1200, node, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 10, 0, 0});
    builder_site(&builder, builder_node(&builder, 0x32000, LEAK_ROOT_COMPLETE, 0), LEAK_KIND_MALLOC,
                 (struct leak_counts){1, 1, 0, 0});
    process = process_of(&builder);
    ck_assert_uint_eq(process.record_count, 2); /* the names do not depend on it */
    ck_assert_uint_eq(process.records[0].bytes, 110);
    ck_assert_uint_eq(process.records[0].frame_count, 2);
    ck_assert_str_eq(process.records[0].frames[1]->module, "/lib/libc.so.6");
    ck_assert_uint_eq(process.records[1].frame_count, 1); /* there is nothing else */
}
END_TEST

START_TEST(a_stable_report_leaves_out_what_differs_from_run_to_run)
{
    struct report report = {.processes = arena_alloc_array(mem, 1, sizeof(struct process)),
                            .process_count = 1};
    struct store_builder builder = builder_looked();
    const struct record *lost;

    report.processes[0] = process_of(&builder);
    options.stable = _i;
    options.content = true;
    build_finish(&report, &options);
    lost = record_of(&report.processes[0], VERDICT_LOST, 0);
    ck_assert((lost->samples[0].address == 0) == _i);
    ck_assert((lost->samples[0].time_ns == 0) == _i);
    ck_assert_uint_eq(lost->samples[0].length, 8);
    ck_assert_uint_eq(lost->samples[1].length, _i ? 0 : 8);
    ck_assert_int_eq(report.processes[0].look->timed, !_i);
    ck_assert((report.processes[0].threads[0].tid == 0) == _i);
}
END_TEST

static void add_tests(TCase *reading, TCase *records)
{
    tcase_add_test(reading, a_look_is_read_whole);
    tcase_add_test(reading, the_last_look_counts);
    tcase_add_test(reading, a_look_that_was_written_over_an_older_one_counts);
    tcase_add_test(reading, a_look_that_failed_never_stands_in_for_one_that_did_not);
    tcase_add_test(reading, an_earlier_failure_is_forgotten);
    tcase_add_loop_test(reading, without_a_look_all_is_unfreed_and_the_reason_is_said, 0, 2);
    tcase_add_test(reading, an_unpublished_look_is_none);
    tcase_add_loop_test(reading, damage_at_every_field_is_survived, 0, 4);
    tcase_add_test(reading, a_look_cut_off_anywhere_keeps_what_is_there);
    tcase_add_test(reading, a_look_from_before_there_were_interiors_is_read);
    tcase_add_loop_test(reading, what_does_not_hold_is_left_out_and_said, 0, ROWS(wrong));
    tcase_add_test(reading, a_table_in_a_hole_costs_nothing);
    tcase_add_loop_test(records, what_lives_is_shared_out_over_what_was_found, 0, ROWS(settled));
    tcase_add_test(records, records_have_verdicts_owners_and_paths);
    tcase_add_loop_test(records, an_owner_may_be_freed_outside_user_code, 0, 2);
    tcase_add_loop_test(records, records_differ_by_their_content, 0, 7);
    tcase_add_test(records, what_hangs_under_different_records_is_different_records);
    tcase_add_loop_test(records, the_runtimes_own_blocks_are_no_loss_whatever_the_look_says, 0, 2);
    tcase_add_test(records, what_was_lost_comes_first_and_then_what_gives_back_most);
    tcase_add_loop_test(records, inherited_blocks_keep_their_treatment, 0, 2);
    tcase_add_test(records, frames_of_the_library_are_left_out_of_stacks);
    tcase_add_loop_test(records, a_stable_report_leaves_out_what_differs_from_run_to_run, 0, 2);
}

int main(void)
{
    Suite *suite = suite_create("look");
    TCase *reading = tcase_create("reading"), *records = tcase_create("records");

    tcase_add_checked_fixture(reading, setup, teardown);
    tcase_add_checked_fixture(records, setup, teardown);
    tcase_set_timeout(reading, 120);
    add_tests(reading, records);
    suite_add_tcase(suite, reading);
    suite_add_tcase(suite, records);
    return suite_run(suite);
}
