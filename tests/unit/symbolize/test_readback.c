/* test_readback.c - reports that have no file in tests/golden (golden.h) are read back, and say what the model says.
 *
 * JSON: a file has the parts that no golden report has (NAME.parts), and no value is in neither. NDJSON: its lines
 * are the JSON report. Profiles: their samples and sums are those of the model. test_exports.c has SARIF, and
 * readers that are not ours. Run from the root of the tree.
 */
#include <check.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/view/format_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/symbolize/golden.h"

#define PATH_SIZE 256

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Those of each model that a golden report has not, by their keys and indices. */
static const struct part {
    const char *model, *path;
} parts[] = {
    {"small", "processes.0.coverage.modules_without_debuginfo"},
    {"small", "processes.0.records.0.frames"},
    {"small", "processes.0.records.1.threads"},
    {"odd", "processes.0.coverage"},
    {"odd", "processes.0.notes"},
    {"odd", "processes.0.end"},
    {"odd", "processes.0.argv"},
    {"odd", "processes.0.records.2.frames"},
    {"odd", "bytes_escaped"},
    {"tree", "processes.2.coverage.untracked"},
    {"tree", "processes.3.forked"},
    {"tree", "processes.3.end"},
    {"sampled", "processes.0.sampled"},
    {"sampled", "processes.0.totals"},
    {"sampled", "processes.0.summary.runtime"},
    {"sampled", "processes.0.summary.unfreed"},
    {"sampled", "processes.0.records.0.error"},
    {"known", "suppressions"},
    {"known", "processes.0.suppressed"},
    {"known", "processes.0.records.3.suppressed_by"},
    {"growing", "processes.0.history"},
    {"growing", "processes.0.peak"},
    {"growing", "processes.0.temporary"},
    {"growing", "processes.0.records.0.growth"},
    {"growing", "processes.0.records.3.growth"},
    {"tagged", "processes.0.records.2.tags"},
    {"tagged", "processes.0.by"},
    {"typed", "processes.0.records.0.type"},
    {"typed", "processes.0.records.1.types"},
    {"typed", "processes.0.records.3.path"},
    {"typed", "processes.0.records.4.path_words"},
};

/* Numbers beyond 2^63 are no integers to jansson. */
static json_t *parse(const char *text, size_t flags)
{
    json_error_t error;
    json_t *made = json_loads(text, flags, &error);

    if (!made)
        made = json_loads(text, JSON_DECODE_INT_AS_REAL, &error);
    ck_assert_msg(made != NULL, "%s, of:\n%.2000s", error.text, text);
    return made;
}

/* The table by tag, if there are tags. */
static json_t *json_report_of(const char *model)
{
    struct view view = golden_view("json", true);
    char *text;
    json_t *made;

    view.by = strcmp(model, "tagged") == 0 ? BY_TAG : BY_NOTHING;
    text = golden_report(model, "json", &view);
    made = parse(text, 0);
    free(text);
    return made;
}

/* Borrowed. */
static json_t *member(json_t *at, const char *path)
{
    char words[PATH_SIZE], *rest;

    snprintf(words, sizeof(words), "%s", path);
    for (char *word = strtok_r(words, ".", &rest); word; word = strtok_r(NULL, ".", &rest))
        at = json_is_array(at) ? json_array_get(at, strtoul(word, NULL, 10))
                               : json_object_get(at, word);
    ck_assert_msg(at != NULL, "no %s", path);
    return at;
}

