/* test_command_line.c - the options of every tool: forms, values, mistakes, suggestions. */
#include <stdlib.h>
#include <string.h>

#include "common/options/command_line.h"
#include "tests/unit/suite.h"

struct sample {
    bool loud, help;
    const char *file;
    struct option_list names;
    size_t top;
    enum { BY_NONE, BY_SIZE, BY_AGE } by;
    int calls;
};

static bool count_call(void *to, const struct option_row *row, const char *value)
{
    ((struct sample *)to)->calls++;
    return row->value ? strcmp(value, "bad") != 0 : !value;
}

static const char *const by_words[] = {"size", "age", NULL};
#define AT(field) .offset = offsetof(struct sample, field)
static const struct option_row first[] = {
    {.letter = 'l', .name = "loud", AT(loud), .help = "words"},
    {.letter = 'o',
     .name = "output",
     .value = "FILE",
     .type = OPTION_TYPE_TEXT,
     AT(file),
     .help = "w"},
    {.name = "name", .value = "N", .type = OPTION_TYPE_LIST, AT(names), .help = "w"},
    {.name = "top",
     .value = "N",
     .type = OPTION_TYPE_NUMBER,
     .least = 2,
     .most = 9,
     AT(top),
     .help = "w"},
    {.name = "by",
     .value = "K",
     .type = OPTION_TYPE_WORD,
     .least = 1,
     .words = by_words,
     AT(by),
     .help = "w"},
    {0}};
static const struct option_row second[] = {
    {.letter = 'h', .name = "help", AT(help), .help = "w"},
    {.name = "loud",
     .value = "X",
     .type = OPTION_TYPE_CALL,
     .parse = count_call,
     .help = "hidden by the first"},
    {.name = "two_words", .value = "X", .type = OPTION_TYPE_CALL, .parse = count_call, .help = "w"},
    {.name = "secret", .value = "X", .type = OPTION_TYPE_CALL, .parse = count_call},
    {0}};

/* Parses words (NULL-terminated); returns how many options there were, -1 after a mistake, whose
 * line is in said. */
static char said[512];
static int parse(struct sample *sample, char **words)
{
    struct command_line line = {.tool = "tool", .hint = "see tool(1)", .tables = {first, second}};
    FILE *kept = stderr, *stream = fmemopen(said, sizeof(said), "w");
    int count = 0, at = 0;

    memset(said, 0, sizeof(said));
    *sample = (struct sample){0};
    stderr = stream;
    while (words[at] && command_line_is_option(words[at]) && count >= 0)
        count = command_line_parse(&line, sample, words, &at) ? count + 1 : -1;
    stderr = kept;
    fclose(stream);
    return count;
}
#define PARSE(...) parse(&sample, (char *[]){__VA_ARGS__, NULL})

START_TEST(every_form_of_an_option_is_accepted)
{
    struct sample sample;

    ck_assert_int_eq(
        PARSE("--output=a", "--name", "b", "--name=c", "--top=9", "--by", "age", "-lh"), 7);
    ck_assert_str_eq(sample.file, "a");
    ck_assert_uint_eq(sample.names.count, 2);
    ck_assert_str_eq(sample.names.text[1], "c");
    ck_assert_uint_eq(sample.top, 9);
    ck_assert_int_eq(sample.by, BY_AGE);
    ck_assert(sample.loud && sample.help);
    free(sample.names.text);
    ck_assert_int_eq(PARSE("-lofile", "rest"), 2);
    ck_assert_str_eq(sample.file, "file");
    ck_assert_int_eq(PARSE("-o", "file", "--two-words=x", "--two_words", "y", "--", "--loud"), 3);
    ck_assert_int_eq(sample.calls, 2);
    ck_assert(!sample.loud);
    ck_assert_int_eq(PARSE("-", "--loud"), 0);
}
END_TEST

static const struct {
    const char *word, *next, *line;
} mistakes[] = {
    {"--nothing", NULL, "tool: no such option: --nothing (see tool(1))\n"},
    {"-z", NULL, "tool: no such option: -z (see tool(1))\n"},
    {"--outptu=x", NULL,
     "tool: no such option: --outptu=x; did you mean --output? (see tool(1))\n"},
    {"--two-word=x", NULL,
     "tool: no such option: --two-word=x; did you mean --two-words? (see tool(1))\n"},
    {"--tpo=3", NULL, "tool: no such option: --tpo=3; did you mean --top? (see tool(1))\n"},
    {"--tox=3", NULL, "tool: no such option: --tox=3; did you mean --top? (see tool(1))\n"},
    {"--oxt=3", NULL, "tool: no such option: --oxt=3 (see tool(1))\n"},
    {"--secre=x", NULL, "tool: no such option: --secre=x (see tool(1))\n"},
    {"--loud=1", NULL, "tool: takes no value: --loud=1 (see tool(1))\n"},
    {"--output", NULL, "tool: needs a value: --output (see tool(1))\n"},
    {"-o", NULL, "tool: needs a value: -o (see tool(1))\n"},
    {"--top=1", NULL, "tool: --top takes a number from 2 to 9, not '1'\n"},
    {"--top", "10", "tool: --top takes a number from 2 to 9, not '10'\n"},
    {"--top=3x", NULL, "tool: --top takes a number from 2 to 9, not '3x'\n"},
    {"--top=", NULL, "tool: --top takes a number from 2 to 9, not ''\n"},
    {"--by=sizes", NULL, "tool: --by takes size or age, not 'sizes'\n"},
    {"--two-words=bad", NULL, ""},
};

START_TEST(every_mistake_is_one_line_that_says_what_to_do)
{
    struct sample sample;

    ck_assert_int_eq(PARSE((char *)mistakes[_i].word, (char *)mistakes[_i].next), -1);
    ck_assert_str_eq(said, mistakes[_i].line);
}
END_TEST

START_TEST(a_mistake_among_letters_leaves_nothing_behind)
{
    struct command_line line = {.tool = "tool", .hint = "see tool(1)", .tables = {first, second}};
    struct sample sample = {0};
    char *wrong[] = {"-lz", NULL}, *right[] = {"-l", NULL};
    int at = 0;

    ck_assert_ptr_nonnull(command_line_parse(&line, &sample, wrong, &at));
    ck_assert_ptr_null(command_line_parse(&line, &sample, wrong, &at));
    at = 0;
    ck_assert_ptr_nonnull(command_line_parse(&line, &sample, right, &at));
    ck_assert_int_eq(at, 1);
}
END_TEST

START_TEST(help_has_a_line_for_each_row_but_internal_ones)
{
    char text[1024] = "";
    FILE *stream = fmemopen(text, sizeof(text), "w");

    command_line_print_table(second, 24, stream);
    fclose(stream);
    ck_assert_str_eq(text, "  -h, --help             w\n"
                           "      --loud=X           hidden by the first\n"
                           "      --two-words=X      w\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command_line");
    TCase *tcase = tcase_create("command_line");

    tcase_add_test(tcase, every_form_of_an_option_is_accepted);
    tcase_add_loop_test(tcase, every_mistake_is_one_line_that_says_what_to_do, 0, ROWS(mistakes));
    tcase_add_test(tcase, a_mistake_among_letters_leaves_nothing_behind);
    tcase_add_test(tcase, help_has_a_line_for_each_row_but_internal_ones);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
