/* report_set_json.c - reads reports written as JSON, for merge, diff and baselines; described in
 * view.h.
 *
 * The files are not trusted: each key is read by its expected type, and a value that is missing or
 * has another type is treated as absent.
 */
#include "symbolize/view/view.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/base/foreign_file.h"
#include "common/names/names.h"
#include "common/base/term_text.h"

struct json_reader {
    struct report_set *report_set;
    /* the table of frames in the report; a stack may contain indices of this table */
    const json_t *frames;
    json_t *item; /* the record, error or resource that is read now */
    struct record record;
};

bool report_set_json_detect(const char *path)
{
    FILE *file = fopen(path, "re");
    int first = ' ';

    while (file && (first == ' ' || first == '\t' || first == '\n' || first == '\r'))
        first = getc(file);
    if (file)
        fclose(file);
    return first == '{';
}

static const char *text_at(const json_t *object, const char *key, struct arena *mem)
{
    const json_t *text = json_object_get(object, key);

    return json_is_string(text) ? arena_copy(mem, json_string_value(text), json_string_length(text))
                                : NULL;
}

static uint64_t number_at(const json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));

    return number > 0 ? (uint64_t)number : 0;
}

static bool signature_at(const json_t *object, uint64_t *out)
{
    const char *digits = json_string_value(json_object_get(object, "signature"));
    char *end;

    if (!digits || strlen(digits) != 16)
        return false;
    *out = strtoull(digits, &end, 16);
    return !*end;
}

static uint64_t time_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? time_parse_iso(text) : 0;
}

/* Returns the index of the string object[key] in a table of words; 0 when it is not in the
 * table. */
static uint32_t word_at(const json_t *object, const char *key, const char *const *words,
                        uint32_t count)
{
    const char *text = json_string_value(json_object_get(object, key));

    for (uint32_t i = 0; text && i < count; i++)
        if (words[i] && strcmp(words[i], text) == 0)
            return i;
    return 0;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* Finds the role of a frame from its names, because a report does not contain roles. inner: the
 * frame is inside of the record's user frame, so it is no user frame itself, but may be a
 * wrapper. */
static enum frame_role frame_role_from_json(const struct frame *frame, bool inner)
{
    enum frame_role role = classify_frame(frame->module, frame->function, frame->file);

    return inner && role == FRAME_USER ? FRAME_WRAPPER : role;
}

static void read_frame(struct frame *frame, const json_t *from, bool inner, struct arena *mem)
{
    *frame = (struct frame){.function = text_at(from, "function", mem),
                            .file = text_at(from, "file", mem),
                            .line = (uint32_t)number_at(from, "line"),
                            .column = (uint32_t)number_at(from, "column"),
                            .module = text_at(from, "module", mem),
                            .build_id = text_at(from, "build_id", mem),
                            .offset = number_at(from, "offset"),
                            .has_offset = json_is_integer(json_object_get(from, "offset")),
                            .inlined = json_is_true(json_object_get(from, "inlined")),
                            .python = json_is_true(json_object_get(from, "python"))};
    frame->role = frame_role_from_json(frame, inner);
}

/* Returns the i-th frame of a stack, whose elements are frames or indices of the report's table of
 * frames. */
static const json_t *frame_at(const struct json_reader *reading, const json_t *stack, size_t i)
{
    const json_t *frame = json_array_get(stack, i);
    json_int_t index = json_integer_value(frame);

    if (!json_is_integer(frame))
        return frame;
    return index >= 0 ? json_array_get(reading->frames, (size_t)index) : NULL;
}

static void read_frames(const struct json_reader *reading, struct record *record)
{
    struct arena *mem = reading->report_set->mem;
    const json_t *from = json_object_get(reading->item, "frames");
    size_t count = json_array_size(from), user = 0;
    struct frame *frames = arena_alloc_array(mem, count, sizeof(*frames));
    const struct frame **stack = arena_alloc_array(mem, count, sizeof(*stack));

    while (user < count && !json_is_true(json_object_get(frame_at(reading, from, user), "user")))
        user++;
    for (size_t i = 0; i < count; i++) {
        read_frame(&frames[i], frame_at(reading, from, i), user < count && i < user, mem);
        stack[i] = &frames[i];
    }
    record->frames = stack;
    record->frame_count = count;
    record->user = user;
    record->ending = LEAK_ROOT_COMPLETE; /* a report does not say how a trace ended */
}

/* ---- Records, errors, resources -------------------------------------------------------------- */

/* Reads in how many processes, and on which hosts, a record of a merged report occurred. */
static void read_seen(struct json_reader *reading)
{
    struct arena *mem = reading->report_set->mem;
    struct seen *seen = &reading->record.seen;
    json_t *hosts = json_object_get(reading->item, "on");

    seen->processes = number_at(reading->item, "processes");
    if (!seen->processes)
        return;
    seen->hosts = arena_alloc_array(mem, json_array_size(hosts), sizeof(*seen->hosts));
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const char *name = json_string_value(json_array_get(hosts, i));

        if (name)
            seen->hosts[seen->host_count++] = report_set_host_name(reading->report_set, name);
    }
}

