/* test_procmaps.c - /proc/self/maps parsed: every form of a line, damaged lines, the real file. */
#include "tests/unit/preload/unit.h"
#include "preload/elf/procmaps.h"

/* ---- Lines ---------------------------------------------------------------------------------- */

static const struct {
    const char *line;
    struct mapping want;
} lines[] = {
    {"55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 131 /usr/bin/cat",
     {0x55d0c0a00000, 0x55d0c0a02000, 0, 131, "/usr/bin/cat", true, false, false, false}},
    {"55d0c0a02000-55d0c0a06000 r-xp 00002000 fe:01 131          /usr/bin/cat",
     {0x55d0c0a02000, 0x55d0c0a06000, 0x2000, 131, "/usr/bin/cat", true, false, true, false}},
    {"7f00-7f10 rw-s 7fff00000000 00:05 4294967299 /dev/zero (deleted)",
     {0x7f00, 0x7f10, 0x7fff00000000, 4294967299, "/dev/zero (deleted)", true, true, false, true}},
    {"7f1000-7f2000 ---p 00000000 00:00 0 ",
     {0x7f1000, 0x7f2000, 0, 0, "", false, false, false, false}},
    {"7f1000-7f2000 rw-p 00000000 00:00 0",
     {0x7f1000, 0x7f2000, 0, 0, "", true, true, false, false}},
    {"5581000-55a2000 rw-p 00000000 00:00 0                          [heap]",
     {0x5581000, 0x55a2000, 0, 0, "[heap]", true, true, false, false}},
    {"7f1000-7f2000 rwxp 00000000 00:00 0    [anon: a name]",
     {0x7f1000, 0x7f2000, 0, 0, "[anon: a name]", true, true, true, false}},
    {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
     {0xffffffffff600000, 0xffffffffff601000, 0, 0, "[vsyscall]", false, false, true, false}},
    {"1000-2000 rw-p 0 08:02 7   /with two  spaces/and\\012a newline",
     {0x1000, 0x2000, 0, 7, "/with two  spaces/and\\012a newline", true, true, false, false}},
};

static void expect(const char *line, const struct mapping *got, const struct mapping *want)
{
    ck_assert_msg(got->start == want->start && got->end == want->end &&
                      got->offset == want->offset && got->inode == want->inode,
                  "%s: numbers are %#" PRIxPTR " %#" PRIxPTR " %#" PRIx64 " %" PRIu64, line,
                  got->start, got->end, got->offset, got->inode);
    ck_assert_msg(got->read == want->read && got->write == want->write &&
                      got->execute == want->execute && got->shared == want->shared,
                  "%s: is %d%d%d%d", line, got->read, got->write, got->execute, got->shared);
    ck_assert_str_eq(got->path, want->path);
}

START_TEST(a_line_of_any_form_is_taken_apart)
{
    struct mapping got;
    ck_assert(procmaps_parse_line(lines[_i].line, &got));
    expect(lines[_i].line, &got, &lines[_i].want);
}
END_TEST

static const char *const refused[] = {
    "",
    "-",
    "7f00",
    "7f00-",
    "7f00-7f10",
    "7f00-7f10 ",
    "7f00-7f10 rw-p",        /* cut within the permissions' field */
    "7f10-7f00 rw-p 0 0 0 ", /* ends before it begins */
    "7f00-7f00 rw-p 0 0 0 ", /* holds nothing */
};

START_TEST(a_line_that_says_no_range_is_refused)
{
    struct mapping got;
    ck_assert_msg(!procmaps_parse_line(refused[_i], &got), "taken: '%s'", refused[_i]);
}
END_TEST

/* Whatever stands there: nothing behind the NUL is read, and the path is a part of the line. */
static void survive(const char *line, size_t length)
{
    struct mapping got;
    char *copy = (char *)unit_at_page_end(NULL, length + 1);
    memcpy(copy, line, length);
    copy[length] = '\0';
    if (procmaps_parse_line(copy, &got)) {
        UNIT_WANT(got.end > got.start);
        UNIT_WANT(got.path >= copy && got.path <= copy + length);
    }
    unit_drop_at_page_end((uint8_t *)copy, length + 1);
}

START_TEST(no_damaged_line_is_read_beyond_its_end)
{
    uint64_t state = unit_seed;
    for (unsigned n = 0; n < 2000; n++) {
        char line[128];
        const char *whole = lines[n % ARRAY_LENGTH(lines)].line;
        size_t length = strlen(whole), cut = unit_random(&state) % (length + 1);
        survive(whole, cut);
        memcpy(line, whole, length);
        for (unsigned k = 1 + unit_random(&state) % 4; k--;)
            line[unit_random(&state) % length] = (char)(1 + unit_random(&state) % 255);
        survive(line, length);
    }
}
END_TEST

/* ---- Finding -------------------------------------------------------------------------------- */

#define COUNT_MOST 40

