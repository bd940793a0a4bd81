/* test_crash.c - a crash: read, whatever the file says, and told in words.
 *
 * No module is opened: functions are places in modules, as in test_group.c.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/build/build.h"
#include "symbolize/json/json.h"
#include "common/store/reader.h"
#include "symbolize/faults/faults.h"
#include "symbolize/text/text.h"
#include "tests/unit/suite.h"
#include "tests/unit/common/store_builder.h"

#define PID 4242

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

static struct process process_of(const struct store_builder *builder)
{
    struct process process;
    struct store store;
    struct extent extent;
    struct store_image image = store_image_borrow(builder->data, builder->size, &extent);
    struct read_error trouble;
    const char *broken;

    ck_assert(reader_parse(mem, &image, &store, &trouble));
    ck_assert_msg(store_check(&store, &broken), "broken: %s", broken);
    build_process(mem, resolver, &store, &options, &process);
    store_end(&store);
    return process;
}

/* A write 8 bytes past the end of a block, three frames deep. */
static struct leak_crash example(void)
{
    struct leak_crash crash = {.state = LEAK_CRASH_FATAL,
                               .signal = 11,
                               .code = 1,
                               .flags = LEAK_CRASH_HAS_ADDRESS,
                               .access = LEAK_ACCESS_WRITE,
                               .address = 0xc0020,
                               .pc = 0x1500,
                               .sp = 0x7000,
                               .thread = 2,
                               .tid = 77,
                               .register_count = 16,
                               .name = "worker",
                               .depth = 3,
                               .ending = LEAK_ROOT_COMPLETE,
                               .frame_count = 3};

    crash.frames[0].pc = 0x1501;
    crash.frames[1].pc = 0x1200;
    crash.frames[2].pc = 0x1100;
    crash.near[0] = (struct leak_crash_near){
        .address = 0xc0020, .block = 0xc0000, .size = 24, .site = 1, .kind = LEAK_KIND_MALLOC};
    crash.registers[8] = 0xa008; /* rdi */
    crash.near[9].address = 0xa008;
    return crash;
}

static struct store_builder crashed(const struct leak_crash *crash)
{
    struct store_builder builder = builder_example();

    builder_header(&builder)->machine = 62;
    builder_header(&builder)->pid = PID;
    builder_header(&builder)->end_how = LEAK_END_SIGNAL;
    builder_header(&builder)->end_value = crash->signal;
    builder_crash(&builder, crash, "/opt/app", 0x1000, 0x9000);
    return builder;
}

START_TEST(a_crash_is_reported_completely)
{
    struct leak_crash given = example();
    struct store_builder builder = crashed(&given);
    struct process process = process_of(&builder);
    const struct crash *crash = process.crash;

    ck_assert_ptr_nonnull(crash);
    ck_assert_uint_eq(process.totals.errors - process.mistake_count, 1);
    ck_assert_str_eq(crash->name, "SIGSEGV");
    ck_assert_str_eq(crash->words, "write to an unmapped address, 0xc0020");
    ck_assert_str_eq(crash->near, "8 bytes past the end of a block of 24 bytes");
    ck_assert_uint_eq(crash->thread.serial, 2);
    ck_assert_str_eq(crash->thread.name, "worker");
    ck_assert_uint_eq(crash->stack.count, 3);
    ck_assert_uint_eq(crash->stack.frames[0]->offset, 0x500);
    ck_assert_uint_eq(crash->stack.frames[1]->offset, 0x1ff);
    ck_assert_str_eq(crash->stack.frames[0]->module, "/opt/app");
    ck_assert_uint_eq(crash->blocks[0].allocated.count, 2);
    ck_assert(!crash->blocks[0].was_freed && !crash->blocks[0].register_name);
    ck_assert_uint_eq(crash->register_count, 17);
    ck_assert_str_eq(crash->registers[8].name, "rdi");
    ck_assert_str_eq(crash->registers[16].name, "pc");
    ck_assert_uint_eq(crash->module_count, 1);
    builder_end(&builder);
}
END_TEST

