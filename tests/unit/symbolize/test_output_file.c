/* test_output_file.c - options, the target of the report, words, numbers, source lines.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/records/sampling_error.h"
#include "symbolize/cli/options.h"
#include "symbolize/output/output.h"
#include "common/base/term_text.h"
#include "tests/unit/suite.h"

/* ---- Options -------------------------------------------------------------------------------- */

static bool parse(struct options *options, const char *line)
{
    static char copy[512], *argv[32] = {"leakreport"};
    int argc = 1;

    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL; /* as main gets it */
    return options_parse(argc, argv, NULL, options);
}

START_TEST(values_come_with_equals_or_as_the_next_word)
{
    struct options options;

    ck_assert(
        parse(&options, "--format=json --top 3 -o out -qv --debug-dir a --debug-dir=b -- -x"));
    ck_assert_str_eq(options.format->name, "json");
    ck_assert_uint_eq(options.view.top, 3);
    ck_assert_str_eq(options.output, "out");
    ck_assert(options.view.quiet && options.view.verbose);
    ck_assert_uint_eq(options.debug_dirs.count, 2);
    ck_assert_str_eq(options.files.text[0], "-x");
    options_end(&options);
}
END_TEST

START_TEST(each_format_has_its_own_default_of_top)
{
    struct options options;

    ck_assert(parse(&options, "a"));
    ck_assert_uint_eq(options.view.top, 10);
    options_end(&options);
    ck_assert(parse(&options, "--format json a"));
    ck_assert_uint_eq(options.view.top, 0);
    options_end(&options);
}
END_TEST

static const struct {
    const char *line;
    uint64_t address;
    bool all; /* recent frees are listed */
} freed[] = {
    {"--freed=0x7f00Ab10 a", 0x7f00ab10, false},
    {"--freed ffffffffffffffff a", UINT64_MAX, false},
    {"--freed=10 -v --format=json a", 0x10, true},
    {"-v a", 0, false},
    {"-v --format=json a", 0, true},
    {"--format=json a", 0, false},
};

START_TEST(recent_frees_are_asked_for_by_address_or_all)
{
    struct options options;

    ck_assert(parse(&options, freed[_i].line));
    ck_assert_uint_eq(options.view.freed_address, freed[_i].address);
    ck_assert_uint_eq(options.build.recent.address, freed[_i].address);
    ck_assert_int_eq(options.view.freed, freed[_i].address != 0);
    ck_assert_int_eq(options.build.recent.one, freed[_i].address != 0);
    ck_assert_int_eq(options.build.recent.all, freed[_i].all);
    options_end(&options);
}
END_TEST

START_TEST(sets_of_verdicts_are_lists_of_words)
{
    struct options options;

    ck_assert(parse(&options, "--errors-for=unfreed,growing --show=runtime,lost a"));
    ck_assert(options.errors_for[VERDICT_UNFREED] && !options.errors_for[VERDICT_LOST]);
    ck_assert(options.errors_for_growing && !options.errors_for_errors);
    ck_assert(options.view.show[VERDICT_RUNTIME] && !options.view.show[VERDICT_UNFREED]);
    options_end(&options);
    ck_assert(parse(&options, "a"));
    for (int v = 0; v < VERDICT_MAX; v++) {
        bool shown = v == VERDICT_LOST || v == VERDICT_POSSIBLE || v == VERDICT_HIDDEN ||
                     v == VERDICT_UNFREED;

        ck_assert_int_eq(options.view.show[v], shown);
        ck_assert_int_eq(options.errors_for[v], v == VERDICT_LOST);
    }
    ck_assert(!options.view.owners);
    options_end(&options);
    ck_assert(parse(&options, "--owners --errors-for=hidden,indirect --show=all a"));
    ck_assert(options.view.owners && options.view.show[VERDICT_INDIRECT]);
    ck_assert(options.errors_for[VERDICT_HIDDEN] && options.errors_for[VERDICT_INDIRECT]);
    options_end(&options);
    ck_assert(parse(&options, "--errors-for none a"));
    ck_assert(!options.errors_for[VERDICT_LOST] && !options.errors_for_errors);
    options_end(&options);
}
END_TEST

