/* test_formats.c - names of hostile programs in every format: each stays valid, and what reads it
 * gets the names back. And what a format does that no model of tests/golden asks for.
 *
 * The model holds such names wherever it has texts. Run from the root of the tree.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/view/format_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolize/consumers.h"
#include "tests/unit/symbolize/golden.h"
#include "tests/unit/symbolize/model_text.h"
#include "tests/unit/symbolize/profile_text.h"

#define LONG 10000

/* What ends a token, a line or a file in some format; what XML has no form for; what is no text. */
static const char hostile[] =
    "<b>&amp;\"';|,:%%0A%s::error::x::`y`*_z_*[a](b)@me #1 ~~c~~ \\n\\x41"
    "]]>--></script>{{d}}$(e)\n==1==ERROR: f\r\n\t\x01\x08\x1b[31m\x7f"
    "\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf\xff\xc3"
    "\xed\xa0\x80\xf4\x90\x80\x80 \xc3\xa9 \xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8d"
    "\xc2\x9b\xc2\xad\xf3\xa0\x81\x81\xef\xbf\xbd\xd7\xa2";

static const char *long_name(void)
{
    static char name[LONG + 3];

    memset(name, 'x', LONG);
    memcpy(name + LONG, "\xc3\xa9", 3);
    return name;
}

/* As model_text.h wants any bytes. */
static void put_name(FILE *stream, const char *name)
{
    for (; *name; name++)
        fprintf(stream, "\\x%02x", (unsigned char)*name);
}

/* Every %s of a line of the model is the name. */
static void put(FILE *stream, const char *line, const char *name)
{
    for (; *line; line++) {
        if (line[0] == '%' && line[1] == 's') {
            put_name(stream, name);
            line++;
        } else {
            putc(*line, stream);
        }
    }
    putc('\n', stream);
}

static char *model_of(const char *name)
{
    static const char *const lines[] = {
        "process | %s | 42 | exit | 0 | 10 | 5 | 100",
        "argv | %s",
        "argv | %s",
        "look | parked | - | 1 | 1 | 1 | 0 | 0 | last",
        "note | %s",
        "mistake | mismatched-free | free | new[] | 40 | 0 | 0 | 0 | 3 | 1 | 0x5000 | -",
        "frame | %s | %s | 88 | %s | - | 0x10 | user",
        "made | 1 | 4213",
        "frame | %s | %s | 12 | %s | - | 0x12 | user",
        "mistake | double-free | free | malloc | 8 | 0 | 0 | 0 | 1 | 1 | 0x6000 | -",
        "frame | %s | - | - | %s | - | 0x10 | user",
        "before | free | 2 | %s | whole",
        "frame | %s | - | - | - | - | 0x10 | user",
        "record | lost | malloc | 48 | 4 | 0000000000000001",
        "thread | 1 | %s",
        "frame | %s | %s | 12 | %s | - | 0x10 | user",
        "frame | %s | /%s/%s | 13 | %s | - | 0x11 | inlined",
        "record | possible | new | 48 | 4 | 0000000000000002",
        "frame | - | - | - | %s | - | 0x10 | user",
        "record | lost | new | 4 | 1 | 0000000000000003",
        "suppressed | %s | %s:1",
        "frame | %s | - | - | %s | - | 0x10 | user",
        "resource | fd | 2 | - | -",
        "name | %s",
        "frame | %s | %s | 13 | %s | - | 0x20 | user",
    };
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        put(stream, lines[i], name);
    fclose(stream);
    return text;
}

/* change: NULL, or what the model has no words for. */
static char *render_report(const struct format *format, const char *model, const struct view *view,
                           void (*change)(struct report *report))
{
    struct arena *mem = arena_begin();
    FILE *stream = fmemopen((char *)(uintptr_t)model, strlen(model), "r");
    struct report report = model_read(mem, stream);
    char *text, *decoded;
    size_t size;

    fclose(stream);
    if (change)
        change(&report);
    stream = open_memstream(&text, &size);
    format->write(&report, view, stream);
    fclose(stream);
    arena_end(mem);
    if (format->traits & FORMAT_BINARY) {
        decoded = profile_text(text, size);
        free(text);
        return decoded;
    }
    ck_assert_msg(strlen(text) == size, "%s: a 0 in it", format->name);
    return text;
}