static void print_part(json_t *report, const char *path, FILE *stream)
{
    json_t *part = member(report, path), *one;
    size_t i;

    fprintf(stream, "%s\n", path);
    if (!json_is_array(part)) {
        fputs("  ", stream);
        json_dumpf(part, stream, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
        putc('\n', stream);
        return;
    }
    json_array_foreach(part, i, one)
    {
        fputs("  ", stream);
        json_dumpf(one, stream, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
        putc('\n', stream);
    }
}

START_TEST(parts_of_json_that_no_golden_report_has_are_as_they_were)
{
    const char *model = golden_models[_i];
    json_t *report = json_report_of(model);
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    for (int i = 0; i < ROWS(parts); i++)
        if (strcmp(parts[i].model, model) == 0)
            print_part(report, parts[i].path, stream);
    fclose(stream);
    if (size)
        golden_check(model, "parts", text);
    free(text);
    json_decref(report);
}
END_TEST

static bool is_value(const json_t *value)
{
    return !json_is_null(value) && !json_is_false(value) &&
           (!json_is_number(value) || json_number_value(value) != 0);
}

/* Adds the path of every value, without the indices, to the set. */
static void add_paths(json_t *set, json_t *at, const char *path)
{
    char below[PATH_SIZE];
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach(at, key, value)
    {
        snprintf(below, sizeof(below), "%s.%s", path, key);
        add_paths(set, value, below);
    }
    json_array_foreach(at, i, value) add_paths(set, value, path);
    if (!json_is_object(at) && !json_is_array(at) && is_value(at))
        json_object_set_new(set, path, json_true());
}

/* "processes.0.end" is ".processes.end" there. */
static void add_part(json_t *set, const struct part *part)
{
    json_t *report = json_report_of(part->model);
    char words[PATH_SIZE], path[PATH_SIZE] = "", *rest;

    snprintf(words, sizeof(words), "%s", part->path);
    for (char *word = strtok_r(words, ".", &rest); word; word = strtok_r(NULL, ".", &rest))
        if (*word < '0' || *word > '9')
            snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%s", word);
    add_paths(set, member(report, part->path), path);
    json_decref(report);
}

static json_t *known_paths(void)
{
    json_t *set = json_object();

    for (int i = 0; i < GOLDEN_MODELS; i++)
        if (golden_lists(GOLDEN_DOCUMENTS, golden_models[i])) {
            json_t *report = json_report_of(golden_models[i]);

            add_paths(set, report, "");
            json_decref(report);
        }
    for (int i = 0; i < ROWS(parts); i++)
        add_part(set, &parts[i]);
    return set;
}

START_TEST(every_value_of_json_is_in_a_golden_file)
{
    json_t *known = known_paths(), *report = json_report_of(golden_models[_i]),
           *got = json_object(), *value;
    const char *path;

    add_paths(got, report, "");
    json_object_foreach(got, path, value)
        ck_assert_msg(json_object_get(known, path) != NULL,
                      "%s of %s is in no golden file: add a row to parts[], then make golden", path,
                      golden_models[_i]);
    json_decref(got);
    json_decref(report);
    json_decref(known);
}
END_TEST

START_TEST(json_has_the_records_of_the_model)
{
    struct arena *mem = arena_begin();
    struct report model = golden_model(mem, golden_models[_i]);
    json_t *report = json_report_of(golden_models[_i]), *processes = member(report, "processes");

    ck_assert_uint_eq(json_array_size(processes), model.process_count);
    for (size_t i = 0; i < model.process_count; i++) {
        const struct process *process = &model.processes[i];
        json_t *got = json_array_get(processes, i), *records = member(got, "records");
        double bytes = 0, wanted = 0;

        ck_assert_uint_eq(json_array_size(records), process->record_count + process->grown_count);
        ck_assert_uint_eq(json_array_size(member(got, "errors")),
                          process->mistake_count + (process->crash != NULL));
        ck_assert_uint_eq(json_array_size(member(got, "resources")), process->resource_count);
        for (size_t k = 0; k < process->record_count; k++) {
            bytes += json_number_value(member(json_array_get(records, k), "bytes"));
            wanted += (double)process->records[k].bytes;
        }
        ck_assert_msg(bytes == wanted, "%g bytes, not %g", bytes, wanted);
    }
    json_decref(report);
    arena_end(mem);
}
END_TEST

START_TEST(view_of_what_grows_has_nothing_else)
{
    static const char *const readers[] = {"json", "ndjson"};
    struct view view = golden_view(readers[_i], true);
    char *text;

    view.growing = true;
    text = golden_report("growing", readers[_i], &view);
    ck_assert_msg(strstr(text, "nothing freed") && strstr(text, "a queue") &&
                      strstr(text, "+2.0 MB/s"),
                  "%s lacks a record that grew:\n%s", readers[_i], text);
    ck_assert_msg(!strstr(text, "plateau at"), "%s has a record that is steady", readers[_i]);
    free(text);
}
END_TEST

/* ---- NDJSON ---------------------------------------------------------------------------------- */

static void append_to(json_t *process, const char *key, json_t *line)
{
    json_t *list = json_object_get(process, key);

    if (!list)
        json_object_set_new(process, key, list = json_array());
    json_array_append(list, line);
}

/* Puts one line where it belongs in the report. */
static void put_line(json_t *report, json_t *line, bool *escaped)
{
    json_t *processes = json_object_get(report, "processes");
    char *what = strdup(json_string_value(member(line, "line")));
    json_int_t number = json_integer_value(json_object_get(line, "process"));
    size_t count = json_array_size(processes);

    *escaped |= json_is_true(member(line, "bytes_escaped"));
    json_object_del(line, "line");
    json_object_del(line, "process");
    json_object_del(line, "bytes_escaped");
    if (strcmp(what, "report") == 0) {
        json_object_update(report, line);
    } else if (strcmp(what, "process") == 0) {
        ck_assert_int_eq(number, (json_int_t)count);
        json_object_set_new(line, "records", json_array());
        json_object_set_new(line, "errors", json_array());
        json_object_set_new(line, "resources", json_array());
        json_array_append(processes, line);
    } else {
        char key[32];

        ck_assert_int_eq(number + 1, (json_int_t)count);
        snprintf(key, sizeof(key), "%ss", what);
        append_to(json_array_get(processes, count - 1), key, line);
    }
    free(what);
}

START_TEST(lines_of_ndjson_are_the_json_report)
{
    const char *model = golden_models[_i / 3];
    struct view view = golden_view("json", _i % 3 > 0);
    char *text, *lines, *rest;
    json_t *wanted, *got = json_object();
    bool escaped = false;

    view.growing = _i % 3 == 2;
    text = golden_report(model, "json", &view);
    lines = golden_report(model, "ndjson", &view);
    wanted = parse(text, JSON_DECODE_INT_AS_REAL);
    json_object_set_new(got, "processes", json_array());
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *one = parse(line, JSON_DECODE_INT_AS_REAL);
        json_t *process = json_object_get(one, "process");

        if (process)
            json_object_set_new(one, "process",
                                json_integer((json_int_t)json_number_value(process)));
        put_line(got, one, &escaped);
        json_decref(one);
    }
    json_object_set_new(got, "bytes_escaped", json_boolean(escaped));
    ck_assert_msg(json_equal(got, wanted), "%s: the lines\n%.4000s", model,
                  json_dumps(got, JSON_INDENT(1)));
    json_decref(got);
    json_decref(wanted);
    free(lines);
    free(text);
}
END_TEST

/* ---- Profiles -------------------------------------------------------------------------------- */

/* As profile_text.h writes a string. */
static void print_quoted(const char *text, FILE *stream)
{
    putc('"', stream);
    for (; *text; text++)
        fprintf(stream, (unsigned char)*text < 0x20 || *text == '"' ? "\\x%02x" : "%c",
                (unsigned char)*text);
    putc('"', stream);
}

static void print_label(const char *key, const char *text, FILE *stream)
{
    fprintf(stream, "  \"%s\" = ", key);
    print_quoted(text, stream);
}

static uint64_t clamp(uint64_t number)
{
    return number < INT64_MAX ? number : INT64_MAX;
}

/* Functions and lines from the first caller on: a reader finds the name of a frame that has only a place in a
 * file with a build-id. */
static void print_frames(const struct frame *const *frames, size_t count, FILE *stream)
{
    for (size_t i = frame_first_caller(frames, count); i < count; i++) {
        char buffer[FRAME_NAME_SIZE];

        if (!frames[i]->function && frames[i]->has_offset && frames[i]->build_id)
            continue;
        putc(' ', stream);
        print_quoted(frame_name(frames[i], buffer), stream);
        if (frames[i]->line)
            fprintf(stream, ":%" PRIu32, frames[i]->line);
    }
    fputs(count ? "" : " \"[no stack]\"", stream);
}

static void print_process(const struct report *report, const struct process *process, FILE *stream)
{
    if (report->process_count < 2)
        return;
    print_label("process", base_name(process->exe), stream);
    if (process->pid)
        fprintf(stream, "  \"pid\" = %" PRId32, process->pid);
}

static void print_record(const struct report *report, const struct process *process,
                         const struct record *record, FILE *stream)
{
    bool leaked = (record->verdict == VERDICT_LOST || record->verdict == VERDICT_INDIRECT) &&
                  !record->suppressed_by;
    uint64_t blocks = clamp(record->blocks), bytes = clamp(record->bytes);

    print_frames(record->frames, record->frame_count, stream);
    fprintf(stream, " = 0,0,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "", blocks, bytes,
            leaked ? blocks : 0, leaked ? bytes : 0);
    print_label("verdict", verdict_word[record->verdict], stream);
    print_label("kind", kind_word[record->kind], stream);
    for (size_t i = 0; i < record->thread_count; i++) {
        const char *name = record->threads[i].name;

        fprintf(stream, "  \"thread\" = \"T%" PRIu32 "%s%s\"", record->threads[i].serial,
                name ? " " : "", name ? name : "");
    }
    if (record->blocks && record->bytes / record->blocks)
        fprintf(stream, "  \"bytes\" = %" PRIu64 " \"bytes\"",
                clamp(record->bytes / record->blocks));
    else if (record->blocks)
        fputs("  \"bytes\" \"bytes\"", stream); /* 0 is left out */
    if (record->suppressed_by)
        print_label("suppressed", record->suppressed_by->text, stream);
    print_process(report, process, stream);
    putc('\n', stream);
}

static char *wanted_samples(const struct report *report)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const struct process *first = report->processes;

    fprintf(stream, "period %" PRIu64 "\n",
            report->process_count && first->sample ? first->sample : 1);
    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->record_count; k++)
            print_record(report, process, &process->records[k], stream);
        for (size_t k = 0; k < process->allocated_count; k++) {
            const struct allocated *all = &process->allocated[k];

            print_frames(all->stack.frames, all->stack.count, stream);
            fprintf(stream, " = %" PRIu64 ",%" PRIu64 ",0,0,0,0", clamp(all->blocks),
                    clamp(all->bytes));
            print_label("kind", kind_word[all->kind], stream);
            print_process(report, process, stream);
            putc('\n', stream);
        }
    }
    fclose(stream);
    return text;
}

