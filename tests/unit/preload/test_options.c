/* test_options.c - every option from the table, every kind of value, every source. */
#include "tests/unit/preload/unit.h"
#include "preload/options/options.h"
#include "preload/base/strbuf.h"

/* ---- What was complained about -------------------------------------------------------------- */

static unsigned complaints;
static char complaint[400];

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

static struct options options;

static void setup(void)
{
    complaints = 0;
    complaint[0] = '\0';
    options_defaults(&options);
}

static void parse(const char *string)
{
    options_parse(&options, string, strlen(string), false, SOURCE_ENVIRONMENT, complain);
}

static void parse_lines(const char *string)
{
    options_parse(&options, string, strlen(string), true, SOURCE_DIRECTORY, complain);
}

static const char *described(void)
{
    static char buffer[4096];
    struct strbuf text = STRBUF_ON(buffer);
    options_describe(&options, &text);
    return buffer;
}

/* ---- The table ------------------------------------------------------------------------------ */

static const struct {
    const char *name, *type, *value;
} table[] = {
#define OPTION(name, type, value, help) {#name, #type, value},
#include "leak_options.def"
};

/* A value that is not the default, and what options_describe makes of it. */
static void other_value(size_t i, const char **value, const char **shown)
{
    if (!strcmp(table[i].type, "BOOL")) {
        bool on = !strcmp(table[i].value, "1");
        *value = on ? "0" : "1";
        *shown = on ? "off" : "on";
    } else if (!strcmp(table[i].type, "SIZE")) {
        *value = "3k";
        *shown = "3072";
    } else if (!strcmp(table[i].type, "NUMBER")) {
        *value = *shown = "50";
    } else if (!strcmp(table[i].type, "TIME")) {
        *value = "1500ms";
        *shown = *value;
    } else if (!strcmp(table[i].type, "SHARE")) {
        *value = "75";
        *shown = "75%";
    } else if (!strcmp(table[i].name, "fill")) {
        *value = *shown = "0xa5,0";
    } else if (!strcmp(table[i].type, "TEXT")) {
        *value = *shown = "/some/where";
    } else if (!strcmp(table[i].type, "CHOICE_report")) {
        *value = *shown = "exit";
    } else if (!strcmp(table[i].type, "CHOICE_unwind")) {
        *value = *shown = "fp";
    } else if (!strcmp(table[i].type, "CHOICE_unwind_oracle")) {
        *value = *shown = "libgcc";
    } else if (!strcmp(table[i].type, "CHOICE_follow")) {
        *value = *shown = "none";
    } else if (!strcmp(table[i].type, "CHOICE_free_stacks")) {
        *value = *shown = "all";
    } else if (!strcmp(table[i].type, "CHOICE_crash")) {
        *value = *shown = "only";
    } else if (!strcmp(table[i].type, "CHOICE_log")) {
        *value = *shown = "3";
    } else if (!strcmp(table[i].type, "CHOICE_log_format")) {
        *value = *shown = "mtrace";
    } else if (!strcmp(table[i].type, "CHOICE_modules_match")) {
        *value = *shown = "any";
    } else if (!strcmp(table[i].type, "CHOICE_linked_malloc") ||
               !strcmp(table[i].type, "CHOICE_python")) {
        *value = *shown = "off";
    } else {
        ck_abort_msg("%s: teach this test its type %s", table[i].name, table[i].type);
    }
}

START_TEST(every_option_of_the_table_is_read_and_described)
{
    const char *value, *shown;
    other_value(_i, &value, &shown);
    char item[200], want[300];
    struct strbuf text = STRBUF_ON(item);
    strbuf_add(&text, table[_i].name);
    strbuf_add(&text, "=");
    strbuf_add(&text, value);
    text = STRBUF_ON(want);
    strbuf_add(&text, table[_i].name);
    strbuf_add(&text, "=");
    strbuf_add(&text, shown);
    strbuf_add(&text, " (LIBLEAK_OPTIONS)\n");
    ck_assert_str_eq(described(), "");
    parse(item);
    ck_assert_msg(!complaints, "%s: %s", item, complaint);
    ck_assert_str_eq(described(), want);
    ck_assert_uint_eq(options.source[_i], SOURCE_ENVIRONMENT);
}
END_TEST