static char *render(const struct format *format, const char *model, bool quiet)
{
    struct view view = {.suppressed = true, .quiet = quiet};

    memset(view.show, true, sizeof(view.show));
    return render_report(format, model, &view, NULL);
}

static void check_name(const char *name)
{
    char path[] = "/tmp/libleak-test-XXXXXX", *model = model_of(name);
    int file = mkstemp(path);

    ck_assert(file >= 0 && write(file, name, strlen(name)) == (ssize_t)strlen(name));
    close(file);
    for (size_t i = 0; format_at(i); i++) {
        if (!consumers_know(format_at(i)->name))
            continue; /* test_exports.c has readers of the others */

        char *text = render(format_at(i), model, false);

        consumers_read(format_at(i)->name, text, path);
        free(text);
    }
    unlink(path);
    free(model);
}

START_TEST(hostile_names_come_back_from_every_format)
{
    check_name(hostile);
}
END_TEST

START_TEST(names_of_ten_thousand_characters_come_back_from_every_format)
{
    check_name(long_name());
}
END_TEST

START_TEST(quiet_reports_are_valid_and_list_nothing)
{
    char *model = model_of("name");

    for (size_t i = 0; format_at(i); i++) {
        if (!consumers_know(format_at(i)->name))
            continue; /* test_exports.c has readers of the others */

        char *text = render(format_at(i), model, true);

        consumers_read(format_at(i)->name, text, "");
        ck_assert_msg(!strstr(text, "name:12") && !strstr(text, "0000000000000001"), "%s:\n%s",
                      format_at(i)->name, text);
        free(text);
    }
    free(model);
}
END_TEST

/* Between fork and exec; the second process is one that began another program by itself. */
START_TEST(a_shells_way_to_a_program_is_not_told)
{
    static const char model[] = "process | /bin/sh | 42 | exec | - | 10 | 5 | 100\n"
                                "forked\n"
                                "record | unfreed | malloc | 48 | 4 | 0000000000000001\n"
                                "frame | on_the_way | b.c | 1 | sh | - | - | user\n"
                                "process | /bin/app | 43 | exec | - | 10 | 5 | 100\n"
                                "record | lost | malloc | 48 | 4 | 0000000000000002\n"
                                "frame | before | b.c | 1 | app | - | - | user\n";

    for (size_t i = 0; format_at(i); i++) {
        bool everything = strstr(format_at(i)->name, "json") != NULL;

        if (format_at(i)->traits & (FORMAT_BINARY | FORMAT_CONTENT))
            continue; /* a profile of everything, and no text; and what has no names */
        if ((format_at(i)->traits & FORMAT_VERB) && !(format_at(i)->traits & FORMAT_WEIGHT))
            continue; /* of allocations or a peak, which are not in this model */

        char *text = render(format_at(i), model, false);

        consumers_read(format_at(i)->name, text, "");
        ck_assert_msg(!strstr(text, "on_the_way") == !everything && strstr(text, "before"),
                      "%s:\n%s", format_at(i)->name, text);
        free(text);
    }
}
END_TEST

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

static char *model_with(int lost, int possible)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    fputs("process | /opt/app | 42 | exit | 0 | 10 | 5 | 100\n", stream);
    for (int i = 0; i < lost + possible; i++)
        fprintf(stream,
                "record | %s | malloc | 48 | 4 | %016x\nframe | f | a.c | 1 | app | - | - | user\n",
                i < lost ? "lost" : "possible", i);
    fclose(stream);
    return text;
}

/* The second process has other records besides, so it is no copy of the first. */
START_TEST(annotations_tell_one_leak_of_two_processes_once)
{
    static const char model[] = "process | /opt/a | 42 | exit | 0 | 10 | 5 | 100\n"
                                "record | lost | malloc | 48 | 4 | 0000000000000001\n"
                                "process | /opt/a | 43 | exit | 0 | 10 | 5 | 100\n"
                                "record | lost | malloc | 96 | 8 | 0000000000000001\n"
                                "record | possible | malloc | 96 | 8 | 0000000000000001\n"
                                "record | lost | malloc | 7 | 1 | 0000000000000002\n";
    char *text = render(format_find("github"), model, false);

    ck_assert_msg(count_of(text, "::error ") == 2 && count_of(text, "::warning ") == 1, "%s", text);
    ck_assert(strstr(text, "title=48 bytes") && strstr(text, "title=7 bytes"));
    free(text);
}
END_TEST