/* The ring says that thread 2 freed 16 bytes at 0xa000. */
START_TEST(a_register_that_points_to_a_freed_block_is_reported)
{
    struct leak_crash given = example();
    struct store_builder builder = crashed(&given);
    struct leak_recent *ring;
    struct process process;

    builder_recent(&builder, 2);
    builder_recent_free(&builder, 0xa000, 0x1410, 0, 1, 30);
    ring = (struct leak_recent *)(builder.data + builder.recent + sizeof(struct leak_chunk));
    ring->free[0].size_form = 1 << 8;
    process = process_of(&builder);
    ck_assert_uint_eq(process.crash->block_count, 2);
    ck_assert_str_eq(process.crash->blocks[1].register_name, "rdi");
    ck_assert(process.crash->blocks[1].was_freed);
    ck_assert_uint_eq(process.crash->blocks[1].offset, 8);
    ck_assert_uint_eq(process.crash->blocks[1].size, 16);
    ck_assert_uint_eq(process.crash->blocks[1].freed.frames[0]->offset, 0x140f);
    builder_end(&builder);
}
END_TEST

START_TEST(what_repeats_is_a_repeat_and_a_little_of_it_is_written_out)
{
    struct leak_crash given = example();
    struct store_builder builder;
    struct process process;

    given.frames[1].period = 2;
    given.frames[1].times = 1000;
    given.frames[2].period = 1;
    given.frames[2].times = 3;
    given.depth = 3 + 2000 + 3;
    builder = crashed(&given);
    process = process_of(&builder);
    ck_assert_uint_eq(process.crash->repeat_count, 1);
    ck_assert_uint_eq(process.crash->repeats[0].end, 2);
    ck_assert_uint_eq(process.crash->repeats[0].frames, 2);
    ck_assert_uint_eq(process.crash->repeats[0].times, 1000);
    ck_assert_uint_eq(process.crash->stack.count, 6);
    builder_end(&builder);
}
END_TEST

/* What went to a handler of the program's counts when that is how it ended. */
static const struct {
    enum leak_crash_state state;
    uint32_t how;
    int32_t value;
    bool counts;
} endings[] = {
    {LEAK_CRASH_FATAL, LEAK_END_SIGNAL, 6, true},   {LEAK_CRASH_HANDED, LEAK_END_SIGNAL, 6, true},
    {LEAK_CRASH_HANDED, LEAK_END_NONE, 0, true},    {LEAK_CRASH_HANDED, LEAK_END_EXIT, 6, false},
    {LEAK_CRASH_HANDED, LEAK_END_SIGNAL, 9, false}, {LEAK_CRASH_NONE, LEAK_END_SIGNAL, 6, false},
};

START_TEST(a_signal_that_did_not_kill_is_no_crash)
{
    struct leak_crash given = example();
    struct store_builder builder;
    struct process process;

    given.signal = 6;
    given.code = -6;
    given.sender = PID;
    given.state = endings[_i].state;
    builder = crashed(&given);
    builder_header(&builder)->end_how = endings[_i].how;
    builder_header(&builder)->end_value = endings[_i].value;
    process = process_of(&builder);
    ck_assert_int_eq(process.crash != NULL, endings[_i].counts);
    ck_assert_uint_eq(process.totals.errors - process.mistake_count, endings[_i].counts);
    if (process.crash)
        ck_assert_str_eq(process.crash->words, "abort: raised by the program itself");
    builder_end(&builder);
}
END_TEST

static const struct {
    int32_t signal, code, sender;
    uint32_t flags, access;
    uint64_t address;
    struct leak_crash_mapping at;
    const char *words;
} causes[] = {
    {11, 1, 0, 2, 2, 0, {0}, "write to a null pointer, 0x0"},
    {11, 1, 0, 2, 1, 0x18, {0}, "read from 0x18, 24 bytes away from a null pointer"},
    {11, 1, 0, 2, 3, 0x20000, {0}, "jump to an unmapped address, 0x20000"},
    {11,
     2,
     0,
     2,
     3,
     0x20000,
     {0x20000, 0x21000, 3, "", 0},
     "jump to memory that is no code, 0x20000"},
    {11, 2, 0, 2, 2, 0x20000, {0x20000, 0x21000, 1, "", 0}, "write to read-only memory, 0x20000"},
    {11,
     2,
     0,
     2,
     0,
     0x20000,
     {0x20000, 0x21000, 0, "", 0},
     "access to memory without access, 0x20000"},
    {11, 128, 0, 0, 0, 0, {0}, "access to a non-canonical address: not a pointer"},
    {11, 1, 0, 3, 2, 0x6ff8, {0}, "write to 0x6ff8, just below the stack"},
    {11, -6, PID, 0, 0, 0, {0}, "raised by the program itself"},
    {11, 0, 7, 0, 0, 0, {0}, "sent by process 7"},
    {6, 0, 0, 0, 0, 0, {0}, "sent by a process outside of the container"},
    {8, 1, 0, 0, 0, 0, {0}, "integer divided by zero"},
    {8, 99, 0, 0, 0, 0, {0}, "arithmetic error"},
    {4, 2, 0, 0, 0, 0, {0}, "illegal operand"},
    {5, 128, 0, 0, 0, 0, {0}, "breakpoint"},
    {31, 1, 0, 0, 0, 0, {0}, "forbidden system call (seccomp)"},
    {7,
     2,
     0,
     2,
     1,
     0x20000,
     {0x20000, 0x21000, 17, "/f", 0},
     "read past the end of a mapped file, 0x20000"},
    {7, 1, 0, 2, 1, 0x20001, {0}, "unaligned access to 0x20001"},
    {7, 3, 0, 2, 1, 0x20000, {0}, "hardware error at 0x20000"},
};