static void read_amounts(struct json_reader *reading, const char *count)
{
    struct record *record = &reading->record;
    const json_t *item = reading->item, *retained = json_object_get(item, "retained"),
                 *error = json_object_get(item, "error");

    record->bytes = number_at(item, "bytes");
    record->blocks = number_at(item, count);
    record->retained.bytes = number_at(retained, "bytes");
    record->retained.blocks = number_at(retained, "blocks");
    record->error = (struct error){number_at(error, "bytes"), number_at(error, "blocks"),
                                   number_at(error, "samples")};
    record->first_ns = time_at(item, "first");
    record->last_ns = time_at(item, "last");
    if (!record->last_ns) /* an error without "last" has only one time */
        record->first_ns = record->last_ns = time_at(item, "time");
}

static void read_tags(struct json_reader *reading)
{
    struct arena *mem = reading->report_set->mem;
    json_t *tags = json_object_get(reading->item, "tags"), *item;
    struct tag_sum *sums = arena_alloc_array(mem, json_array_size(tags), sizeof(*sums));
    size_t i;

    reading->record.tags = sums;
    json_array_foreach(tags, i, item)
    {
        struct tag_sum *sum = &sums[reading->record.tag_count];

        *sum = (struct tag_sum){text_at(item, "name", mem), number_at(item, "bytes"),
                                number_at(item, "blocks")};
        reading->record.tag_count += sum->name != NULL;
    }
}

static struct report_set_entry *read_record(struct json_reader *reading)
{
    const char *word = json_string_value(json_object_get(reading->item, "verdict"));

    if (!word || json_is_string(json_object_get(reading->item, "suppressed_by")))
        return NULL;
    reading->record.verdict =
        (enum verdict)word_at(reading->item, "verdict", verdict_word, VERDICT_MAX);
    if (strcmp(word, verdict_word[reading->record.verdict]) != 0)
        return NULL;
    reading->record.kind = word_at(reading->item, "kind", kind_word, KIND_MAX);
    read_amounts(reading, "blocks");
    read_tags(reading);
    return report_set_add_record(reading->report_set, &reading->record);
}

static struct report_set_entry *read_error(struct json_reader *reading)
{
    const char *type = json_string_value(json_object_get(reading->item, "type"));

    read_amounts(reading, "count");
    return type ? report_set_add_error(reading->report_set, &reading->record, type) : NULL;
}

static struct report_set_entry *read_resource(struct json_reader *reading)
{
    const char *type = json_string_value(json_object_get(reading->item, "type"));

    read_amounts(reading, "count");
    if (!type || json_is_true(json_object_get(reading->item, "once")))
        return NULL;
    return report_set_add_resource(reading->report_set, &reading->record, type);
}

static void read_items(struct report_set *report_set, const json_t *report, const json_t *process,
                       const char *key,
                       struct report_set_entry *(*read)(struct json_reader *reading))
{
    json_t *items = json_object_get(process, key);

    for (size_t i = 0; i < json_array_size(items); i++) {
        struct json_reader reading = {.report_set = report_set,
                                      .frames = json_object_get(report, "frames"),
                                      .item = json_array_get(items, i)};
        struct report_set_entry *entry;

        if (!signature_at(reading.item, &reading.record.signature))
            continue;
        read_seen(&reading);
        entry = read(&reading);
        if (entry && !entry->record.frame_count)
            read_frames(&reading, &entry->record);
    }
}

