/* test_golden.c - each model of tests/golden in each format, byte by byte.
 *
 * GOLDEN=rewrite (make golden) writes what is expected anew; the difference in review is the test.
 * Run from the root of the tree.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolize/report.h"
#include "tests/unit/symbolize/model_text.h"

static const char *const models[] = {"small", "odd", "tree", "sampled"};

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

static char *render(const char *model, const struct format *format)
{
    char path[256], *text;
    size_t size;
    struct mem *mem = mem_begin();
    struct view view = {.top = format->top};
    struct report report;
    FILE *stream;

    snprintf(path, sizeof(path), "tests/golden/%s.model", model);
    stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s: run from the root of the tree", path);
    report = model_read(mem, stream);
    fclose(stream);
    memset(view.show, true, sizeof(view.show));
    view.show[VERDICT_RUNTIME] = false;
    stream = open_memstream(&text, &size);
    format->write(&report, &view, stream);
    fclose(stream);
    mem_end(mem);
    return text;
}

START_TEST(every_format_is_as_it_was)
{
    for (size_t i = 0; formats_at(i); i++) {
        char path[256], *got = render(models[_i], formats_at(i)), *wanted;
        const char *rewrite = getenv("GOLDEN");

        snprintf(path, sizeof(path), "tests/golden/%s.%s", models[_i], formats_at(i)->name);
        if (rewrite && strcmp(rewrite, "rewrite") == 0) {
            FILE *stream = fopen(path, "w");

            fputs(got, stream);
            fclose(stream);
        }
        wanted = slurp(path);
        ck_assert_msg(strcmp(got, wanted) == 0, "%s differs; got:\n%s", path, got);
        free(wanted);
        free(got);
    }
}
END_TEST

START_TEST(no_line_of_text_is_wider_than_the_terminal_by_accident)
{
    char *text = render("small", formats_find("text"));

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "libleak:", 8) != 0) /* the contract's line is as long as it is */
            ck_assert_msg(strlen(line) <= 80, "%zu columns: %s", strlen(line), line);
    free(text);
}
END_TEST

START_TEST(json_keeps_to_the_schema)
{
    static const char command[] =
        "/usr/bin/python3 -c \"import json, sys, jsonschema; "
        "jsonschema.validate(json.load(sys.stdin), json.load(open('docs/schema.json')))\"";
    char *text = render(models[_i], formats_find("json"));
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

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *formats = tcase_create("formats");
    SRunner *runner = srunner_create(suite);
    int failed, count = sizeof(models) / sizeof(*models);

    tcase_set_timeout(formats, 60);
    tcase_add_loop_test(formats, every_format_is_as_it_was, 0, count);
    tcase_add_test(formats, no_line_of_text_is_wider_than_the_terminal_by_accident);
    tcase_add_loop_test(formats, json_keeps_to_the_schema, 0, count);
    suite_add_tcase(suite, formats);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