/* The rest of the line of the profile that begins with `what` and that number. */
static const char *find_numbered(const char *profile, const char *what, unsigned long number)
{
    char head[64];
    const char *found;

    snprintf(head, sizeof(head), "\n %s  %lu ", what, number);
    found = strstr(profile, head);
    ck_assert_msg(found != NULL, "no%s, in:\n%s", head, profile);
    return found + strlen(head);
}

/* The names and lines of a location. */
static void print_location(const char *profile, const char *location, FILE *stream)
{
    const char *end = strchr(location, '\n');

    while ((location = strstr(location, "line  function ")) != NULL && location < end) {
        char *behind;
        unsigned long number = strtoul(location + strlen("line  function "), &behind, 10);
        const char *name =
            strstr(find_numbered(profile, "function", number), "name \"") + strlen("name ");

        fprintf(stream, " %.*s", (int)(strchr(name + 1, '"') + 1 - name), name);
        if (behind[0] == ' ' && behind[1] >= '0' && behind[1] <= '9')
            fprintf(stream, ":%lu", strtoul(behind, NULL, 10));
        location = behind;
    }
}

static char *got_samples(const char *profile)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const char *period = strstr(profile, "\n period ");

    while (period && (period[9] < '0' || period[9] > '9'))
        period = strstr(period + 1, "\n period ");
    ck_assert_msg(period != NULL, "no period, in:\n%s", profile);
    fprintf(stream, "period %lu\n", strtoul(period + 9, NULL, 10));
    for (const char *at = profile; (at = strstr(at, "\n sample  at ")) != NULL;) {
        char *list = (char *)(uintptr_t)at + strlen("\n sample  at ");
        const char *values, *end;

        at = values = strstr(list, " values ");
        do
            print_location(profile, find_numbered(profile, "location", strtoul(list, &list, 10)),
                           stream);
        while (*list++ == ',');
        values += strlen(" values ");
        end = strchr(values, '\n');
        fprintf(stream, " = %.*s\n", (int)(end - values), values);
    }
    fclose(stream);
    return text;
}