static const char *const refused[] = {
    "--nonsense",
    "--top=x",
    "--top",
    "--top=-1",
    "--freed",
    "--freed=",
    "--freed=0x",
    "--freed=12g",
    "--freed=-1",
    "--freed=0x12345678901234567",
    "--who=",
    "--who=12g",
    "--who=12 --format=json",
    "--format=xmls",
    "--sort=size",
    "--color=blue",
    "--errors-for=lost,nope",
    "--error-exitcode=256",
    "--substitute-path=x",
    "--substitute-path==x",
    "--serve-fd=a",
    "--serve-fd=3,",
    "--to=",
    "--to=nowhere",
    "-z",
    "-o",
    "--force=1",
};

START_TEST(what_makes_no_sense_is_refused)
{
    struct options options;

    ck_assert_msg(!parse(&options, refused[_i]), "%s", refused[_i]);
    options_end(&options);
}
END_TEST

static const struct {
    const char *list;
    size_t targets; /* 0: it is none */
} lists[] = {
    {"stderr", 1},
    {"stderr,stdout,stderr", 2},
    {"file,file:a,file:b,file:a", 3},
    {"fd:3,fd:999999,syslog,journal:/x", 4},
    {"socket:[::1]:514,socket:/a:b", 2},
    {"stdout,command:a,b,stdout,", 2}, /* the rest is the command */
    {"", 0},
    {",", 0},
    {"stderr,", 0},
    {"stderr,,stdout", 0},
    {"stderr:", 0},
    {"stderr:x", 0},
    {"std", 0},
    {"stderrs", 0},
    {"fd", 0},
    {"fd:", 0},
    {"fd:-1", 0},
    {"fd:1000000", 0},
    {"socket:", 0},
    {"command:", 0},
};

START_TEST(a_list_of_targets_has_each_once)
{
    struct targets targets = {0};

    ck_assert_int_eq(targets_add(&targets, lists[_i].list), lists[_i].targets > 0);
    ck_assert_msg(targets.count == lists[_i].targets, "%s: %zu", lists[_i].list, targets.count);
    free(targets.at);
}
END_TEST

START_TEST(output_is_a_target_beside_others)
{
    struct options options;

    ck_assert(parse(&options, "-o out --to=stdout,file --to stderr a"));
    ck_assert_uint_eq(options.targets.count, 3);
    ck_assert_str_eq(options.targets.at[1].where.argument, "out");
    options_end(&options);
    ck_assert(parse(&options, "--to=file:x -o out a"));
    ck_assert_uint_eq(options.targets.count, 2);
    ck_assert_str_eq(options.targets.at[1].where.argument, "out");
    options_end(&options);
    ck_assert(parse(&options, "-o out a"));
    ck_assert_uint_eq(options.targets.count, 0);
    options_end(&options);
}
END_TEST

/* ---- -o ------------------------------------------------------------------------------------- */

static const struct {
    const char *pattern, *name;
} patterns[] = {
    {"plain", "plain"},
    {"%p-%e.%n", "42-app.7"},
    {"%h%%", "host_name%"},
    {"%q{LEAK_TEST}", "value"},
    {"%q{LEAK_UNSET_TEST}x", "x"},
    {"%z", NULL},
    {"100%", NULL},
    {"%q{open", NULL},
};

START_TEST(patterns_stand_for_the_process)
{
    struct arena *mem = arena_begin();
    struct process process = {.pid = 42, .exe = "/opt/app", .host = "host/name"};
    char *name;

    setenv("LEAK_TEST", "value", 1);
    name = output_expand_name(mem, patterns[_i].pattern, &process, 7);
    if (patterns[_i].name)
        ck_assert_str_eq(name, patterns[_i].name);
    else
        ck_assert_ptr_null(name);
    arena_end(mem);
}
END_TEST

START_TEST(a_file_is_never_overwritten_unless_forced)
{
    struct arena *mem = arena_begin();
    struct process process = {.pid = 1};
    char dir[] = "/tmp/libleak-test-XXXXXX";
    FILE *first, *second, *third;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
    first = output_open_stream(mem, "r.%n", &process, OUTPUT_NEW);
    second = output_open_stream(mem, "r.%n", &process, OUTPUT_NEW);
    third = output_open_stream(mem, "r.1", &process, OUTPUT_FORCE);
    ck_assert_int_eq(access("r.1", F_OK) | access("r.2", F_OK), 0);
    ck_assert_ptr_eq(output_open_stream(mem, "r.1", &process, OUTPUT_NEW), stderr);
    ck_assert_ptr_eq(output_open_stream(mem, "no/such/dir", &process, OUTPUT_FORCE), stderr);
    fclose(first);
    fclose(second);
    fclose(third);
    ck_assert_int_eq(unlink("r.1") | unlink("r.2") | rmdir(dir), 0);
    arena_end(mem);
}
END_TEST