START_TEST(a_default_of_the_table_is_a_value_of_its_own_type)
{
    char item[400];
    struct strbuf text = STRBUF_ON(item);
    strbuf_add(&text, table[_i].name);
    strbuf_add(&text, "=");
    strbuf_add(&text, table[_i].value);
    struct options defaults = options;
    parse(item);
    ck_assert_msg(!complaints, "%s: %s", item, complaint);
    memcpy(options.source, defaults.source, sizeof options.source);
    ck_assert_msg(memcmp(&options, &defaults, sizeof options) == 0, "%s changes something", item);
}
END_TEST

START_TEST(an_option_without_a_value_is_a_bad_value)
{
    struct options defaults = options;
    parse(table[_i].name);
    ck_assert_msg(complaints == 1, "'%s': %u complaints", table[_i].name, complaints);
    ck_assert_ptr_nonnull(strstr(complaint, "bad value"));
    ck_assert(memcmp(&options, &defaults, sizeof options) == 0);
}
END_TEST

/* ---- Values --------------------------------------------------------------------------------- */

#define GOOD 0
#define BAD 1

static const struct {
    const char *string;
    const char *want; /* options_describe without the source */
    unsigned complaints;
} values[] = {
    {"", "", GOOD},
    {":", "", GOOD},
    {"::::", "", GOOD},
    {" : \t : ", "", GOOD},
    {"enabled=0", "enabled=off", GOOD},
    {"enabled=off", "enabled=off", GOOD},
    {"enabled=no", "enabled=off", GOOD},
    {"enabled=false", "enabled=off", GOOD},
    {"enabled=1", "enabled=on", GOOD},
    {"enabled=on", "enabled=on", GOOD},
    {"enabled=yes", "enabled=on", GOOD},
    {"enabled=true", "enabled=on", GOOD},
    {"enabled=2", "", BAD},
    {"enabled=", "", BAD},
    {"enabled=ON", "", BAD},
    {"enabled=onn", "", BAD},
    {"enabled=o", "", BAD},
    {"enabled", "", BAD},
    {"=1", "", BAD},
    {"=", "", BAD},
    {"verbosity=1", "verbosity=1", GOOD},
    {"verbosity=0x10", "verbosity=16", GOOD},
    {"verbosity=18446744073709551615", "verbosity=18446744073709551615", GOOD},
    {"verbosity=18446744073709551616", "", BAD},
    {"verbosity=-1", "", BAD},
    {"verbosity=+1", "", BAD},
    {"verbosity=1k", "", BAD},
    {"verbosity=0x", "", BAD},
    {"verbosity=1 1", "", BAD},
    {"min_size=10", "min_size=10", GOOD},
    {"min_size=10k", "min_size=10240", GOOD},
    {"min_size=10K", "min_size=10240", GOOD},
    {"min_size=2m", "min_size=2097152", GOOD},
    {"min_size=1g", "min_size=1073741824", GOOD},
    {"min_size=0x10k", "min_size=16384", GOOD},
    {"min_size=k", "", BAD},
    {"min_size=10kk", "", BAD},
    {"min_size=10t", "", BAD},
    {"min_size=1.5k", "", BAD},
    {"min_size=17179869183g", "min_size=18446744072635809792", GOOD},
    {"min_size=17179869184g", "", BAD},
    {"depth=1", "depth=1", GOOD},
    {"depth=1024", "depth=1024", GOOD},
    {"depth=0", "", BAD},
    {"depth=1025", "", BAD},
    {"report=exit", "report=exit", GOOD},
    {"report=none", "report=none", GOOD},
    {"report=Exit", "", BAD},
    {"report=", "", BAD},
    {"follow=force", "follow=force", GOOD},
    {"follow=exit", "", BAD},
    {"dir=/a", "dir=/a", GOOD},
    {"dir=", "dir=", GOOD},
    {"dir=/a b", "dir=/a b", GOOD},
    {"dir='/a:b'", "dir=/a:b", GOOD},
    {"dir='a=b:c=d'", "dir=a=b:c=d", GOOD},
    {"dir=''", "dir=", GOOD},
    {"dir='", "dir='", GOOD},
    {"dir='a", "dir='a", GOOD},
    {"enabled='0'", "enabled=off", GOOD},
    {"dir=/a,b", "dir=/a,b", GOOD},
    {"depth=5,verbosity=1", "", BAD},
    {"depth=5;verbosity=1", "", BAD},
    {"nonsense=1", "", BAD},
    {"nonsense", "", BAD},
    {"depthx=5", "", BAD},
    {"dept=5", "", BAD},
    {"Depth=5", "", BAD},
    {"depth =5", "", BAD},
    {"depth= 5", "", BAD},
    {" depth=5 ", "depth=5", GOOD},
};

