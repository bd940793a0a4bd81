/* test_perfmap.c - names of code made at run time: lines, overlaps, and whatever else a file may hold. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names/perfmap.h"
#include "tests/unit/suite.h"
#include "tests/unit/size.h"

static struct arena *mem;
static struct perfmap *map;

static void begin(void)
{
    static const struct perfmap_of no_process = {.store = "", .pid = -1};

    mem = arena_begin();
    map = perfmap_begin(mem, &no_process);
}

static void end(void)
{
    perfmap_end(map);
    arena_end(mem);
}

static const char *name_at(uint64_t address)
{
    struct perfmap_name name = perfmap_find(map, address);

    return name.text ? arena_copy(mem, name.text, name.length) : "";
}

/* ---- Lines ------------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    uint64_t address;
    const char *name; /* "" = none */
} lines[] = {
    {"", 0, ""},
    {"1000 10 f\n", 0x1000, "f"},
    {"1000 10 f\n", 0x100f, "f"},
    {"1000 10 f\n", 0x1010, ""},
    {"1000 10 f\n", 0xfff, ""},
    {"0x1000 0x10 with 0x", 0x1008, "with 0x"},
    {"1000 10 a name with blanks \r\n", 0x1000, "a name with blanks"},
    {"1000 10 f\n1000 10 g\n", 0x1000, "g"},
    {"1000 10 f\n1008 10 g\n", 0x1007, "f"},
    {"1008 10 g\n1000 10 f\n", 0x100c, "f"},
    {"1008 10 g\n1000 10 f\n", 0x1012, "g"},
    {"1000 100 old\n1010 10 new\n", 0x1010, "new"},
    {"1000 100 old\n1010 10 new\n", 0x1020, "old"},
    {"1010 10 old\n1000 100 new\n", 0x1010, "new"},
    {"2000 10 h\n1000 10 f\n", 0x1000, "f"},
    {"fffffffffffffff0 f top\n", 0xfffffffffffffffe, "top"},
    {"fffffffffffffff0 10 over the top\n", 0xfffffffffffffff8, ""},
    {"fffffffffffffff0 ffffffffffffffff f\n", 0xfffffffffffffff8, ""},
    {"00000000000000001000 10 too many digits\n", 0x1000, ""},
    {"1000 0 nothing\n", 0x1000, ""},
    {"1000 10\n1000 10 \n1000\n \n\n1000 10 f", 0x1000, "f"},
    {"1000  10 f\n", 0x1000, ""},
    {"1000\t10\tf\n", 0x1000, ""},
    {"-1000 10 f\n1000 -10 f\n1000 10h f\n", 0x1000, ""},
};

START_TEST(a_line_names_its_bytes_and_the_last_line_counts)
{
    begin();
    perfmap_parse(map, lines[_i].text, strlen(lines[_i].text));
    ck_assert_str_eq(name_at(lines[_i].address), lines[_i].name);
    end();
}
END_TEST

#define PLACES 64

/* Against a table in which each line is written over what was there. */
START_TEST(overlaps_of_any_kind_are_as_in_a_table)
{
    for (unsigned round = 0; round < 3000; round++) {
        char text[2000];
        int wanted[PLACES], length = 0;

        begin();
        memset(wanted, -1, sizeof(wanted));
        for (int line = 0, count = rand() % 30; line < count; line++) {
            int start = rand() % PLACES, size = rand() % (PLACES - start + 1);

            length += sprintf(text + length, "%x %x n%d\n", start, size, line);
            for (int at = start; at < start + size; at++)
                wanted[at] = line;
        }
        perfmap_parse(map, text, (size_t)length);
        for (int at = 0; at < PLACES; at++) {
            char name[16] = "";

            if (wanted[at] >= 0)
                sprintf(name, "n%d", wanted[at]);
            ck_assert_msg(strcmp(name_at((uint64_t)at), name) == 0,
                          "round %u, at %x: %s, not %s\n%.*s", round, at, name_at((uint64_t)at),
                          name, length, text);
        }
        end();
    }
}
END_TEST

/* ---- Harm ------------------------------------------------------------------------------------- */

START_TEST(any_bytes_are_survived)
{
    static const char letters[] = "0123456789abcdef  \n\n\r\0xX-\xff";

    for (unsigned round = 0; round < 20000; round++) {
        char text[200];
        size_t length = (size_t)rand() % sizeof(text);

        begin();
        for (size_t i = 0; i < length; i++)
            text[i] = round % 3 ? letters[(size_t)rand() % (sizeof(letters) - 1)] : (char)rand();
        perfmap_parse(map, text, length);
        for (int i = 0; i < 20; i++)
            ck_assert_uint_le(strlen(name_at((uint64_t)rand() % 4096)), length);
        end();
    }
}
END_TEST

/* All overlap, from the largest to the smallest or the other way round: neither takes longer. */
START_TEST(a_million_lines_over_each_other_are_read)
{
    const int count = (int)unit_size(1000000);
    char *text = malloc((size_t)count * 40), last[16];
    size_t length = 0;

    begin();
    for (int i = 0; i < count; i++) {
        int size = _i ? count - i : i + 1;

        length += (size_t)sprintf(text + length, "%x %x n%d\n", _i ? i : count - size, size, i);
    }
    perfmap_parse(map, text, length);
    for (int i = 0; i < count / 10; i++)
        perfmap_find(map, (uint64_t)i * 10);
    snprintf(last, sizeof(last), "n%d", count - 1);
    ck_assert_str_eq(name_at((uint64_t)count - 1), last);
    ck_assert_str_eq(name_at(0), _i ? "n0" : last);
    end();
    free(text);
}
END_TEST

