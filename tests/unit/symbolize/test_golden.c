/* test_golden.c - the models of tests/golden in each format, byte by byte; of those that golden.h has a list for
 * four models only, and of SARIF's rules, which are in every report, one copy.
 *
 * GOLDEN=rewrite (make golden) writes what is expected anew; the difference in review is the test.
 * Run from the root of the tree.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/view/format_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolize/consumers.h"
#include "tests/unit/symbolize/golden.h"

/* Its SARIF report has the rules, the others say that theirs are equal. */
#define HAS_RULES "looked"

/* What the tables by tag and by type go by. */
#define BY_TAGS "tags"
#define BY_TYPES "types"

/* Each model in each format, and some with options that show more or something else. */
static const struct rendering {
    const char *suffix, *format, *models; /* NULL = each */
    bool verbose, freed, owners, all, suppressed, growing;
} renderings[] = {
    {"text", "text", NULL, false, false, false, false, false, false},
    {"json", "json", GOLDEN_DOCUMENTS, false, false, false, false, false, false},
    {"pprof", "pprof", GOLDEN_PROFILES, false, false, false, false, false, false},
    {"ndjson", "ndjson", GOLDEN_DOCUMENTS, false, false, false, false, false, false},
    {"sarif", "sarif", GOLDEN_DOCUMENTS, false, false, false, false, false, false},
    {"folded", "folded", GOLDEN_PROFILES, false, false, false, false, false, false},
    {"callgrind", "callgrind", "small", false, false, false, false, false, false},
    {"callgrind", "callgrind", "looked", false, false, false, false, false, false},
    {"massif", "massif", "growing", false, false, false, false, false, false},
    {"massif", "massif", "looked", false, false, false, false, false, false},
    {"speedscope", "speedscope", "small", false, false, false, false, false, false},
    {"speedscope", "speedscope", "tree", false, false, false, false, false, false},
    {"csv", "csv", "looked", false, false, false, true, false, false},
    {"csv", "csv", "typed", false, false, false, true, false, false},
    {"csv", "csv", "odd", false, false, false, false, false, false},
    {"tree", "tree", "small", false, false, false, true, false, false},
    {"tree", "tree", "tree", false, false, false, true, false, false},
    {"peak", "peak", "growing", false, false, false, false, false, false},
    {"temporary", "temporary", "growing", false, false, false, false, false, false},
    {"temporary", "temporary", "small", false, false, false, false, false, false},
    {"histogram", "histogram", "small", false, false, false, false, false, false},
    {"short", "short", NULL, false, false, false, false, false, false},
    {"full", "full", "looked", false, false, false, true, false, false},
    {"full", "full", "odd", false, false, false, false, false, false},
    {"full", "full", "wrong", false, false, false, false, false, false},
    {"blocks", "folded-blocks", "looked", false, false, false, true, false, false},
    {"heap", "heap", "growing", false, false, false, true, false, false},
    {"heap", "heap", "looked", false, false, false, true, false, false},
    {"heap", "heap", "tagged", false, false, false, true, false, false},
    {"verbose", "text", "tagged", true, false, false, false, false, false},
    {BY_TAGS, "text", "tagged", false, false, false, false, false, false},
    {"verbose", "text", "typed", true, false, false, false, false, false},
    {BY_TYPES, "text", "typed", false, false, false, false, false, false},
    {"dump", "dump", "looked", false, false, false, true, false, false},
    {"verbose", "text", "frees", true, false, false, false, false, false},
    {"freed", "text", "frees", false, true, false, false, false, false},
    {"verbose", "text", "looked", true, false, false, false, false, false},
    {"all", "text", "looked", false, false, false, true, false, false},
    {"owners", "text", "looked", false, false, true, false, false, false},
    {"verbose", "text", "growing", true, false, false, true, false, false},
    {"only", "text", "growing", false, false, false, false, false, true},
    {"verbose", "text", "opened", true, false, false, false, false, false},
    {"verbose", "text", "known", true, false, false, false, false, false},
    {"suppressed", "text", "known", false, false, false, false, true, false},
    {"xml", "xml", "looked", false, false, false, true, false, false},
    {"xml", "xml", "odd", false, false, false, false, false, false},
    {"xml", "xml", "wrong", false, false, false, false, false, false},
    {"xml", "xml", "known", false, false, false, false, true, false},
    {"valgrind", "valgrind", "looked", false, false, false, false, false, false},
    {"valgrind", "valgrind", "odd", false, false, false, false, false, false},
    {"valgrind", "valgrind", "wrong", false, false, false, false, false, false},
    {"valgrind", "valgrind", "opened", false, false, false, false, false, false},
    {"lsan", "lsan", "looked", false, false, false, false, false, false},
    {"lsan", "lsan", "odd", false, false, false, false, false, false},
    {"lsan", "lsan", "wrong", false, false, false, false, false, false},
    {"lsan", "lsan", "known", false, false, false, false, false, false},
    {"github", "github", "looked", false, false, false, true, false, false},
    {"github", "github", "odd", false, false, false, false, false, false},
    {"github", "github", "wrong", false, false, false, false, false, false},
    {"markdown", "markdown", "looked", false, false, false, false, false, false},
    {"markdown", "markdown", "odd", false, false, false, false, false, false},
    {"markdown", "markdown", "known", false, false, false, false, true, false},
    {"memreport", "memreport", "looked", false, false, false, true, false, false},
    {"memreport", "memreport", "odd", false, false, false, false, false, false},
    {"memreport", "memreport", "known", false, false, false, false, true, false},
    {"junit", "junit", "looked", false, false, false, false, false, false},
    {"junit", "junit", "odd", false, false, false, false, false, false},
    {"junit", "junit", "opened", false, false, false, false, false, false},
    {"junit", "junit", "known", false, false, false, false, false, false},
    {"junit", "junit", "clean", false, false, false, false, false, false},
};

