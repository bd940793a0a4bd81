/* report_set_json.c - see report_set_json.h.
 *
 * Strangers' files: what a key should hold is asked for by its type, and what is not there, or is
 * something else, is left out.
 */
#include "symbolize/view/report_set_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_store.h"
#include "common/names/frame_class.h"
#include "common/base/text.h"

struct reading {
    struct ledger *ledger;
    json_t *item; /* a record, an error or a resource */
    struct record record;
};

bool ledger_json_begins(const char *path)
{
    FILE *file = fopen(path, "re");
    int first = ' ';

    while (file && (first == ' ' || first == '\t' || first == '\n' || first == '\r'))
        first = getc(file);
    if (file)
        fclose(file);
    return first == '{';
}

static const char *text_at(const json_t *object, const char *key, struct mem *mem)
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

/* A place in the table of words, from NULL words to `count`; 0 when there is no such word. */
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

/* Whose code it is a report does not say, but what is further in than the user's frame is not the
 * user's. */
static enum frame_role role_of(const struct frame *frame, bool inner)
{
    enum frame_role role = classify_frame(frame->module, frame->function, frame->file);

    return inner && role == FRAME_USER ? FRAME_WRAPPER : role;
}

static void read_frame(struct frame *frame, const json_t *from, bool inner, struct mem *mem)
{
    *frame = (struct frame){.function = text_at(from, "function", mem),
                            .file = text_at(from, "file", mem),
                            .line = (uint32_t)number_at(from, "line"),
                            .column = (uint32_t)number_at(from, "column"),
                            .module = text_at(from, "module", mem),
                            .build_id = text_at(from, "build_id", mem),
                            .offset = number_at(from, "offset"),
                            .has_offset = json_is_integer(json_object_get(from, "offset")),
                            .inlined = json_is_true(json_object_get(from, "inlined"))};
    frame->role = role_of(frame, inner);
}

static void read_frames(struct mem *mem, const json_t *item, struct record *record)
{
    json_t *from = json_object_get(item, "frames");
    size_t count = json_array_size(from), user = 0;
    struct frame *frames = arena_alloc_array(mem, count, sizeof(*frames));
    const struct frame **stack = arena_alloc_array(mem, count, sizeof(*stack));

    while (user < count && !json_is_true(json_object_get(json_array_get(from, user), "user")))
        user++;
    for (size_t i = 0; i < count; i++) {
        read_frame(&frames[i], json_array_get(from, i), user < count && i < user, mem);
        stack[i] = &frames[i];
    }
    record->frames = stack;
    record->frame_count = count;
    record->user = user;
    record->ending = LEAK_ROOT_COMPLETE; /* a report does not say */
}

/* ---- Records, errors, resources -------------------------------------------------------------- */

/* Of a merged report. */
static void read_seen(struct reading *reading)
{
    struct mem *mem = reading->ledger->mem;
    struct seen *seen = &reading->record.seen;
    json_t *hosts = json_object_get(reading->item, "on");

    seen->processes = number_at(reading->item, "processes");
    if (!seen->processes)
        return;
    seen->hosts = arena_alloc_array(mem, json_array_size(hosts), sizeof(*seen->hosts));
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const char *name = json_string_value(json_array_get(hosts, i));

        if (name)
            seen->hosts[seen->host_count++] = ledger_host(reading->ledger, name);
    }
}

static void read_amounts(struct reading *reading, const char *count)
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
    if (!record->last_ns) /* of an error */
        record->first_ns = record->last_ns = time_at(item, "time");
}