START_TEST(a_value_is_taken_or_complained_about_once_and_left_alone)
{
    char want[400];
    struct strbuf text = STRBUF_ON(want);
    if (values[_i].want[0]) {
        strbuf_add(&text, values[_i].want);
        strbuf_add(&text, " (LIBLEAK_OPTIONS)\n");
    }
    parse(values[_i].string);
    ck_assert_msg(complaints == values[_i].complaints, "\"%s\": wanted %u complaints, got %u %s",
                  values[_i].string, values[_i].complaints, complaints, complaint);
    ck_assert_msg(!strcmp(described(), want), "\"%s\": wanted \"%s\", got \"%s\"",
                  values[_i].string, want, described());
}
END_TEST

START_TEST(a_bad_item_does_not_spoil_its_neighbours)
{
    parse("verbosity=1:depth=zero:nonsense=1:min_size=5");
    ck_assert_uint_eq(complaints, 2);
    ck_assert_uint_eq(options.verbosity, 1);
    ck_assert_uint_eq(options.depth, 128);
    ck_assert_uint_eq(options.min_size, 5);
}
END_TEST

START_TEST(a_bad_value_leaves_what_an_earlier_one_said)
{
    parse("depth=7:min_size=9");
    parse("depth=0:depth=x:min_size=12zz");
    ck_assert_uint_eq(complaints, 3);
    ck_assert_uint_eq(options.depth, 7);
    ck_assert_uint_eq(options.min_size, 9);
}
END_TEST

START_TEST(the_last_of_several_wins)
{
    parse("depth=5:depth=6:verbosity=1:depth=7:verbosity=0");
    ck_assert_uint_eq(options.depth, 7);
    ck_assert_uint_eq(options.verbosity, 0);
    ck_assert_str_eq(described(), "verbosity=0 (LIBLEAK_OPTIONS)\ndepth=7 (LIBLEAK_OPTIONS)\n");
}
END_TEST

START_TEST(a_complaint_names_item_and_place)
{
    parse("depht=5");
    ck_assert_str_eq(complaint, "unknown option 'depht=5' in LIBLEAK_OPTIONS");
    parse_lines("depth=many\n");
    ck_assert_str_eq(complaint, "bad value in 'depth=many' in ./.libleakrc");
}
END_TEST

START_TEST(a_very_long_item_is_cut_in_the_complaint_and_nowhere_else)
{
    char string[600];
    memset(string, 'x', sizeof string);
    memcpy(string, "dir=", 4);
    for (int length = 240; length <= 280; length++) {
        string[length] = '\0';
        setup();
        parse(string);
        bool fits = length - 4 < OPTION_TEXT_MAX;
        ck_assert_msg(complaints == !fits && strlen(options.dir) == (fits ? (size_t)length - 4 : 0),
                      "dir of %d bytes: %u complaints, %zu bytes kept", length - 4, complaints,
                      strlen(options.dir));
        string[length] = 'x';
    }
    ck_assert_uint_lt(strlen(complaint), 150);
}
END_TEST

