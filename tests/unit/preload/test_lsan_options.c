/* test_lsan_options.c - LSAN_OPTIONS: syntax, meaning, and which source wins. */
#include "tests/unit/preload/unit.h"
#include "preload/options/lsan_options.h"
#include "preload/base/strbuf.h"

static unsigned complaints;
static char complaint[400];
static struct lsan_options aliases;
static struct options options;

static void complain(const char *what, const char *item, const char *where)
{
    struct strbuf text = STRBUF_ON(complaint);
    complaints++;
    strbuf_add(&text, what);
    strbuf_add(&text, " '");
    strbuf_add(&text, item);
    strbuf_add(&text, "' in ");
    strbuf_add(&text, where);
}

static void setup(void)
{
    complaints = 0;
    complaint[0] = '\0';
    memset(&aliases, 0, sizeof aliases);
    options_defaults(&options);
}

static void hear(const char *string, enum option_source source)
{
    lsan_options_parse(&aliases, string, strlen(string), source, complain);
}

#define ALL "globals,stacks,registers,tls,user,anon"

static const struct {
    const char *string;
    bool exit_look, detects;
    const char *roots;
    int exit_code;
    const char *suppressions;
    unsigned complaints;
} meanings[] = {
    {"", true, true, ALL, 23, "", 0},
    {"::, \t\n", true, true, ALL, 23, "", 0},
    {"detect_leaks=0", false, false, ALL, 23, "", 0},
    {"detect_leaks=false", false, false, ALL, 23, "", 0},
    {"detect_leaks=1", true, true, ALL, 23, "", 0},
    {"leak_check_at_exit=0", false, true, ALL, 23, "", 0},
    {"detect_leaks=1:leak_check_at_exit=0", false, true, ALL, 23, "", 0},
    {"detect_leaks=0,leak_check_at_exit=1", false, false, ALL, 23, "", 0},
    {"use_globals=0", true, true, "stacks,registers,tls,user,anon", 23, "", 0},
    {"use_stacks=0 use_registers=no", true, true, "globals,tls,user,anon", 23, "", 0},
    {"use_tls=0:use_root_regions=0", true, true, "globals,stacks,registers,anon", 23, "", 0},
    {"use_tls=0:use_tls=1", true, true, ALL, 23, "", 0},
    {"exitcode=7", true, true, ALL, 7, "", 0},
    {"exitcode=0", true, true, ALL, 0, "", 0},
    {"suppressions=a.txt", true, true, ALL, 23, "a.txt", 0},
    {"suppressions='C:/a b'", true, true, ALL, 23, "C:/a b", 0},
    {"suppressions=\"it's\":exitcode=3", true, true, ALL, 3, "it's", 0},
    {"suppressions='no end:exitcode=3", true, true, ALL, 23, "no end:exitcode=3", 0},
    {"verbosity=1:report_objects=1:max_leaks=3,log_threads=x", true, true, ALL, 23, "", 0},
    {"detect_leaksx=0:detect_leak=0:Detect_leaks=0:=0", true, true, ALL, 23, "", 0},
    {"nonsense:detect_leaks=0", false, false, ALL, 23, "", 0},
    {"detect_leaks=maybe", true, true, ALL, 23, "", 1},
    {"detect_leaks", true, true, ALL, 23, "", 1},
    {"exitcode=-1:use_tls=x", true, true, ALL, 23, "", 2},
    {"exitcode=many:exitcode=5", true, true, ALL, 5, "", 1},
};

START_TEST(each_word_means_what_it_means_there)
{
    hear(meanings[_i].string, SOURCE_LSAN);
    lsan_options_apply(&aliases, &options);
#define WANT(what) ck_assert_msg(what, "\"%s\": not so: %s (roots=%s)", meanings[_i].string, #what, options.roots)
    WANT(options.exit_look == meanings[_i].exit_look);
    WANT(lsan_options_detect_leaks(&aliases) == meanings[_i].detects);
    WANT(!strcmp(options.roots, meanings[_i].roots));
    WANT(lsan_options_exit_code(&aliases) == meanings[_i].exit_code);
    WANT(!strcmp(aliases.suppressions, meanings[_i].suppressions));
    WANT(complaints == meanings[_i].complaints);
}
END_TEST

START_TEST(a_bad_value_names_item_and_place)
{
    hear("use_tls=x", SOURCE_LSAN);
    ck_assert_str_eq(complaint, "bad value in 'use_tls=x' in LSAN_OPTIONS");
    hear("detect_leaks=", SOURCE_PROGRAM);
    ck_assert_str_eq(complaint, "bad value in 'detect_leaks=' in __lsan_default_options");
}
END_TEST

START_TEST(the_environment_overrules_the_program)
{
    hear("detect_leaks=1:use_globals=1:exitcode=4", SOURCE_LSAN);
    hear("detect_leaks=0:use_globals=0:use_stacks=0:exitcode=5:suppressions=mine", SOURCE_PROGRAM);
    lsan_options_apply(&aliases, &options);
    ck_assert(options.exit_look);
    ck_assert_str_eq(options.roots, "globals,registers,tls,user,anon");
    ck_assert_int_eq(lsan_options_exit_code(&aliases), 4);
    ck_assert_str_eq(aliases.suppressions, "mine");
}
END_TEST