static char *render(const char *model, const struct rendering *rendering)
{
    struct view view = golden_view(rendering->format, rendering->all);

    view.verbose = rendering->verbose;
    view.freed = rendering->freed;
    view.owners = rendering->owners;
    view.growing = rendering->growing;
    view.suppressed = rendering->suppressed;
    view.by = rendering->suffix && strcmp(rendering->suffix, BY_TAGS) == 0    ? BY_TAG
              : rendering->suffix && strcmp(rendering->suffix, BY_TYPES) == 0 ? BY_TYPE
                                                                              : BY_NOTHING;
    view.content = view.verbose && strcmp(model, "typed") == 0;
    return golden_report(model, rendering->format, &view);
}

/* The rules of a SARIF report, from the key to the bracket; *length: theirs. */
static char *find_rules(char *text, size_t *length)
{
    char *begin = strstr(text, "\"rules\": ["), *end;

    ck_assert_msg(begin && (end = strstr(begin, "\n     ]")), "no rules in:\n%.2000s", text);
    *length = (size_t)(end - begin);
    return begin;
}

/* Where the rules are those of HAS_RULES, one line says so. */
static void leave_out_rules(char *text, const struct rendering *rendering)
{
    static const char instead[] = "\"rules\": [as in " HAS_RULES ".sarif";
    char *model = render(HAS_RULES, rendering), *rules, *wanted;
    size_t length, wanted_length;

    wanted = find_rules(model, &wanted_length);
    rules = find_rules(text, &length);
    if (length == wanted_length && memcmp(rules, wanted, length) == 0) {
        memcpy(rules, instead, strlen(instead));
        memmove(rules + strlen(instead), rules + length, strlen(rules + length) + 1);
    }
    free(model);
}

START_TEST(every_format_is_as_it_was)
{
    const char *model = golden_models[_i];

    for (int i = 0; i < ROWS(renderings); i++) {
        char *got;

        if (renderings[i].models && !golden_lists(renderings[i].models, model))
            continue;
        got = render(model, &renderings[i]);
        if (strcmp(renderings[i].format, "sarif") == 0 && strcmp(model, HAS_RULES) != 0)
            leave_out_rules(got, &renderings[i]);
        golden_check(model, renderings[i].suffix, got);
        free(got);
    }
}
END_TEST

/* A column is a character, however many bytes it has. */
static size_t columns(const char *line)
{
    size_t count = 0;

    for (; *line; line++)
        count += (*line & 0xc0) != 0x80;
    return count;
}

START_TEST(no_line_of_text_is_wider_than_the_terminal_by_accident)
{
    static const char *const narrow[] = {"small", "frees",   "looked", "clean",
                                         "quiet", "running", "known",  "hushed"};
    char *text = render(narrow[_i], &renderings[0]);

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "libleak:", 8) != 0 && /* the contract's line is as long as it is */
            !strstr(line, "/a/long/path"))
            ck_assert_msg(columns(line) <= 80, "%zu columns: %s", columns(line), line);
    free(text);
}
END_TEST

START_TEST(json_keeps_to_the_schema)
{
    static const char command[] =
        "/usr/bin/python3 -c \"import json, sys, jsonschema; "
        "jsonschema.validate(json.load(sys.stdin), json.load(open('docs/schema.json')))\"";
    char *text = render(golden_models[_i], &renderings[1]);
    FILE *python;

    if (!CONSUMERS_READ) {
        free(text);
        return;
    }
    if (system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0) {
        fprintf(stderr, "  skip  JSON against the schema: python3-jsonschema is not installed\n");
        free(text);
        return;
    }
    python = popen(command, "w");
    fputs(text, python);
    ck_assert_int_eq(pclose(python), 0);
    free(text);
}
END_TEST

START_TEST(programs_read_every_format)
{
    for (size_t i = 0; format_at(i); i++) {
        struct rendering rendering = {.format = format_at(i)->name, .all = true};
        char *all = render(golden_models[_i], &rendering), *some;

        rendering.all = false;
        some = render(golden_models[_i], &rendering);
        consumers_read(rendering.format, all, "");
        consumers_read(rendering.format, some, "");
        free(all);
        free(some);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *formats = tcase_create("formats"), *readers = tcase_create("readers");

    tcase_set_timeout(formats, 60);
    tcase_add_loop_test(formats, every_format_is_as_it_was, 0, GOLDEN_MODELS);
    tcase_add_loop_test(formats, no_line_of_text_is_wider_than_the_terminal_by_accident, 0, 8);
    tcase_set_timeout(readers, 60);
    tcase_set_tags(readers, "readers");
    tcase_add_loop_test(readers, json_keeps_to_the_schema, 0, GOLDEN_MODELS);
    tcase_add_loop_test(readers, programs_read_every_format, 0, GOLDEN_MODELS);
    suite_add_tcase(suite, formats);
    suite_add_tcase(suite, readers);
    return suite_run(suite);
}
