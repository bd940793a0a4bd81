/* test_golden.c - each model of tests/golden in each format, byte by byte.
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
#include "tests/unit/symbolize/model_text.h"
#include "tests/unit/symbolize/profile_text.h"

static const char *const models[] = {"small",  "odd",   "tree",  "sampled", "frees",
                                     "looked", "clean", "quiet", "running", "known",
                                     "hushed", "wrong", "opened", "growing", "tagged"};

/* What the table by tag goes by. */
#define BY_TAGS "tags"
#define BY_TAGS_JSON "tags.json"

/* Each model in each format, and some with options that show more or something else. */
static const struct rendering {
    const char *suffix, *format, *model; /* NULL = each */
    bool verbose, freed, owners, all, suppressed, growing;
} renderings[] = {
    {"text", "text", NULL, false, false, false, false, false, false},
    {"json", "json", NULL, false, false, false, false, false, false},
    {"pprof", "pprof", NULL, false, false, false, false, false, false},
    {"ndjson", "ndjson", NULL, false, false, false, false, false, false},
    {"sarif", "sarif", NULL, false, false, false, false, false, false},
    {"folded", "folded", NULL, false, false, false, false, false, false},
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
    {BY_TAGS_JSON, "json", "tagged", false, false, false, true, false, false},
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

static char *slurp(const char *path)
{
    FILE *stream = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    if (stream) {
        text[fread(text, 1, (1 << 20) - 1, stream)] = 0;
        fclose(stream);
    }
    return text;
}

static enum by_key key_of(const struct rendering *rendering)
{
    return rendering->suffix && strncmp(rendering->suffix, BY_TAGS, strlen(BY_TAGS)) == 0
               ? BY_TAG
               : BY_NOTHING;
}

static char *render(const char *model, const struct rendering *rendering)
{
    const struct format *format = format_find(rendering->format);
    char path[256], *text;
    size_t size;
    struct arena *mem = arena_begin();
    struct view view = {.top = format->top,
                        .verbose = rendering->verbose,
                        .freed = rendering->freed,
                        .owners = rendering->owners,
                        .growing = rendering->growing,
                        .suppressed = rendering->suppressed,
                        .by = key_of(rendering),
                        .freed_address = 0xa0010};
    struct report report;
    FILE *stream;

    snprintf(path, sizeof(path), "tests/golden/%s.model", model);
    stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s: run from the root of the tree", path);
    report = model_read(mem, stream);
    fclose(stream);
    view.show[VERDICT_LOST] = view.show[VERDICT_POSSIBLE] = true;
    view.show[VERDICT_HIDDEN] = view.show[VERDICT_UNFREED] = true;
    if (rendering->all) {
        memset(view.show, true, sizeof(view.show));
        view.top = 0;
    }
    stream = open_memstream(&text, &size);
    format->write(&report, &view, stream);
    fclose(stream);
    arena_end(mem);
    if (format->traits & FORMAT_BINARY) {
        char *decoded = profile_text(text, size);

        free(text);
        return decoded;
    }
    return text;
}

START_TEST(every_format_is_as_it_was)
{
    for (int i = 0; i < ROWS(renderings); i++) {
        const char *rewrite = getenv("GOLDEN");
        char path[256], *got, *wanted;

        if (renderings[i].model && strcmp(models[_i], renderings[i].model) != 0)
            continue;
        got = render(models[_i], &renderings[i]);
        snprintf(path, sizeof(path), "tests/golden/%s.%s", models[_i], renderings[i].suffix);
        if (rewrite && strcmp(rewrite, "rewrite") == 0) {
            FILE *stream = fopen(path, "w");

            fputs(got, stream);
            fclose(stream);
        }
        wanted = slurp(path);
        ck_assert_msg(strcmp(got, wanted) == 0, "%s differs; got:\n%.4000s", path, got);
        free(wanted);
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
    char *text = render(models[_i], &renderings[1]);
    FILE *python;

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
        char *all = render(models[_i], &rendering), *some;

        rendering.all = false;
        some = render(models[_i], &rendering);
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
    int count = ROWS(models);

    tcase_set_timeout(formats, 60);
    tcase_add_loop_test(formats, every_format_is_as_it_was, 0, count);
    tcase_add_loop_test(formats, no_line_of_text_is_wider_than_the_terminal_by_accident, 0, 8);
    tcase_set_timeout(readers, 60);
    tcase_set_tags(readers, "readers");
    tcase_add_loop_test(readers, json_keeps_to_the_schema, 0, count);
    tcase_add_loop_test(readers, programs_read_every_format, 0, count);
    suite_add_tcase(suite, formats);
    suite_add_tcase(suite, readers);
    return suite_run(suite);
}