START_TEST(our_own_options_overrule_both)
{
    const char *own = "exit_look=on:roots=stacks,tls";
    options_parse(&options, own, strlen(own), false, SOURCE_ENVIRONMENT, complain);
    hear("detect_leaks=0:use_tls=0:use_globals=1", SOURCE_LSAN);
    ck_assert(!lsan_options_apply(&aliases, &options));
    ck_assert(options.exit_look);
    ck_assert_str_eq(options.roots, "stacks,tls");
    ck_assert_uint_eq(options.source[OPTION_roots], SOURCE_ENVIRONMENT);
}
END_TEST

static bool take(const char *name, size_t name_length, const char *value, size_t value_length,
                 enum option_source source, options_complain *say)
{
    return lsan_options_set(&aliases, name, name_length, value, value_length, source, say);
}

START_TEST(among_our_own_they_overrule_what_is_said_elsewhere)
{
    const char *own = "use_stacks=0:use_tls=0:exitcode=7:depth=5:use_nothing=1";
    options_set_foreign_parser(take);
    options_parse(&options, own, strlen(own), false, SOURCE_ENVIRONMENT, complain);
    ck_assert_str_eq(complaint, "unknown option 'use_nothing=1' in LIBLEAK_OPTIONS");
    hear("use_stacks=1:use_globals=0:exitcode=4", SOURCE_LSAN);
    ck_assert(lsan_options_apply(&aliases, &options));
    ck_assert_str_eq(options.roots, "registers,user,anon");
    ck_assert_uint_eq(options.source[OPTION_roots], SOURCE_ENVIRONMENT);
    ck_assert_int_eq(lsan_options_exit_code(&aliases), 7);
    ck_assert_uint_eq(options.depth, 5);
}
END_TEST

START_TEST(a_weaker_file_does_not_overrule_ours)
{
    const char *ours = "roots=stacks\n", *theirs = "use_stacks=0\n";
    options_set_foreign_parser(take);
    options_parse(&options, theirs, strlen(theirs), true, SOURCE_USER, complain);
    options_parse(&options, ours, strlen(ours), true, SOURCE_DIRECTORY, complain);
    ck_assert(!lsan_options_apply(&aliases, &options));
    ck_assert_str_eq(options.roots, "stacks");
}
END_TEST

START_TEST(both_overrule_a_file)
{
    const char *file = "exit_look=off\nroots=stacks\n";
    options_parse(&options, file, strlen(file), true, SOURCE_DIRECTORY, complain);
    hear("use_stacks=0", SOURCE_LSAN);
    hear("detect_leaks=1:use_tls=1", SOURCE_PROGRAM);
    ck_assert(lsan_options_apply(&aliases, &options));
    ck_assert(options.exit_look);
    ck_assert_str_eq(options.roots, "tls");
    ck_assert_uint_eq(options.source[OPTION_exit_look], SOURCE_PROGRAM);
    ck_assert_uint_eq(options.source[OPTION_roots], SOURCE_LSAN);
}
END_TEST

START_TEST(applying_again_changes_nothing_more)
{
    const char *file = "roots=tls\n";
    options_parse(&options, file, strlen(file), true, SOURCE_DIRECTORY, complain);
    hear("use_tls=0", SOURCE_LSAN);
    lsan_options_apply(&aliases, &options);
    ck_assert_str_eq(options.roots, "none");
    lsan_options_apply(&aliases, &options);
    ck_assert_str_eq(options.roots, "none");
}
END_TEST

START_TEST(nothing_said_changes_nothing)
{
    struct options before = options;
    hear("verbosity=1", SOURCE_LSAN);
    ck_assert(!lsan_options_apply(&aliases, &options));
    ck_assert_mem_eq(&options, &before, sizeof options);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused_whole)
{
    char string[2 * LSAN_OPTION_TEXT_MAX];
    memset(string, 'x', sizeof string);
    memcpy(string, "suppressions=", 13);
    for (size_t length = LSAN_OPTION_TEXT_MAX - 2; length < LSAN_OPTION_TEXT_MAX + 2; length++) {
        setup();
        lsan_options_parse(&aliases, string, 13 + length, SOURCE_LSAN, complain);
        bool fits = length < LSAN_OPTION_TEXT_MAX;
        ck_assert_uint_eq(complaints, !fits);
        ck_assert_uint_eq(strlen(aliases.suppressions), fits ? length : 0);
    }
}
END_TEST

START_TEST(a_parse_never_reads_past_the_string)
{
    static const char string[] = "suppressions='a:b':detect_leaks=0, use_tls=\"0\" exitcode=5:x";
    for (size_t size = 0; size < sizeof string; size++) {
        uint8_t *copy = unit_at_page_end(string, size);
        lsan_options_parse(&aliases, (char *)copy, size, SOURCE_LSAN, complain);
        unit_drop_at_page_end(copy, size);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("aliases");
    TCase *all = tcase_create("aliases");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_loop_test(all, each_word_means_what_it_means_there, 0, ARRAY_LENGTH(meanings));
    tcase_add_test(all, a_bad_value_names_item_and_place);
    tcase_add_test(all, the_environment_overrules_the_program);
    tcase_add_test(all, our_own_options_overrule_both);
    tcase_add_test(all, among_our_own_they_overrule_what_is_said_elsewhere);
    tcase_add_test(all, a_weaker_file_does_not_overrule_ours);
    tcase_add_test(all, both_overrule_a_file);
    tcase_add_test(all, applying_again_changes_nothing_more);
    tcase_add_test(all, nothing_said_changes_nothing);
    tcase_add_test(all, a_path_that_is_too_long_is_refused_whole);
    tcase_add_test(all, a_parse_never_reads_past_the_string);
    suite_add_tcase(suite, all);
    return unit_main(argc, argv, suite);
}