static void read_all_items(struct report_set *report_set, const json_t *report, const json_t *from)
{
    read_items(report_set, report, from, "records", read_record);
    read_items(report_set, report, from, "errors", read_error);
    read_items(report_set, report, from, "resources", read_resource);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static struct report_set_process process_at(const json_t *item, const char *host)
{
    json_int_t pid = json_integer_value(json_object_get(item, "pid"));
    const json_t *sampled = json_object_get(item, "sampled");
    const json_t *look = json_object_get(item, "snapshot");

    return (struct report_set_process){.host = host,
                                       .exe = json_string_value(json_object_get(item, "exe")),
                                       .pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0,
                                       .started_ns = time_at(item, "started"),
                                       .sampled =
                                           json_is_true(sampled) || number_at(sampled, "bytes") > 1,
                                       .look = (uint32_t)number_at(look, "milestone")};
}

static void read_processes(struct report_set *report_set, const json_t *report)
{
    json_t *processes = json_object_get(report, "processes");
    const char *host = json_string_value(json_object_get(report, "host"));

    for (size_t i = 0; i < json_array_size(processes); i++) {
        const json_t *item = json_array_get(processes, i);
        struct report_set_process process = process_at(item, host);

        if (report_set_begin_process(report_set, &process))
            read_all_items(report_set, report, item);
    }
}

/* Adds a merged report. Its sums cannot be split by process: if one of its processes is already in
 * the set, the whole report is rejected. Returns NULL, or an error message. */
static const char *read_merged(struct report_set *report_set, const json_t *report)
{
    json_t *processes = json_object_get(report, "processes"), *item;
    struct report_set_process process;
    size_t again = 0, i;

    json_array_foreach(processes, i, item)
    {
        process = process_at(item, json_string_value(json_object_get(item, "host")));
        again += report_set_has_process(report_set, &process);
    }
    if (again)
        return arena_format(report_set->mem,
                            "has %zu of the processes that were counted before: give the reports "
                            "that it was made of instead",
                            again);
    json_array_foreach(processes, i, item)
    {
        process = process_at(item, json_string_value(json_object_get(item, "host")));
        report_set_begin_process(report_set, &process);
    }
    read_all_items(report_set, report, report);
    return NULL;
}

const char *report_set_json_read(struct report_set *report_set, const char *path)
{
    json_error_t trouble;
    json_t *report = json_load_file(path, JSON_ALLOW_NUL, &trouble);
    struct stat status;
    const char *format = json_string_value(json_object_get(report, "format"));
    bool merged = format && strcmp(format, REPORT_SET_MERGED_FORMAT) == 0;
    const char *wrong = NULL;

    /* the owner of the report may read the source files that it names, as the owner of a recording
     * file */
    if (stat(path, &status) == 0)
        foreign_file_add_reader((struct file_owner){status.st_uid, status.st_gid});
    if (!report)
        wrong = arena_format(report_set->mem, "is no JSON: line %d: %s; write the report again",
                             trouble.line, trouble.text);
    else if (!format || (strcmp(format, "libleak") != 0 && !merged) ||
             !json_is_array(json_object_get(report, "processes")))
        wrong = "is JSON, but no report of libleak's (leakreport --format=json)";
    else if (json_integer_value(json_object_get(report, "version")) != 1)
        wrong = "is a libleak report of another version: write it with this leakreport";
    else if (merged)
        wrong = read_merged(report_set, report);
    else
        read_processes(report_set, report);
    json_decref(report);
    return wrong;
}

bool baseline_read(struct report_set *report_set, const char *path, const char **wrong)
{
    *wrong = report_set_json_detect(path) ? report_set_json_read(report_set, path)
                                          : "is no report that was written with --format=json";
    return !*wrong;
}

void baseline_suppress(const struct report_set *report_set, const char *path,
                       struct suppressions *suppressions)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return;
    /* Suppresses lost, indirect and possible blocks, and all verdicts only if the baseline listed
     * reachable blocks: a block that was reachable then and is lost now is a new leak. */
    for (size_t i = 0; i < report_set->count; i++)
        fprintf(stream,
                "{\n in the baseline\n libleak:Leak\n match-leak-kinds: %s\n"
                " signature=%016" PRIx64 "\n}\n",
                report_set->shows[VERDICT_REACHABLE] ? "all" : "definite,indirect,possible",
                report_set->entries[i].record.signature);
    fclose(stream);
    suppress_add(suppressions, path, text, size);
    free(text);
}

uint64_t baseline_new_errors(const struct report_set *report_set, const struct report *report)
{
    uint64_t fresh = 0;

    for (size_t i = 0; i < report->process_count; i++) {
        const struct process *process = &report->processes[i];

        for (size_t k = 0; k < process->mistake_count; k++)
            fresh += !report_set_find(report_set, REPORT_SET_ERROR, process->mistakes[k].signature);
        fresh += process->crash &&
                 !report_set_find(report_set, REPORT_SET_ERROR, process->crash->signature);
    }
    return fresh;
}