START_TEST(a_file_that_is_appended_to_keeps_what_it_had)
{
    struct arena *mem = arena_begin();
    struct process process = {.pid = 1};
    char dir[] = "/tmp/libleak-test-XXXXXX", text[20] = "";
    FILE *file;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
    for (int i = 0; i < 3; i++) {
        file = output_open_stream(mem, "grows", &process, OUTPUT_APPEND);
        fprintf(file, "%d;", i);
        fclose(file);
    }
    file = fopen("grows", "r");
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_str_eq(text, "0;1;2;");
    fclose(file);
    ck_assert_int_eq(unlink("grows") | rmdir(dir), 0);
    arena_end(mem);
}
END_TEST

/* ---- Words and numbers ---------------------------------------------------------------------- */

static const struct {
    const char *text;
    size_t columns;
    const char *shown;
} shows[] = {
    {"plain", 0, "plain"},
    {"caf\xc3\xa9", 4, "caf\xc3\xa9"},
    {"a\nb\x1b[0m", 0, "a\\x0ab\\x1b[0m"},
    {"bad\xff\xc3", 0, "bad\\xff\\xc3"},
    {"c1\xc2\x9b", 0, "c1\\u{9b}"},
    {"turned\xe2\x80\xae", 0, "turned\\u{202e}"},
    {"isolated\xe2\x81\xa6", 0, "isolated\\u{2066}"},
    {"no\xe2\x80\x8bwidth\xef\xbb\xbf", 0, "no\\u{200b}width\\u{feff}"},
    {"tag\xf3\xa0\x81\x81", 0, "tag\\u{e0041}"},
    {"\xd7\xa2\xd7\x91\xd7\xa8\xd7\x99\xd7\xaa \xf0\x9f\x98\x80 \xef\xbf\xbd", 0,
     "\xd7\xa2\xd7\x91\xd7\xa8\xd7\x99\xd7\xaa \xf0\x9f\x98\x80 \xef\xbf\xbd"},
    {"abcdefghijkl", 7, "abcd\xe2\x80\xa6kl"},
};

START_TEST(foreign_text_is_shown_safely)
{
    struct term_text shown = term_text(shows[_i].text, strlen(shows[_i].text), shows[_i].columns);

    ck_assert_str_eq(shown.text, shows[_i].shown);
}
END_TEST

START_TEST(numbers_and_times_are_words)
{
    char text[TIME_TEXT_SIZE];

    ck_assert_str_eq(term_number(0).text, "0");
    ck_assert_str_eq(term_number(999).text, "999");
    ck_assert_str_eq(term_number(1234567).text, "1,234,567");
    ck_assert_str_eq(term_count(1, "block").text, "1 block");
    ck_assert_str_eq(term_count(0, "process").text, "0 processes");
    ck_assert_str_eq(term_shell_word("/a b/c").text, "'/a b/c'");
    ck_assert_str_eq(time_format_iso(1700000000123000000ull, text), "2023-11-14T22:13:20.123Z");
    ck_assert_ptr_null(time_format_iso(0, text));
    ck_assert_str_eq(time_format_span(400000000, text), "0.4 s");
    ck_assert_str_eq(time_format_span(200ull * 1000000000, text), "3 min 20 s");
    ck_assert_str_eq(time_format_span(UINT64_MAX, text), "213503 days");
    ck_assert(utf8_valid("\xf0\x9f\x98\x80") && !utf8_valid("\xed\xa0\x80"));
}
END_TEST

/* ---- Source lines --------------------------------------------------------------------------- */

