/* test_leak_groups.c - records that become one entry; each record is in exactly one. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/records/leak_groups.h"
#include "common/base/hashmap.h"
#include "tests/unit/suite.h"

#define FRAMES 6
#define RECORDS 64

static struct arena *mem;
static struct process process;
static struct record records[RECORDS];
static struct frame pool[256];
static size_t pooled;

static void setup(void)
{
    mem = arena_begin();
    memset(records, 0, sizeof(records));
    process = (struct process){.records = records};
    pooled = 0;
}

static void teardown(void)
{
    arena_end(mem);
}

/* The same frame for the same words, as resolving gives it. */
static const struct frame *frame(const char *function, uint32_t line)
{
    for (size_t i = 0; i < pooled; i++)
        if (strcmp(pool[i].function, function) == 0 && pool[i].line == line)
            return &pool[i];
    pool[pooled] = (struct frame){.function = arena_copy(mem, function, strlen(function)),
                                  .file = "a.cc",
                                  .line = line,
                                  .module = "/app",
                                  .role = FRAME_USER,
                                  .name_hash = hash_text(1, function, strlen(function))};
    return &pool[pooled++];
}

/* "inner:1 outer:2", so many blocks of that size each. */
static struct record *add(const char *stack, uint64_t blocks, uint64_t size)
{
    struct record *record = &records[process.record_count++];
    const struct frame **frames = arena_alloc_array(mem, FRAMES, sizeof(*frames));
    char *words = arena_copy(mem, stack, strlen(stack)), *left;

    for (char *word = strtok_r(words, " ", &left); word; word = strtok_r(NULL, " ", &left)) {
        char *line = strrchr(word, ':');

        *line = 0;
        frames[record->frame_count++] = frame(word, (uint32_t)strtoul(line + 1, NULL, 10));
    }
    *record = (struct record){.verdict = VERDICT_LOST,
                              .blocks = blocks,
                              .bytes = blocks * size,
                              .frames = frames,
                              .frame_count = record->frame_count};
    return record;
}

static size_t entries(void)
{
    leak_groups_fill(mem, SORT_RETAINED, &process);
    ck_assert(leak_groups_check(&process));
    return process.entry_count;
}

START_TEST(members_of_a_constructor_are_one)
{
    add("W::W:1 main:9", 3, 100);
    add("copy:5 W::W:2 main:9", 3, 10);
    add("n::W<int>::W:1 main:9", 3, 10);
    ck_assert_uint_eq(entries(), 2);
    ck_assert_uint_eq(process.entries[0].count, 2);
    ck_assert_uint_eq(process.entries[0].shared, hash_text(1, "W::W", 4));
    ck_assert_uint_eq(leak_group_sum(&process, &process.entries[0]).blocks, 6);
}
END_TEST

START_TEST(objects_made_by_different_callers_are_two)
{
    add("W::W:1 f:3 main:9", 3, 100);
    add("copy:5 W::W:2 g:4 main:9", 3, 10);
    ck_assert_uint_eq(entries(), 2);
}
END_TEST

START_TEST(one_line_and_two_callers_are_one)
{
    add("f:1 a:2 main:9", 3, 100);
    add("f:1 b:3 main:9", 1, 100);
    ck_assert_uint_eq(entries(), 1);
}
END_TEST

START_TEST(one_line_with_two_sizes_is_a_wrapper_and_two)
{
    add("f:1 a:2 main:9", 3, 100);
    add("f:1 b:3 main:9", 1, 101);
    ck_assert_uint_eq(entries(), 2);
}
END_TEST

START_TEST(two_lines_agree_whatever_the_sizes)
{
    add("copy:7 take:1 one:2 main:1", 3, 100);
    add("copy:7 take:1 two:3 main:1", 4, 11);  /* the caller's line */
    add("copy:7 put:8 three:3 main:1", 4, 11); /* the size of that one */
    add("copy:7 put:9 three:3 main:1", 5, 12); /* neither */
    ck_assert_uint_eq(entries(), 2);
    ck_assert_uint_eq(process.entries[0].count, 3);
}
END_TEST

/* Its holder was made by one function and freed by another, at those lines. */
static void orphan(struct record *record, uint32_t made, uint32_t freed)
{
    const struct frame **frames = arena_alloc_array(mem, 1, sizeof(*frames));

    *frames = frame("drop", freed);
    record->orphaned = (struct orphaned){
        .blocks = 1, .holder = frame("make", made), .frames = frames, .frame_count = 1};
}

/* Lines where the holder of the second record was made and freed; one entry? */
static const struct {
    uint32_t made, freed;
    size_t entries;
} holders[] = {{10, 20, 1}, {11, 20, 2}, {10, 21, 2}};

