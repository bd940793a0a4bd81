/* ledger_json.c - see ledger_json.h.
 *
 * Strangers' files: what a key should hold is asked for by its type, and what is not there, or is
 * something else, is left out.
 */
#include "symbolize/ledger_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct ledger *ledger;
    json_t *item; /* a record, an error or a resource */
    uint64_t signature;
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

    return json_is_string(text) ? mem_copy(mem, json_string_value(text), json_string_length(text))
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

/* The user's frame, or the first. */
static const struct frame *title_of(const struct reading *reading)
{
    struct mem *mem = reading->ledger->mem;
    json_t *frames = json_object_get(reading->item, "frames"), *found = json_array_get(frames, 0);
    struct frame *title;

    for (size_t i = 0; i < json_array_size(frames); i++)
        if (json_is_true(json_object_get(json_array_get(frames, i), "user"))) {
            found = json_array_get(frames, i);
            break;
        }
    if (!found)
        return NULL;
    title = mem_take(mem, sizeof(*title));
    *title = (struct frame){.function = text_at(found, "function", mem),
                            .file = text_at(found, "file", mem),
                            .line = (uint32_t)number_at(found, "line"),
                            .module = text_at(found, "module", mem),
                            .offset = number_at(found, "offset"),
                            .has_offset = json_is_integer(json_object_get(found, "offset"))};
    return title;
}

static void read_record(const struct reading *reading)
{
    const char *word = json_string_value(json_object_get(reading->item, "verdict"));

    if (!word || json_is_string(json_object_get(reading->item, "suppressed_by")))
        return;
    for (int v = 0; v < VERDICT_MAX; v++)
        if (strcmp(word, verdict_word[v]) == 0)
            ledger_add_record(reading->ledger, reading->signature, (enum verdict)v,
                              number_at(reading->item, "bytes"), number_at(reading->item, "blocks"),
                              title_of(reading));
}

static void read_error(const struct reading *reading)
{
    const char *type = text_at(reading->item, "type", reading->ledger->mem);

    if (type)
        ledger_add_error(reading->ledger, reading->signature, type,
                         number_at(reading->item, "count"), title_of(reading));
}

static void read_resource(const struct reading *reading)
{
    const char *type = text_at(reading->item, "type", reading->ledger->mem);

    if (type && !json_is_true(json_object_get(reading->item, "once")))
        ledger_add_resource(reading->ledger, reading->signature, type,
                            number_at(reading->item, "count"), title_of(reading));
}

static void read_each(struct ledger *ledger, const json_t *process, const char *key,
                      void (*read)(const struct reading *reading))
{
    json_t *items = json_object_get(process, key);
    struct reading reading = {.ledger = ledger};

    for (size_t i = 0; i < json_array_size(items); i++) {
        reading.item = json_array_get(items, i);
        if (signature_at(reading.item, &reading.signature))
            read(&reading);
    }
}

const char *ledger_json_read(struct ledger *ledger, const char *path)
{
    json_error_t trouble;
    json_t *report = json_load_file(path, JSON_ALLOW_NUL, &trouble);
    const char *format = json_string_value(json_object_get(report, "format"));
    json_t *processes = json_object_get(report, "processes");
    const char *wrong = NULL;

    if (!report)
        wrong = mem_format(ledger->mem, "is no JSON: line %d: %s", trouble.line, trouble.text);
    else if (!format || strcmp(format, "libleak") != 0 || !json_is_array(processes))
        wrong = "is JSON, but no report of libleak's (leakreport --format=json)";
    else if (json_integer_value(json_object_get(report, "version")) != 1)
        wrong = "is a libleak report of another version";
    for (size_t i = 0; !wrong && i < json_array_size(processes); i++) {
        const json_t *process = json_array_get(processes, i);

        read_each(ledger, process, "records", read_record);
        read_each(ledger, process, "errors", read_error);
        read_each(ledger, process, "resources", read_resource);
    }
    json_decref(report);
    return wrong;
}