START_TEST(help_is_asked_for_and_no_option)
{
    ck_assert(!options_help_wanted());
    parse("verbosity=1");
    ck_assert(!options_help_wanted());
    parse("help=1:verbosity=2");
    ck_assert(options_help_wanted());
    ck_assert_uint_eq(complaints, 0);
    ck_assert_uint_eq(options.verbosity, 2);
}
END_TEST

START_TEST(help_that_is_refused_is_not_wanted)
{
    parse("help=0");
    ck_assert(!options_help_wanted());
    ck_assert_uint_eq(complaints, 0);
    parse("help=please");
    ck_assert(!options_help_wanted());
    ck_assert_uint_eq(complaints, 1);
    parse("help");
    ck_assert(options_help_wanted());
}
END_TEST

static unsigned help_lines;

static void count_help(const char *line)
{
    ck_assert_msg(help_lines < ARRAY_LENGTH(table) &&
                      !strncmp(line, table[help_lines].name, strlen(table[help_lines].name)) &&
                      strlen(line) > strlen(table[help_lines].name) + 10,
                  "line %u is \"%s\"", help_lines, line);
    help_lines++;
}

START_TEST(some_can_be_changed_later_and_each_can_be_told)
{
    char buffer[400];
    ck_assert(options_change(&options, "depth", "7"));
    ck_assert_uint_eq(options.depth, 7);
    ck_assert_str_eq(described(), "depth=7 (libleak_set_option)\n");
    ck_assert(!options_change(&options, "depth", "2000"));
    ck_assert(!options_change(&options, "dept", "1"));
    ck_assert(!options_change(&options, "depth=7", "1"));
    ck_assert(!options_change(&options, "sample", "1m"));
    ck_assert_str_eq(described(), "depth=7 (libleak_set_option)\n");
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        struct strbuf text = STRBUF_ON(buffer);
        ck_assert_msg(options_get_value(&options, table[i].name, &text), "%s", table[i].name);
    }
    struct strbuf text = STRBUF_ON(buffer);
    ck_assert(options_get_value(&options, "depth", &text));
    ck_assert_str_eq(buffer, "7");
    ck_assert(!options_get_value(&options, "help", &text));
}
END_TEST

START_TEST(help_shows_every_option_with_its_text)
{
    options_help(count_help);
    ck_assert_uint_eq(help_lines, ARRAY_LENGTH(table));
}
END_TEST

/* ---- Lines ---------------------------------------------------------------------------------- */

static const struct {
    const char *string, *want;
    unsigned complaints;
} lines[] = {
    {"", "", 0},
    {"\n\n\n", "", 0},
    {"depth=5", "depth=5", 0},
    {"depth=5\n", "depth=5", 0},
    {"depth=5\r\n", "depth=5", 0},
    {"# depth=5\n", "", 0},
    {"#\n#\n", "", 0},
    {"  # indented\n", "", 0},
    {"\t#indented with a tab\ndepth=5\n", "depth=5", 0},
    {"  depth=5  \n", "depth=5", 0},
    {"dir=/a:b\n", "dir=/a:b", 0},
    {"dir='/a:b'\n", "dir=/a:b", 0},
    {"dir=it's\ndepth=5\n", "dir=it's|depth=5", 0},
    {"depth=5:verbosity=1\n", "", 1},
    {"depth=5\ndepth=6", "depth=6", 0},
    {"nonsense\ndepth=6", "depth=6", 1},
};

START_TEST(a_file_holds_an_option_a_line_and_comments)
{
    char got[4096] = "";
    struct strbuf text = STRBUF_ON(got);
    parse_lines(lines[_i].string);
    for (const char *line = described(), *end; (end = strstr(line, " (./.libleakrc)\n"));
         line = end + 16) {
        strbuf_add(&text, text.length ? "|" : "");
        strbuf_add_bytes(&text, line, end - line);
    }
    ck_assert_msg(complaints == lines[_i].complaints && !strcmp(got, lines[_i].want),
                  "\"%s\": wanted \"%s\" and %u complaints, got \"%s\" and %u", lines[_i].string,
                  lines[_i].want, lines[_i].complaints, got, complaints);
}
END_TEST