START_TEST(what_one_holder_forgot_is_one)
{
    orphan(add("name:1 read:5 main:9", 3, 100), 10, 20);
    orphan(add("value:2 parse:6 main:8", 4, 11), holders[_i].made, holders[_i].freed);
    ck_assert_uint_eq(entries(), holders[_i].entries);
    ck_assert_uint_eq(process.entries[0].shared, 0);
}
END_TEST

/* The same frame in a stripped program: its line becomes its offset, which is all that is known. */
static const struct frame *stripped(const struct frame *frame)
{
    struct frame *copy = arena_alloc_array(mem, 1, sizeof(*copy));

    *copy = (struct frame){.module = frame->module,
                           .offset = frame->line,
                           .has_offset = true,
                           .role = FRAME_USER,
                           .name_hash = hash_text(2, "app", 3)};
    return copy;
}

static void strip(struct record *record)
{
    const struct frame **frames = arena_alloc_array(mem, FRAMES, sizeof(*frames));
    const struct frame **freed = arena_alloc_array(mem, 1, sizeof(*freed));

    for (size_t i = 0; i < record->frame_count; i++)
        frames[i] = stripped(record->frames[i]);
    record->frames = frames;
    *freed = stripped(record->orphaned.frames[0]);
    record->orphaned.frames = freed;
    record->orphaned.holder = stripped(record->orphaned.holder);
}

START_TEST(what_one_holder_forgot_is_one_in_a_stripped_program)
{
    struct record *name = add("name:1 read:5 main:9", 3, 100);
    struct record *value = add("value:2 parse:6 main:8", 4, 11);

    orphan(name, 10, 20);
    orphan(value, holders[_i].made, holders[_i].freed);
    strip(name);
    strip(value);
    ck_assert_uint_eq(entries(), holders[_i].entries);
}
END_TEST

START_TEST(callers_of_what_others_free_are_two)
{
    add("f:1 a:2 main:9", 3, 100)->freed.places = 1;
    add("f:1 b:3 main:9", 1, 100)->freed.places = 1;
    ck_assert_uint_eq(entries(), 2);
}
END_TEST

START_TEST(verdicts_are_never_mixed)
{
    add("f:1 a:2 main:9", 3, 100);
    add("f:1 b:3 main:9", 1, 100)->verdict = VERDICT_POSSIBLE;
    ck_assert_uint_eq(entries(), 2);
}
END_TEST

START_TEST(larger_sums_come_first)
{
    add("g:1 main:9", 1, 150);
    add("f:1 a:2 main:9", 1, 100);
    add("f:1 b:3 main:9", 1, 100);
    ck_assert_uint_eq(entries(), 2);
    ck_assert_uint_eq(process.entries[0].bytes, 200);
}
END_TEST

START_TEST(any_records_are_each_in_one_entry)
{
    static const char *const names[] = {"f", "g", "W::W", "main", "a::b::b", "h"};

    srand((unsigned)_i);
    for (int i = 0; i < RECORDS; i++) {
        char stack[128] = "";
        int frames = 1 + rand() % (FRAMES - 1);

        for (int k = 0; k < frames; k++)
            snprintf(stack + strlen(stack), sizeof(stack) - strlen(stack), "%s:%d ",
                     names[rand() % 6], rand() % 3);
        add(stack, 1 + (uint64_t)rand() % 3, 10 + (uint64_t)rand() % 2)->verdict =
            rand() % 2 ? VERDICT_LOST : VERDICT_UNFREED;
        records[i].signature = (uint64_t)i;
    }
    ck_assert_uint_lt(entries(), RECORDS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("entries");
    TCase *tests = tcase_create("entries");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, members_of_a_constructor_are_one);
    tcase_add_test(tests, objects_made_by_different_callers_are_two);
    tcase_add_test(tests, one_line_and_two_callers_are_one);
    tcase_add_test(tests, one_line_with_two_sizes_is_a_wrapper_and_two);
    tcase_add_test(tests, two_lines_agree_whatever_the_sizes);
    tcase_add_loop_test(tests, what_one_holder_forgot_is_one, 0, 3);
    tcase_add_loop_test(tests, what_one_holder_forgot_is_one_in_a_stripped_program, 0, 3);
    tcase_add_test(tests, callers_of_what_others_free_are_two);
    tcase_add_test(tests, verdicts_are_never_mixed);
    tcase_add_test(tests, larger_sums_come_first);
    tcase_add_loop_test(tests, any_records_are_each_in_one_entry, 0, 50);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