START_TEST(a_signal_has_words)
{
    struct leak_crash given = {.signal = causes[_i].signal,
                               .code = causes[_i].code,
                               .sender = causes[_i].sender,
                               .flags = causes[_i].flags,
                               .access = causes[_i].access,
                               .address = causes[_i].address,
                               .at = causes[_i].at};

    ck_assert_str_eq(signal_cause(mem, &given, PID), causes[_i].words);
    ck_assert_ptr_nonnull(signal_name(given.signal));
}
END_TEST

/* ---- Whatever the file says ----------------------------------------------------------------- */

static void write_all(struct process *process)
{
    struct report report = {.processes = process, .process_count = 1};
    struct view view = {.verbose = true};
    FILE *nowhere = fopen("/dev/null", "w");

    text_write(&report, &view, nowhere);
    json_write(&report, &view, nowhere);
    fclose(nowhere);
}

START_TEST(no_damage_is_believed)
{
    struct leak_crash given = example();
    unsigned state = (unsigned)_i + 1;

    given.frames[1].period = 2;
    given.frames[1].times = 1000;
    given.outer_count = 2;
    given.outer[0] = given.outer[1] = 0x1100;
    for (int round = 0; round < 200; round++) {
        struct store_builder builder = crashed(&given);
        size_t chunk = builder_crash(&builder, &given, "/opt/app", 0x1000, 0x9000);
        uint8_t *bytes = (uint8_t *)builder_crash_at(&builder, chunk);
        struct process process;

        for (int damage = 0; damage < 1 + _i % 8; damage++) {
            state = state * 1103515245 + 12345;
            bytes[8 + (state >> 8) % (sizeof(given) + 100)] = (uint8_t)(state >> 3);
        }
        process = process_of(&builder);
        write_all(&process);
        builder_end(&builder);
    }
}
END_TEST

START_TEST(a_count_that_does_not_hold_leaves_the_rest)
{
    struct leak_crash given = example();
    struct store_builder builder;
    struct process process;

    given.frame_count = LEAK_CRASH_FRAMES + 1;
    builder = crashed(&given);
    process = process_of(&builder);
    ck_assert_ptr_nonnull(process.crash);
    ck_assert_uint_eq(process.crash->stack.count, 0);
    ck_assert_str_eq(process.crash->near, "8 bytes past the end of a block of 24 bytes");
    ck_assert(process.damaged);
    builder_end(&builder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crash");
    TCase *told = tcase_create("told"), *hostile = tcase_create("hostile");

    tcase_add_checked_fixture(told, setup, teardown);
    tcase_add_test(told, a_crash_is_reported_completely);
    tcase_add_test(told, a_register_that_points_to_a_freed_block_is_reported);
    tcase_add_test(told, what_repeats_is_a_repeat_and_a_little_of_it_is_written_out);
    tcase_add_loop_test(told, a_signal_that_did_not_kill_is_no_crash, 0, ROWS(endings));
    tcase_add_loop_test(told, a_signal_has_words, 0, ROWS(causes));
    suite_add_tcase(suite, told);
    tcase_add_checked_fixture(hostile, setup, teardown);
    tcase_set_timeout(hostile, 60);
    tcase_add_loop_test(hostile, no_damage_is_believed, 0, 16);
    tcase_add_test(hostile, a_count_that_does_not_hold_leaves_the_rest);
    suite_add_tcase(suite, hostile);
    return suite_run(suite);
}