START_TEST(annotations_are_no_more_than_the_host_shows)
{
    static const struct {
        int lost, possible;
        size_t errors, warnings;
        const char *rest; /* NULL = there is none */
    } rows[] = {
        {0, 0, 0, 0, NULL},
        {10, 10, 10, 10, NULL},
        {11, 1, 10, 1, "::notice title=libleak::1 more error (--format=markdown has all)\n"},
        {25, 12, 10, 10, "::notice title=libleak::15 more errors, 2 more warnings ("},
    };
    char *model = model_with(rows[_i].lost, rows[_i].possible);
    char *text = render(format_find("github"), model, false);

    ck_assert_uint_eq(count_of(text, "::error "), rows[_i].errors);
    ck_assert_uint_eq(count_of(text, "::warning "), rows[_i].warnings);
    ck_assert_uint_eq(count_of(text, "::notice "), rows[_i].rest != NULL);
    ck_assert_msg(!rows[_i].rest || strstr(text, rows[_i].rest), "%s", text);
    free(text);
    free(model);
}
END_TEST

/* ---- What no model of tests/golden asks for ---------------------------------------------------- */

START_TEST(short_lists_as_many_findings_as_asked_for)
{
    struct view view = golden_view("short", true);
    char *model = model_with(4, 0), *text;

    view.top = 2;
    text = render_report(format_find("short"), model, &view, NULL);
    ck_assert_msg(count_of(text, "a.c:1: ") == 2 && strstr(text, ": 2 more findings (--top=0)"),
                  "%s", text);
    free(text);
    free(model);
}
END_TEST

static void set_times(struct report *report)
{
    report->processes[0].until_ns = 20000000000;
    report->processes[0].records[0].first_ns = 11000000000;
    report->processes[0].records[0].last_ns = 17000000000;
}

START_TEST(text_tells_when_the_first_and_the_last_block_came)
{
    struct view view = golden_view("text", true);
    char *model = model_with(1, 0);
    char *text = render_report(format_find("text"), model, &view, set_times);

    ck_assert_msg(strstr(text, "9.0 s to 3.0 s before the end"), "%s", text);
    free(text);
    free(model);
}
END_TEST

static const char twins[] = "process | /opt/a | 42 | exit | 0 | 10 | 5 | 100\n"
                            "record | lost | malloc | 48 | 4 | 0000000000000001\n"
                            "frame | f | a.c | 1 | /opt/lib.so | aa | 0x10 | user\n"
                            "process | /opt/a | 43 | exit | 0 | 10 | 5 | 100\n"
                            "record | lost | malloc | 96 | 8 | 0000000000000001\n"
                            "frame | f | a.c | 1 | /opt/lib.so | bb | 0x10 | user\n";

START_TEST(folded_stacks_of_two_processes_are_told_apart)
{
    char *text = render(format_find("folded"), twins, false);

    ck_assert_str_eq(text, "a[42];f 48\na[43];f 96\n");
    free(text);
}
END_TEST

START_TEST(profiles_tell_two_objects_of_one_path_apart)
{
    struct view view = golden_view("pprof", true);
    char *text = render_report(format_find("pprof"), twins, &view, NULL);

    ck_assert_msg(strstr(text, "build-id \"aa\"") && strstr(text, "build-id \"bb\""), "%s", text);
    free(text);
}
END_TEST

static void make_alike(struct report *report)
{
    report->processes[1].alike = 0;
}

START_TEST(sarif_counts_processes_that_tell_the_same)
{
    struct view view = golden_view("sarif", true);
    char *text = render_report(format_find("sarif"), twins, &view, make_alike);

    ck_assert_msg(count_of(text, "\"occurrenceCount\": 2") == 1 &&
                      count_of(text, "\"occurrenceCount\"") == 1,
                  "%s", text);
    free(text);
}
END_TEST

/* Writes the text report of a leak whose stack has 20 frames of functions with a number behind their
 * name, and then two of the program. */
static char *report_stack(const char *function, const char *file, const char *module)
{
    struct view view = {.suppressed = true};
    char *model, *text;
    size_t size;
    FILE *stream = open_memstream(&model, &size);

    fputs("process | /opt/app | 42 | exit | 0 | 10 | 5 | 100\n"
          "record | lost | malloc | 48 | 4 | 0000000000000001\n",
          stream);
    for (int i = 0; i < 20; i++) {
        fprintf(stream, "frame | %s%d | %s | %d | %s | - | 0x%d | %s\n", function,
                *function == 'r' && i ? 1 : i, file, *file == '-' ? 0 : i + 1, module, i + 10,
                i ? "-" : "user");
    }
    fputs("frame | asks | app.c | 7 | /opt/app | - | 0x40 | -\n"
          "frame | main | app.c | 9 | /opt/app | - | 0x50 | -\n",
          stream);
    fclose(stream);
    memset(view.show, true, sizeof(view.show));
    text = render_report(format_find("text"), model, &view, NULL);
    free(model);
    return text;
}