START_TEST(profiles_have_the_samples_of_the_model)
{
    struct view view = golden_view("pprof", true);
    struct arena *mem = arena_begin();
    struct report model = golden_model(mem, golden_models[_i]);
    char *profile = golden_report(golden_models[_i], "pprof", &view);
    char *got = got_samples(profile), *wanted = wanted_samples(&model);

    ck_assert_msg(!strstr(profile, "broken"), "%s", profile);
    ck_assert_msg(strcmp(got, wanted) == 0, "%s: got\n%s\nwanted\n%s", golden_models[_i], got,
                  wanted);
    free(wanted);
    free(got);
    free(profile);
    arena_end(mem);
}
END_TEST

/* The sum of the lines that begin with the process. */
static uint64_t folded_sum(char *lines, const char *process)
{
    uint64_t sum = 0;

    for (char *line = lines; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, process, strlen(process)) == 0) {
            char *end = strchr(line, '\n');

            while (end[-1] != ' ')
                end--;
            sum = add_saturating(sum, strtoull(end, NULL, 10));
        }
    return sum;
}

START_TEST(folded_stacks_add_up_to_each_process_of_the_model)
{
    static const char *const formats[] = {"folded", "folded-blocks"};
    const char *name = golden_models[_i / 2], *format = formats[_i % 2];
    struct view view = golden_view(format, true);
    struct arena *mem = arena_begin();
    struct report model = golden_model(mem, name);
    char *lines;

    view.suppressed = true;
    lines = golden_report(name, format, &view);
    for (size_t i = 0; i < model.process_count; i++) {
        const struct process *process = &model.processes[i];
        char head[PATH_SIZE] = "";
        uint64_t wanted = 0;

        if (model.process_count > 1)
            snprintf(head, sizeof(head), "%s[%" PRId32 "];", base_name(process->exe), process->pid);
        for (size_t k = 0; k < process->record_count; k++)
            wanted = add_saturating(wanted, _i % 2 ? process->records[k].blocks
                                                   : process->records[k].bytes);
        if (report_omits_process(process, &view))
            wanted = 0;
        ck_assert_msg(folded_sum(lines, head) == wanted, "%s of %s: %" PRIu64 " wanted of %s\n%s",
                      format, name, wanted, head, lines);
    }
    free(lines);
    arena_end(mem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("readback");
    TCase *documents = tcase_create("documents"), *profiles = tcase_create("profiles");

    tcase_add_loop_test(documents, parts_of_json_that_no_golden_report_has_are_as_they_were, 0,
                        GOLDEN_MODELS);
    tcase_add_loop_test(documents, every_value_of_json_is_in_a_golden_file, 0, GOLDEN_MODELS);
    tcase_add_loop_test(documents, json_has_the_records_of_the_model, 0, GOLDEN_MODELS);
    tcase_add_loop_test(documents, view_of_what_grows_has_nothing_else, 0, 2);
    tcase_add_loop_test(documents, lines_of_ndjson_are_the_json_report, 0, 3 * GOLDEN_MODELS);
    tcase_add_loop_test(profiles, profiles_have_the_samples_of_the_model, 0, GOLDEN_MODELS);
    tcase_add_loop_test(profiles, folded_stacks_add_up_to_each_process_of_the_model, 0,
                        2 * GOLDEN_MODELS);
    suite_add_tcase(suite, documents);
    suite_add_tcase(suite, profiles);
    return suite_run(suite);
}
