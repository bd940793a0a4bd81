/* test_exports.c - programs that are not ours read what the formats write, and find in it what the
 * JSON report says: of every model of tests/golden, and of one with names that are made to break
 * formats.
 *
 * tests/formats has the readers; status 77: what one needs is not here.
 * Run from the root of the tree.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/view/format_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolize/consumers.h"
#include "tests/unit/symbolize/golden.h"
#include "tests/unit/symbolize/model_text.h"

static const struct {
    const char *name, *reader; /* with arguments behind those it always gets */
} formats[] = {
    {"pprof", "pprof.py %s %s"},
    {"ndjson", "ndjson.py %s %s"},
    {"sarif", "sarif.py %s %s"},
    {"folded", "folded.py %s %s bytes"},
    {"folded-blocks", "folded.py %s %s blocks"},
};
#define LONG 10000

/* Names with everything that means something to somebody. */
static FILE *hostile(void)
{
    static const char evil[] =
        "<b>&amp;\"';,:#%s{}]]>--><script>alert(1)</script>\\\\\\n0\\t1 2\\xff\\xc3";
    char long_name[LONG + 1];
    FILE *stream = tmpfile();

    memset(long_name, 'n', LONG);
    long_name[LONG] = 0;
    fprintf(stream, "process | /opt/%s/app | 7 | signal | 9 | 12 | 3 | 4096\nargv | %s\n", evil,
            evil);
    fprintf(stream, "note | %s\n", evil);
    fprintf(stream, "look | parked | at the end | 1 | 2 | 0 | 0 | 0 | last\n");
    fprintf(stream, "mistake | mismatched-free | free | new[] | 30 | 0 | - | - | 2 | 1 | - | -\n");
    fprintf(stream, "frame | %s | src/%s.cc | 3 | /opt/%s | 00ff | 0x10 | user\n", evil, evil,
            evil);
    fprintf(stream, "record | lost | malloc | 100 | 5 | 00000000000000a1\nthread | 1 | %s\n", evil);
    fprintf(stream, "retained | 164 | 6\n");
    fprintf(stream, "frame | %s | src/%s.cc | 3 | /opt/%s | 00ff | 0x10 | user inlined\n", evil,
            evil, evil);
    fprintf(stream, "frame | %s | %s | 4 | /opt/%s | 00ff | 0x10 | -\n", long_name, long_name,
            evil);
    fprintf(stream, "record | lost | new | 7 | 1 | 00000000000000a2\n");
    fprintf(stream, "suppressed | leak:%s | %s:1\n", evil, evil);
    fprintf(stream, "frame | %s() | /%s | 1 | /opt/%s | - | - | user\n", long_name, long_name,
            evil);
    fprintf(stream, "record | indirect | malloc | 64 | 1 | 00000000000000a3\nowner | 1\n");
    fprintf(stream, "frame | - | - | - | /opt/%s | - | 0x20 | user\n", evil);
    fprintf(stream, "record | possible | malloc | 1 | 1 | 00000000000000a4\n");
    fprintf(stream,
            "resource | fd | 2 | - | -\nname | /tmp/%s\nframe | %s | - | - | - | - | - | user\n",
            evil, evil);
    rewind(stream);
    return stream;
}

static struct report hostile_report(struct arena *mem)
{
    FILE *stream = hostile();
    struct report report = model_read(mem, stream);

    fclose(stream);
    return report;
}

/* model: NULL = that of hostile(). */
static void write_as(const char *format_name, const char *path, const char *model)
{
    const struct format *format = format_find(format_name);
    struct view view = {.top = format->top};
    struct arena *mem = arena_begin();
    struct report report = model ? golden_model(mem, model) : hostile_report(mem);
    FILE *stream;

    memset(view.show, true, sizeof(view.show));
    view.suppressed = true;
    stream = fopen(path, "w");
    format->write(&report, &view, stream);
    fclose(stream);
    arena_end(mem);
}

START_TEST(other_programs_read_what_the_json_report_says)
{
    const int number = _i / ROWS(formats), row = _i % ROWS(formats);
    const char *model = number ? golden_models[number - 1] : NULL; /* NULL: that of hostile() */
    const char *format = formats[row].name, *reader = formats[row].reader;
    char folder[] = "/tmp/libleak-test-XXXXXX", path[64], json[64], arguments[256], command[320];
    int status;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/report", folder);
    snprintf(json, sizeof(json), "%s/json", folder);
    write_as(format, path, model);
    write_as("json", json, model);
    snprintf(arguments, sizeof(arguments), reader, path, json);
    snprintf(command, sizeof(command), "/usr/bin/python3 tests/formats/%s", arguments);
    status = CONSUMERS_READ ? system(command) : 0;
    unlink(path);
    unlink(json);
    rmdir(folder);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
        printf("skip: %s: what reads %s is not here\n", __func__, format);
        return;
    }
    ck_assert_msg(status == 0, "%s of %s: status %d", format, model ? model : "hostile names",
                  status);
}
END_TEST

/* ---- Limits of hosts ------------------------------------------------------------------------ */

static const struct {
    size_t records, name; /* length of a function's name, of random letters */
} crowds[] = {{25001, 8}, {40000, 8}, {4000, 9000}};

START_TEST(sarif_stays_within_what_hosts_take)
{
    size_t count = crowds[_i].records, length = crowds[_i].name;
    struct arena *mem = arena_begin();
    struct process process = {.exe = "/opt/app",
                              .record_count = count,
                              .records = arena_alloc_array(mem, count, sizeof(struct record))};
    struct report report = {.processes = &process, .process_count = 1};
    struct view view = {.show = {[VERDICT_LOST] = true}};
    char path[] = "/tmp/libleak-test-XXXXXX", command[256];
    FILE *stream = fdopen(mkstemp(path), "w");
    uint64_t seed = 1;

    for (size_t i = 0; i < count; i++) {
        struct frame *frame = arena_alloc(mem, sizeof(*frame));
        const struct frame **frames = arena_alloc(mem, sizeof(*frames));
        char *name = arena_alloc(mem, length + 1);

        for (size_t k = 0; k < length; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            name[k] = (char)('A' + (seed >> 33) % 26);
        }
        *frame = (struct frame){.function = name, .file = "a.c", .line = 1};
        *frames = frame;
        process.records[i] = (struct record){
            .signature = i, .bytes = 1, .blocks = 1, .frames = frames, .frame_count = 1};
    }
    format_find("sarif")->write(&report, &view, stream);
    fclose(stream);
    arena_end(mem);
    snprintf(command, sizeof(command), "/usr/bin/python3 tests/formats/sarif.py %s %s of %zu", path,
             path, count);
    if (CONSUMERS_READ && system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0)
        printf("skip: %s: python3-jsonschema is not here\n", __func__);
    else if (CONSUMERS_READ)
        ck_assert_int_eq(system(command), 0);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exports");
    TCase *all = tcase_create("formats"), *readers = tcase_create("readers");

    tcase_set_timeout(all, 60);
    tcase_set_timeout(readers, 60);
    tcase_set_tags(readers, "readers");
    tcase_add_loop_test(readers, other_programs_read_what_the_json_report_says, 0,
                        (GOLDEN_MODELS + 1) * ROWS(formats));
    tcase_add_loop_test(all, sarif_stays_within_what_hosts_take, 0, ROWS(crowds));
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, readers);
    return suite_run(suite);
}