START_TEST(callers_of_a_library_survive_the_cut)
{
    static const struct {
        const char *function, *file, *module;
        bool survive;
    } rows[] = {{"f", "-", "/usr/lib/libx.so.1", true},
                {"f", "x.c", "/usr/lib/libx.so.1", false},
                {"f", "-", "/opt/libx.so.1", false},
                {"f", "-", "/usr/local/lib/libx.so.1", false},
                {"recurses", "x.c", "/opt/app", true}};
    char *text = report_stack(rows[_i].function, rows[_i].file, rows[_i].module);

    ck_assert_msg(!strstr(text, " asks ") == !rows[_i].survive, "%s", text);
    ck_assert_msg(!strstr(text, "     ...\n") == !rows[_i].survive, "%s", text);
    ck_assert_msg(strstr(text, " more callers (-v shows them)"), "%s", text);
    free(text);
}
END_TEST

/* Writes the text report of two leaks and so many notes, which fill the screen. */
static char *report_crowded(int notes)
{
    struct view view = {.suppressed = false};
    char *model, *text;
    size_t size;
    FILE *stream = open_memstream(&model, &size);

    fputs("process | /opt/app | 42 | exit | 0 | 10 | 5 | 100\n", stream);
    for (int i = 0; i < notes; i++)
        fprintf(stream, "note | %d\n", i);
    for (int i = 0; i < 2; i++)
        fprintf(stream,
                "record | lost | malloc | %d | 4 | %016x\n"
                "frame | f%d | tests/unit/symbolize/test_formats.c | 1 | app | - | 0x1%d | user\n"
                "frame | g%d | b.c | 1 | app | - | 0x2%d | -\n"
                "frame | h%d | b.c | 9 | app | - | 0x3%d | -\n"
                "frame | main | b.c | 20 | app | - | 0x40 | -\n",
                48 - i, i + 1, i, i, i, i, i, i);
    fclose(stream);
    memset(view.show, true, sizeof(view.show));
    text = render_report(format_find("text"), model, &view, NULL);
    free(model);
    return text;
}

START_TEST(lines_of_the_first_record_are_left_out_last)
{
    size_t before = 0, after = 0;

    for (int notes = 0; notes < 16; notes++) {
        char *text = report_crowded(notes);
        bool source = strstr(text, "| /* test_formats.c") != NULL;
        bool seen = strstr(text, "10 allocations") != NULL;

        ck_assert_msg(source || !seen, "%d notes:\n%s", notes, text);
        ck_assert_msg(notes || (source && seen), "%s", text);
        before += source && !seen;
        after += !source;
        free(text);
    }
    ck_assert_msg(before && after, "%zu %zu", before, after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formats");
    TCase *names = tcase_create("names");

    tcase_set_timeout(names, 60);
    tcase_add_test(names, hostile_names_come_back_from_every_format);
    tcase_add_test(names, names_of_ten_thousand_characters_come_back_from_every_format);
    tcase_add_loop_test(names, annotations_are_no_more_than_the_host_shows, 0, 4);
    tcase_add_test(names, a_shells_way_to_a_program_is_not_told);
    tcase_add_test(names, quiet_reports_are_valid_and_list_nothing);
    tcase_add_test(names, annotations_tell_one_leak_of_two_processes_once);
    tcase_add_test(names, short_lists_as_many_findings_as_asked_for);
    tcase_add_test(names, text_tells_when_the_first_and_the_last_block_came);
    tcase_add_loop_test(names, callers_of_a_library_survive_the_cut, 0, 5);
    tcase_add_test(names, lines_of_the_first_record_are_left_out_last);
    tcase_add_test(names, folded_stacks_of_two_processes_are_told_apart);
    tcase_add_test(names, profiles_tell_two_objects_of_one_path_apart);
    tcase_add_test(names, sarif_counts_processes_that_tell_the_same);
    suite_add_tcase(suite, names);
    return suite_run(suite);
}