START_TEST(an_address_is_found_in_the_mapping_around_it)
{
    uint64_t state = unit_seed;
    struct mapping list[COUNT_MOST];
    for (unsigned n = 0; n < 300; n++) {
        struct procmaps maps = {list, unit_random(&state) % COUNT_MOST};
        uintptr_t end = 0;
        for (uint32_t i = 0; i < maps.count; i++) { /* side by side, or with gaps */
            list[i].start = end + unit_random(&state) % 3 * 16;
            end = list[i].end = list[i].start + 16 * (1 + unit_random(&state) % 3);
        }
        for (uintptr_t at = 0; at < end + 32; at++) {
            const struct mapping *want = NULL;
            for (uint32_t i = 0; i < maps.count; i++)
                if (list[i].start <= at && at < list[i].end)
                    want = &list[i];
            UNIT_WANT_MSG(procmaps_find(&maps, at) == want, "seed %" PRIu64 ": %#" PRIxPTR, unit_seed,
                          at);
        }
        UNIT_WANT(!procmaps_find(&maps, UINTPTR_MAX));
    }
}
END_TEST

/* ---- This process --------------------------------------------------------------------------- */

static int written_data = 1;

START_TEST(this_process_is_read_in_order)
{
    struct procmaps maps;
    int on_stack;
    ck_assert(procmaps_read(&maps));
    for (uint32_t i = 1; i < maps.count; i++)
        ck_assert(maps.mapping[i - 1].end <= maps.mapping[i].start);
    const struct mapping *code = procmaps_find(&maps, (uintptr_t)procmaps_read);
    const struct mapping *data = procmaps_find(&maps, (uintptr_t)&written_data);
    const struct mapping *stack = procmaps_find(&maps, (uintptr_t)&on_stack);
    ck_assert(code && code->execute && !code->write && code->inode && code->path[0] == '/');
    ck_assert(data && data->write && !data->execute && data->inode == code->inode);
    ck_assert(stack && stack->write && !stack->inode);
    ck_assert_str_eq(stack->path, "[stack]");
    ck_assert_ptr_null(procmaps_find(&maps, 0));
}
END_TEST

/* Its text is longer than the first buffer for it. */
START_TEST(a_process_of_many_mappings_is_read_whole)
{
    enum { PIECES = 6000 };
    struct procmaps maps;
    char *area = mmap(NULL, PIECES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(area, MAP_FAILED);
    for (unsigned i = 0; i < PIECES; i += 2)
        ck_assert_int_eq(mprotect(area + i * 4096, 4096, PROT_READ | PROT_WRITE), 0);
    ck_assert(procmaps_read(&maps));
    ck_assert_uint_ge(maps.count, PIECES);
    for (unsigned i = 1; i < PIECES - 1; i++) {
        const struct mapping *piece = procmaps_find(&maps, (uintptr_t)area + i * 4096);
        UNIT_WANT(piece && piece->start == (uintptr_t)area + i * 4096);
        UNIT_WANT(piece->end - piece->start == 4096 && piece->write == (i % 2 == 0));
    }
}
END_TEST

static struct procmaps one_by_one;

static void note(const struct mapping *mapping, void *context)
{
    ck_assert_ptr_eq(context, &one_by_one);
    one_by_one.mapping[one_by_one.count++] = *mapping;
}

/* Buffers that hold one line and a bit, and that hold many. */
static const size_t sizes[] = {200, 256, 1000, 4096, 65536};

START_TEST(one_by_one_they_come_in_order_and_whole)
{
    static char buffer[65536];
    struct mapping code = {0}, data = {0}, stack = {0};
    one_by_one.mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                              -1, 0);
    ck_assert(procmaps_each(buffer, sizes[_i], note, &one_by_one));
    for (uint32_t i = 0; i < one_by_one.count; i++) {
        const struct mapping *there = &one_by_one.mapping[i];
        UNIT_WANT(!i || there[-1].end <= there->start);
        if ((uintptr_t)note - there->start < there->end - there->start)
            code = *there;
        if ((uintptr_t)buffer - there->start < there->end - there->start)
            data = *there;
        if ((uintptr_t)&data - there->start < there->end - there->start)
            stack = *there;
    }
    ck_assert(code.execute && !code.write && code.inode);
    ck_assert(data.write && !data.execute);
    ck_assert(stack.write);
    ck_assert(procmaps_find(&one_by_one, (uintptr_t)note));
}
END_TEST

START_TEST(a_line_that_is_too_long_is_passed_over)
{
    char buffer[64]; /* no line with a path fits, most others do not */
    one_by_one.mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                              -1, 0);
    ck_assert(procmaps_each(buffer, sizeof buffer, note, &one_by_one));
    ck_assert_uint_lt(one_by_one.count, 1000);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("maps");
    TCase *parse = tcase_create("lines");
    tcase_add_loop_test(parse, a_line_of_any_form_is_taken_apart, 0, ARRAY_LENGTH(lines));
    tcase_add_loop_test(parse, a_line_that_says_no_range_is_refused, 0, ARRAY_LENGTH(refused));
    tcase_add_test(parse, no_damaged_line_is_read_beyond_its_end);
    suite_add_tcase(suite, parse);
    TCase *find = tcase_create("find");
    tcase_add_test(find, an_address_is_found_in_the_mapping_around_it);
    suite_add_tcase(suite, find);
    TCase *process = tcase_create("process");
    tcase_add_test(process, this_process_is_read_in_order);
    tcase_add_test(process, a_process_of_many_mappings_is_read_whole);
    tcase_add_loop_test(process, one_by_one_they_come_in_order_and_whole, 0, ARRAY_LENGTH(sizes));
    tcase_add_test(process, a_line_that_is_too_long_is_passed_over);
    suite_add_tcase(suite, process);
    return unit_main(argc, argv, suite);
}