static const struct {
    uint64_t number, error;
    const char *bytes, *bytes_error, *count, *count_error;
} estimates[] = {
    {0, 0, "0 bytes", NULL, "0 blocks", NULL},
    {4096, 0, "4,096 bytes", NULL, "4,096 blocks", NULL},
    {4123456, 612345, "~4.1 MB", "+-0.7 MB", "~4,100,000 blocks", "+-700,000 blocks"},
    {4123456, 123456, "~4.12 MB", "+-0.13 MB", "~4,120,000 blocks", "+-130,000 blocks"},
    {4123456, 3, "~4.123 MB", "+-0.001 MB", "~4,123,000 blocks", "+-1,000 blocks"},
    {50, 30, "~50 bytes", "+-30 bytes", "~50 blocks", "+-30 blocks"},
    {52, 31, "~50 bytes", "+-40 bytes", "~50 blocks", "+-40 blocks"},
    {7, 1, "~7 bytes", "+-1 byte", "~7 blocks", "+-1 block"},
    {1, 2, "~1 byte", "+-2 bytes", "~1 block", "+-2 blocks"},
    {996, 50, "~1.00 kB", "+-0.05 kB", "~1,000 blocks", "+-50 blocks"},
    {600000, 1200000, "~600 kB", "+-1.2 MB", "~600,000 blocks", "+-1,200,000 blocks"},
    {81234567890, 2345678901, "~81 GB", "+-3 GB", "~81,000,000,000 blocks",
     "+-3,000,000,000 blocks"},
    {UINT64_MAX, UINT64_MAX, "~18000000 TB", "+-18446744 TB", NULL, NULL},
};

START_TEST(estimates_have_as_many_digits_as_they_deserve)
{
    uint64_t number = estimates[_i].number, error = estimates[_i].error;

    ck_assert_str_eq(estimate_bytes(number, error).text, estimates[_i].bytes);
    if (estimates[_i].bytes_error)
        ck_assert_str_eq(estimate_bytes_error(number, error).text, estimates[_i].bytes_error);
    if (estimates[_i].count)
        ck_assert_str_eq(estimate_count(number, error, "block").text, estimates[_i].count);
    if (estimates[_i].count_error)
        ck_assert_str_eq(estimate_count_error(number, error, "block").text,
                         estimates[_i].count_error);
}
END_TEST

START_TEST(a_source_line_is_found_below_source_paths)
{
    char dir[] = "/tmp/libleak-test-XXXXXX", path[64], text[20];
    const char *dirs[] = {"/nowhere", dir}, *substitutes[] = {"/old=/new", "/build/tree=/tmp"};
    struct source_search search = {dirs, 2, substitutes, 2};
    struct source_name file = {path, NULL}, elsewhere = {"/elsewhere/src/a.c", NULL};
    struct source_name device = {"/dev/zero", NULL};
    FILE *stream;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/a.c", dir);
    stream = fopen(path, "w");
    fputs("first\n\t  second line of it  \nthe third, which is too long", stream);
    fclose(stream);
    ck_assert(source_read_line(&search, &file, 2, text, sizeof(text)));
    ck_assert_str_eq(text, "second line of it");
    ck_assert(source_read_line(&search, &elsewhere, 3, text, sizeof(text)));
    ck_assert_str_eq(text, "the third, which is");
    ck_assert(!source_read_line(&search, &file, 4, text, sizeof(text)));
    ck_assert(!source_read_line(&search, &file, 0, text, sizeof(text)));
    ck_assert(!source_read_line(&search, &device, 1, text, sizeof(text)));
    ck_assert_str_eq(source_map_path(&search, "/build/tree/x.c", path, sizeof(path)), "/tmp/x.c");
    ck_assert_str_eq(source_map_path(&search, "/older/x.c", path, sizeof(path)), "/older/x.c");
    snprintf(path, sizeof(path), "%s/a.c", dir);
    unlink(path);
    rmdir(dir);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *all = tcase_create("output");

    tcase_add_test(all, values_come_with_equals_or_as_the_next_word);
    tcase_add_test(all, each_format_has_its_own_default_of_top);
    tcase_add_loop_test(all, recent_frees_are_asked_for_by_address_or_all, 0, ROWS(freed));
    tcase_add_test(all, sets_of_verdicts_are_lists_of_words);
    tcase_add_loop_test(all, what_makes_no_sense_is_refused, 0, ROWS(refused));
    tcase_add_loop_test(all, a_list_of_targets_has_each_once, 0, ROWS(lists));
    tcase_add_test(all, output_is_a_target_beside_others);
    tcase_add_loop_test(all, patterns_stand_for_the_process, 0, ROWS(patterns));
    tcase_add_test(all, a_file_is_never_overwritten_unless_forced);
    tcase_add_test(all, a_file_that_is_appended_to_keeps_what_it_had);
    tcase_add_loop_test(all, foreign_text_is_shown_safely, 0, ROWS(shows));
    tcase_add_test(all, numbers_and_times_are_words);
    tcase_add_loop_test(all, estimates_have_as_many_digits_as_they_deserve, 0, ROWS(estimates));
    tcase_add_test(all, a_source_line_is_found_below_source_paths);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