START_TEST(a_parse_never_reads_past_the_string)
{
    static const char string[] = "dir='a:b':enabled=0:depth='7':min_size=5k:x";
    for (size_t size = 0; size < sizeof string; size++) {
        uint8_t *copy = unit_at_page_end(string, size);
        options_parse(&options, (char *)copy, size, false, SOURCE_USER, complain);
        options_parse(&options, (char *)copy, size, true, SOURCE_USER, complain);
        unit_drop_at_page_end(copy, size);
    }
}
END_TEST

/* ---- Sources -------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_msg(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content), "%s",
                  path);
    close(fd);
}

/* A home with a user's file and a directory with a .libleakrc; the environment given on top. */
static void load(char **environment)
{
    ck_assert_int_eq(chdir(unit_directory), 0);
    mkdir("home", 0700), mkdir("home/.config", 0700), mkdir("home/.config/libleak", 0700);
    mkdir("xdg", 0700), mkdir("xdg/libleak", 0700), mkdir("work", 0700);
    write_file("home/.config/libleak/config", "# mine\ndepth=10\nmin_size=10\nverbosity=10\n");
    write_file("xdg/libleak/config", "depth=11\n");
    write_file("work/.libleakrc", "min_size=20\nverbosity=20\nmax_size=20\n");
    ck_assert_int_eq(chdir("work"), 0);
    options_load(&options, environment, complain);
}

static char home[100], xdg[100];

static void name_homes(void)
{
    struct strbuf text = STRBUF_ON(home);
    strbuf_add(&text, "HOME=");
    strbuf_add(&text, unit_directory);
    strbuf_add(&text, "/home");
    text = STRBUF_ON(xdg);
    strbuf_add(&text, "XDG_CONFIG_HOME=");
    strbuf_add(&text, unit_directory);
    strbuf_add(&text, "/xdg");
    setup();
}

START_TEST(later_sources_win)
{
    char *environment[] = {home, (char *)"LIBLEAK_OPTIONS=verbosity=30", NULL};
    load(environment);
    ck_assert_uint_eq(options.depth, 10);
    ck_assert_uint_eq(options.min_size, 20);
    ck_assert_uint_eq(options.max_size, 20);
    ck_assert_uint_eq(options.verbosity, 30);
    ck_assert_uint_eq(options.source[OPTION_depth], SOURCE_USER);
    ck_assert_uint_eq(options.source[OPTION_min_size], SOURCE_DIRECTORY);
    ck_assert_uint_eq(options.source[OPTION_verbosity], SOURCE_ENVIRONMENT);
    ck_assert_uint_eq(options.source[OPTION_max_memory], SOURCE_BUILT_IN);
    ck_assert_uint_eq(complaints, 0);
}
END_TEST

START_TEST(xdg_config_home_replaces_home)
{
    char *environment[] = {xdg, home, NULL};
    load(environment);
    ck_assert_uint_eq(options.depth, 11);
    ck_assert_uint_eq(options.min_size, 20);
}
END_TEST

START_TEST(an_empty_environment_reads_the_directory_alone)
{
    char *environment[] = {NULL};
    load(environment);
    ck_assert_uint_eq(options.depth, 128);
    ck_assert_uint_eq(options.verbosity, 20);
}
END_TEST

START_TEST(libleak_dir_is_the_option_dir)
{
    char *environment[] = {(char *)"LIBLEAK_OPTIONS=dir=/one", (char *)"LIBLEAK_DIR=/two", NULL};
    load(environment);
    ck_assert_str_eq(options.dir, "/two");
    ck_assert_uint_eq(options.source[OPTION_dir], SOURCE_ENVIRONMENT);
}
END_TEST