START_TEST(of_a_long_file_the_end_is_read)
{
    char path[] = "/tmp/libleak-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");

    begin();
    fputs("1000 10 first\n", file);
    ck_assert_int_eq(fseek(file, 40 << 20, SEEK_SET), 0); /* a hole, and half a line */
    fputs("2000 10 half\n3000 10 last\n", file);
    fclose(file);
    map = perfmap_begin(mem, &(struct perfmap_of){.file = path, .store = "", .pid = -1});
    ck_assert_str_eq(name_at(0x3000), "last");
    ck_assert_str_eq(name_at(0x2000), "");
    ck_assert_str_eq(name_at(0x1000), "");
    unlink(path);
    end();
}
END_TEST

/* ---- Whose it is ------------------------------------------------------------------------------ */

#define SECOND 1000000000ull

static const struct {
    long long started, ended; /* seconds from when the file was written; ended 0 = not known */
    bool used;
} times[] = {
    {0, 0, true},    {-10, 0, true},   {-10, 1, true},
    {-10, -1, true}, /* flushed after the end */
    {1, 0, false},   {-10, -9, false}, {3600, 3601, false},
};

START_TEST(a_map_was_written_while_its_process_lived)
{
    char path[64];
    int pid = 2000000000; /* no such process */
    uint64_t now;
    struct perfmap_of of = {.store = "", .pid = pid};
    FILE *file;
    struct stat st;

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
    unlink(path);
    ck_assert_ptr_nonnull(file = fopen(path, "w"));
    fputs("1000 10 f\n", file);
    fclose(file);
    ck_assert_int_eq(stat(path, &st), 0);
    now = (uint64_t)st.st_mtim.tv_sec * SECOND + (uint64_t)st.st_mtim.tv_nsec;
    of.started_ns = now + (uint64_t)(times[_i].started * (long long)SECOND);
    of.ended_ns = times[_i].ended ? now + (uint64_t)(times[_i].ended * (long long)SECOND) : 0;
    mem = arena_begin();
    map = perfmap_begin(mem, &of);
    ck_assert_str_eq(name_at(0x1000), times[_i].used ? "f" : "");
    unlink(path);
    end();
}
END_TEST

/* ---- Names ------------------------------------------------------------------------------------ */

static const struct {
    const char *text, *function, *file;
    uint32_t line, column;
    bool runtime;
} names[] = {
    {"JS:*outer /srv/app.js:10:5", "outer", "/srv/app.js", 10, 5, false},
    {"JS:~outer /srv/my app.js:10:5", "outer", "/srv/my app.js", 10, 5, false},
    {"JS:^get size node:internal/x:3:4", "get size", "node:internal/x", 3, 4, false},
    {"JS:~ /srv/app.js:1:1", "(anonymous)", "/srv/app.js", 1, 1, false},
    {"LazyCompile:+f file:///srv/a.mjs:7:2", "f", "/srv/a.mjs", 7, 2, false},
    {"Script:~/srv/app.js:1:1", "(anonymous)", "/srv/app.js", 1, 1, false},
    {"Function:~f", "f", NULL, 0, 0, false},
    {"JS:*f /srv/app.js:10", "f", "/srv/app.js", 10, 0, false},
    {"JS:*f /srv/app.js", "f", "/srv/app.js", 0, 0, false},
    {"JS:", "(anonymous)", NULL, 0, 0, false},
    {"JS:*", "(anonymous)", NULL, 0, 0, false},
    {"py::work:/srv/app.py", "work", "/srv/app.py", 0, 0, false},
    {"py::work", "work", NULL, 0, 0, false},
    {"py::", "py::", NULL, 0, 0, false},
    {"void L.outer(int)", "void L.outer(int)", NULL, 0, 0, false},
    {"Builtin:CEntry", "Builtin:CEntry", NULL, 0, 0, true},
    {"Interpreter", "Interpreter", NULL, 0, 0, true},
    {"Lcom/foo;::bar", "Lcom/foo;::bar", NULL, 0, 0, false},
};

START_TEST(a_name_is_taken_apart)
{
    struct perfmap_function name;

    mem = arena_begin();
    name = perfmap_parse_name(mem, names[_i].text, strlen(names[_i].text));
    ck_assert_str_eq(name.function, names[_i].function);
    ck_assert_str_eq(name.file ? name.file : "none", names[_i].file ? names[_i].file : "none");
    ck_assert_uint_eq(name.line, names[_i].line);
    ck_assert_uint_eq(name.column, names[_i].column);
    ck_assert_int_eq(name.runtime, names[_i].runtime);
    arena_end(mem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("perfmap");
    TCase *all = tcase_create("perfmap");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_line_names_its_bytes_and_the_last_line_counts, 0, ROWS(lines));
    tcase_add_test(all, overlaps_of_any_kind_are_as_in_a_table);
    tcase_add_test(all, any_bytes_are_survived);
    tcase_add_loop_test(all, a_million_lines_over_each_other_are_read, 0, 2);
    tcase_add_test(all, of_a_long_file_the_end_is_read);
    tcase_add_loop_test(all, a_map_was_written_while_its_process_lived, 0, ROWS(times));
    tcase_add_loop_test(all, a_name_is_taken_apart, 0, ROWS(names));
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