static void read_tags(struct reading *reading)
{
    struct mem *mem = reading->ledger->mem;
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

static struct ledger_entry *read_record(struct reading *reading)
{
    const char *word = json_string_value(json_object_get(reading->item, "verdict"));

    if (!word || json_is_string(json_object_get(reading->item, "suppressed_by")))
        return NULL;
    reading->record.verdict =
        (enum verdict)word_at(reading->item, "verdict", verdict_word, VERDICT_MAX);
    if (strcmp(word, verdict_word[reading->record.verdict]) != 0)
        return NULL;
    reading->record.kind = word_at(reading->item, "kind", kind_word, LEAK_KIND_MAX);
    read_amounts(reading, "blocks");
    read_tags(reading);
    return ledger_add_record(reading->ledger, &reading->record);
}

static struct ledger_entry *read_error(struct reading *reading)
{
    const char *type = json_string_value(json_object_get(reading->item, "type"));

    read_amounts(reading, "count");
    return type ? ledger_add_error(reading->ledger, &reading->record, type) : NULL;
}

static struct ledger_entry *read_resource(struct reading *reading)
{
    const char *type = json_string_value(json_object_get(reading->item, "type"));

    read_amounts(reading, "count");
    if (!type || json_is_true(json_object_get(reading->item, "once")))
        return NULL;
    return ledger_add_resource(reading->ledger, &reading->record, type);
}

static void read_each(struct ledger *ledger, const json_t *process, const char *key,
                      struct ledger_entry *(*read)(struct reading *reading))
{
    json_t *items = json_object_get(process, key);

    for (size_t i = 0; i < json_array_size(items); i++) {
        struct reading reading = {.ledger = ledger, .item = json_array_get(items, i)};
        struct ledger_entry *entry;

        if (!signature_at(reading.item, &reading.record.signature))
            continue;
        read_seen(&reading);
        entry = read(&reading);
        if (entry && !entry->record.frame_count)
            read_frames(ledger->mem, reading.item, &entry->record);
    }
}

static void read_all(struct ledger *ledger, const json_t *from)
{
    read_each(ledger, from, "records", read_record);
    read_each(ledger, from, "errors", read_error);
    read_each(ledger, from, "resources", read_resource);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static struct ledger_process process_at(const json_t *item, const char *host)
{
    json_int_t pid = json_integer_value(json_object_get(item, "pid"));
    const json_t *sampled = json_object_get(item, "sampled");
    const json_t *look = json_object_get(item, "snapshot");

    return (struct ledger_process){.host = host,
                                   .exe = json_string_value(json_object_get(item, "exe")),
                                   .pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0,
                                   .started_ns = time_at(item, "started"),
                                   .sampled =
                                       json_is_true(sampled) || number_at(sampled, "bytes") > 1,
                                   .look = (uint32_t)number_at(look, "milestone")};
}

static void read_processes(struct ledger *ledger, const json_t *report)
{
    json_t *processes = json_object_get(report, "processes");
    const char *host = json_string_value(json_object_get(report, "host"));

    for (size_t i = 0; i < json_array_size(processes); i++) {
        const json_t *item = json_array_get(processes, i);
        struct ledger_process process = process_at(item, host);

        if (ledger_begin_process(ledger, &process))
            read_all(ledger, item);
    }
}

/* What is summed up cannot be taken apart: when some of it was counted before, none is now. */
static const char *read_merged(struct ledger *ledger, const json_t *report)
{
    json_t *processes = json_object_get(report, "processes"), *item;
    struct ledger_process process;
    size_t again = 0, i;

    json_array_foreach(processes, i, item)
    {
        process = process_at(item, json_string_value(json_object_get(item, "host")));
        again += ledger_knows(ledger, &process);
    }
    if (again)
        return arena_format(ledger->mem,
                          "has %zu of the processes that were counted before: give the reports "
                          "that it was made of instead",
                          again);
    json_array_foreach(processes, i, item)
    {
        process = process_at(item, json_string_value(json_object_get(item, "host")));
        ledger_begin_process(ledger, &process);
    }
    read_all(ledger, report);
    return NULL;
}

const char *ledger_json_read(struct ledger *ledger, const char *path)
{
    json_error_t trouble;
    json_t *report = json_load_file(path, JSON_ALLOW_NUL, &trouble);
    const char *format = json_string_value(json_object_get(report, "format"));
    bool merged = format && strcmp(format, LEDGER_MERGED) == 0;
    const char *wrong = NULL;

    if (!report)
        wrong = arena_format(ledger->mem, "is no JSON: line %d: %s; write the report again",
                           trouble.line, trouble.text);
    else if (!format || (strcmp(format, "libleak") != 0 && !merged) ||
             !json_is_array(json_object_get(report, "processes")))
        wrong = "is JSON, but no report of libleak's (leakreport --format=json)";
    else if (json_integer_value(json_object_get(report, "version")) != 1)
        wrong = "is a libleak report of another version: write it with this leakreport";
    else if (merged)
        wrong = read_merged(ledger, report);
    else
        read_processes(ledger, report);
    json_decref(report);
    return wrong;
}