START_TEST(a_file_larger_than_the_buffer_never_gives_half_a_line)
{
    /* Comments up to just before each boundary, then an option that a cut would change. */
    char content[20000];
    ck_assert_int_eq(chdir(unit_directory), 0);
    mkdir("large", 0700);
    ck_assert_int_eq(chdir("large"), 0);
    for (int before = 16360; before < 16400; before++) {
        memset(content, '#', sizeof content);
        for (int i = 79; i < before; i += 80)
            content[i] = '\n';
        content[before - 1] = '\n';
        memcpy(content + before, "depth=123\n", 10);
        content[sizeof content - 1] = '\0';
        write_file(".libleakrc", content);
        char *environment[] = {NULL};
        setup();
        options_load(&options, environment, complain);
        ck_assert_msg(options.depth == 123 || options.depth == 128,
                      "depth=123 at byte %d of the file is read as %u", before,
                      (unsigned)options.depth);
        ck_assert_uint_eq(complaints, 1);
        ck_assert_ptr_nonnull(strstr(complaint, "too long"));
    }
}
END_TEST

START_TEST(the_environment_is_searched_by_whole_names)
{
    char *environment[] = {(char *)"LIBLEAK=1",
                           (char *)"LIBLEAK_OPTIONSX=2",
                           (char *)"XLIBLEAK_OPTIONS=3",
                           (char *)"EMPTY=",
                           (char *)"LIBLEAK_OPTIONS=4",
                           (char *)"LIBLEAK_OPTIONS=5",
                           NULL};
    ck_assert_str_eq(options_getenv(environment, "LIBLEAK_OPTIONS"), "4");
    ck_assert_str_eq(options_getenv(environment, "EMPTY"), "");
    ck_assert_ptr_null(options_getenv(environment, "LIBLEAK_OPTION"));
    ck_assert_ptr_null(options_getenv(NULL, "LIBLEAK_OPTIONS"));
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("options");
    TCase *all = tcase_create("table");
    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_loop_test(all, every_option_of_the_table_is_read_and_described, 0,
                        ARRAY_LENGTH(table));
    tcase_add_loop_test(all, a_default_of_the_table_is_a_value_of_its_own_type, 0,
                        ARRAY_LENGTH(table));
    tcase_add_loop_test(all, an_option_without_a_value_is_a_bad_value, 0, ARRAY_LENGTH(table));
    suite_add_tcase(suite, all);
    TCase *items = tcase_create("values");
    tcase_add_checked_fixture(items, setup, NULL);
    tcase_add_loop_test(items, a_value_is_taken_or_complained_about_once_and_left_alone, 0,
                        ARRAY_LENGTH(values));
    tcase_add_test(items, a_bad_item_does_not_spoil_its_neighbours);
    tcase_add_test(items, a_bad_value_leaves_what_an_earlier_one_said);
    tcase_add_test(items, the_last_of_several_wins);
    tcase_add_test(items, a_complaint_names_item_and_place);
    tcase_add_test(items, a_very_long_item_is_cut_in_the_complaint_and_nowhere_else);
    tcase_add_test(items, some_can_be_changed_later_and_each_can_be_told);
    tcase_add_test(items, help_is_asked_for_and_no_option);
    tcase_add_test(items, help_that_is_refused_is_not_wanted);
    tcase_add_test(items, help_shows_every_option_with_its_text);
    suite_add_tcase(suite, items);
    TCase *files = tcase_create("lines");
    tcase_add_checked_fixture(files, setup, NULL);
    tcase_add_loop_test(files, a_file_holds_an_option_a_line_and_comments, 0, ARRAY_LENGTH(lines));
    tcase_add_test(files, a_parse_never_reads_past_the_string);
    suite_add_tcase(suite, files);
    TCase *sources = tcase_create("sources");
    tcase_add_checked_fixture(sources, name_homes, NULL);
    tcase_add_test(sources, later_sources_win);
    tcase_add_test(sources, xdg_config_home_replaces_home);
    tcase_add_test(sources, an_empty_environment_reads_the_directory_alone);
    tcase_add_test(sources, libleak_dir_is_the_option_dir);
    tcase_add_test(sources, a_file_larger_than_the_buffer_never_gives_half_a_line);
    tcase_add_test(sources, the_environment_is_searched_by_whole_names);
    suite_add_tcase(suite, sources);
    return unit_main(argc, argv, suite);
}
