/* json_leak_check.c - writes the leak check, paths, owners and sample blocks; described in
 * json.h. */
#include "symbolize/json/json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "leak_store.h"
#include "common/encode/encode.h"
#include "common/view/json_parts.h"

static void put_milliseconds(struct json_writer *json, const char *key, const void *ns)
{
    json_put_fraction(json, key, (double)*(const uint64_t *)ns / 1e6);
}

#define MILLISECONDS(k, m, about)                                                                  \
    JSON_PUT(leak_check, k, NUMBER, m, put_milliseconds, JSON_KNOWN_BY(leak_check, timed),         \
             JSON_LIMITS("'minimum': 0"), JSON_ABOUT(about))

static const struct json_field leak_check_fields[] = {
    JSON_TIME(leak_check, "when", when_ns),
    JSON_TEXT(
        leak_check, "rung", rung, JSON_LIMITS("'enum': ['parked', 'unstopped', 'none']"),
        JSON_ABOUT("How the process was held: parked, all threads stopped; unstopped, threads "
                   "ran, and only what two snapshots agree on is lost; none, the leak check "
                   "was impossible, and trouble says why")),
    JSON_TEXT(leak_check, "occasion", occasion, JSON_MAY_BE_NULL, JSON_ABOUT("when, in words")),
    JSON_TEXT(leak_check, "trouble", trouble, JSON_MAY_BE_NULL),
    MILLISECONDS("pause_ms", pause_ns, "the threads were stopped; null: left out by --stable"),
    MILLISECONDS("check_ms", check_ns, "the leak check took"),
    JSON_COUNT(leak_check, "threads_parked", threads_parked),
    JSON_COUNT(leak_check, "threads_missed", threads_missed),
    JSON_COUNT(leak_check, "skipped", skipped,
               JSON_ABOUT("periodic leak checks left out so far because of pause_budget")),
    JSON_COUNT(leak_check, "unreadable_pages", unreadable,
               JSON_ABOUT("pages that the program has made unreadable, at most 255: read as zeros "
                          "unless the option unreadable is set")),
    JSON_COUNT(leak_check, "milestone", milestone, JSON_NULL_IF_0, JSON_LIMITS("'minimum': 1"),
               JSON_ABOUT("its number among the milestones; null: it was not requested")),
};

const struct json_table json_leak_check = JSON_TABLE(
    "snapshot", leak_check_fields,
    JSON_ABOUT("The last leak check, which the verdicts come from. null: none was attempted. "
               "Younger blocks are unfreed."));

static const struct json_field milestone_fields[] = {
    JSON_COUNT(milestone, "number", number),
    JSON_TIME(milestone, "time", time_ns),
    JSON_TEXT(milestone, "mark", name, JSON_MAY_BE_NULL,
              JSON_ABOUT("its name; null: that of a requested leak check")),
};

const struct json_table json_milestone = JSON_TABLE("milestone", milestone_fields, .flat = true);

/* ---- Paths ----------------------------------------------------------------------------------- */

static const struct json_field root_fields[] = {
    JSON_TEXT(root, "root", words, JSON_ABOUT("its name, for people")),
    JSON_WORD(root, "class", class, root_class_word, LEAK_ROOT_CLASS_MAX, JSON_MAY_BE_NULL),
    JSON_TEXT(root, "variable", variable, JSON_MAY_BE_NULL),
    JSON_TEXT(root, "function", function, JSON_MAY_BE_NULL,
              JSON_ABOUT("stacks: the function whose frame has the word; globals and tls: the "
                         "function whose static variable it is")),
    JSON_TEXT(root, "file", file, JSON_MAY_BE_NULL),
    JSON_COUNT(root, "line", line, JSON_NULL_IF_0),
    JSON_TEXT(root, "module", module, JSON_MAY_BE_NULL),
    JSON_COUNT(root, "thread", thread.serial, JSON_NULL_IF_0, JSON_LIMITS("'minimum': 1"),
               JSON_ABOUT("serial")),
    JSON_COUNT(root, "offset", offset, JSON_KNOWN_BY(root, has_offset),
               JSON_ABOUT("of the word in the variable; where that is unknown, in the module or "
                          "mapping")),
};

static const struct json_table root_table =
    JSON_TABLE("root", root_fields, .flat = true,
               JSON_ABOUT("A word outside the heap that points to blocks."));

static const struct json_field step_frame_fields[] = {
    JSON_TEXT(frame, "function", function, JSON_MAY_BE_NULL),
    JSON_TEXT(frame, "file", file, JSON_MAY_BE_NULL),
    JSON_COUNT(frame, "line", line, JSON_NULL_IF_0),
};

static const struct json_table step_frame_table = JSON_TABLE(NULL, step_frame_fields);

static const struct json_field step_fields[] = {
    JSON_COUNT(path_step, "offset", offset),
    JSON_COUNT(path_step, "into", into),
    JSON_COUNT(path_step, "size", size),
    JSON_INCLUDE_POINTER(path_step, frame, step_frame_table),
    JSON_ID(path_step, "signature", signature, JSON_KNOWN_BY(path_step, known)),
    JSON_TEXT(path_step, "word", word, JSON_MAY_BE_NULL,
              JSON_ABOUT("the word at offset in the source: a member of the step before")),
    JSON_TEXT(path_step, "type", type, JSON_MAY_BE_NULL,
              JSON_ABOUT("of the block; of an array, that of an element")),
};

static const struct json_table step_table = JSON_TABLE(
    "step", step_fields, .flat = true,
    JSON_ABOUT("The word at offset of the block before (of the root: 0) points to a block "
               "of size bytes, into bytes behind its start, which function allocated and "
               "the record with that signature contains."));

static const struct json_field skipped_fields[] = {
    JSON_COUNT(path, "skipped", skipped, JSON_LIMITS("'minimum': 1")),
};

static const struct json_table skipped_table =
    JSON_TABLE("skipped", skipped_fields, .flat = true,
               JSON_ABOUT("so many steps of a long path are left out here"));

static const struct json_field path_fields[] = {
    JSON_GROUP("root", root_table),
    JSON_GROUP("step", step_table),
    JSON_GROUP("skipped", skipped_table),
};

const struct json_table json_path = JSON_TABLE(
    "path", path_fields,
    JSON_ABOUT(
        "The shortest way from a root to a block: the root, then the steps, of which the last "
        "one reaches the block itself."),
    .schema = "'type': 'array', 'minItems': 1, 'items': [{'$ref': '#/definitions/root'}], "
              "'additionalItems': {'anyOf': [{'$ref': '#/definitions/step'}, "
              "{'$ref': '#/definitions/skipped'}]}");

static void write_json_path(struct json_writer *json, const char *key, const struct root *root,
                            const struct path *path)
{
    json_open(json, key, '[');
    json_write_object(json, NULL, &root_table, root);
    for (size_t i = 0; path && i < path->count; i++) {
        if (path->skipped && i == path->skipped_at)
            json_write_object(json, NULL, &skipped_table, path);
        json_write_object(json, NULL, &step_table, &path->steps[i]);
    }
    json_close(json, ']');
}

void json_put_path(struct json_writer *json, const char *key, const void *member)
{
    const struct path *path = *(const struct path *const *)member;

    write_json_path(json, key, path->root, path);
}

void json_put_path_words(struct json_writer *json, const char *key, const void *member)
{
    const struct path *path = *(const struct path *const *)member;

    json_put_text(json, key, path && path->named == path->count ? path->words : NULL);
}

static void put_owner_path(struct json_writer *json, const char *key, const void *object)
{
    const struct owner *owner = object;

    write_json_path(json, key, owner->path ? owner->path->root : owner->root, owner->path);
}

static const struct json_field owner_root_fields[] = {
    JSON_TEXT(root, "root", words),
};

static const struct json_table owner_root_table = JSON_TABLE(NULL, owner_root_fields);

static const struct json_field owner_fields[] = {
    JSON_INCLUDE_POINTER(owner, root, owner_root_table),
    JSON_COUNT(owner, "bytes", bytes),
    JSON_COUNT(owner, "blocks", blocks),
    JSON_COMPUTED("path", OBJECT, put_owner_path, .table = &json_path,
                  JSON_ABOUT("to the largest record whose path begins here; at least the root")),
    JSON_PUT(owner, "path_words", TEXT, path, json_put_path_words, JSON_KNOWN_BY(owner, path),
             JSON_ABOUT("as of a record")),
    JSON_GROWTH(
        owner, "growth", growth,
        JSON_ABOUT("Growth of what it keeps, by the stacks whose blocks it keeps: nine "
                   "tenths of their blocks, which are nine tenths of what it keeps. null: "
                   "there are none, their series are unknown, or it lived too short a time")),
};

const struct json_table json_owner =
    JSON_TABLE("owner", owner_fields,
               JSON_ABOUT("Roots of one name, and what the shortest paths reach from them"));

/* ---- Samples --------------------------------------------------------------------------------- */

static void put_sample_serial(struct json_writer *json, const char *key, const void *object)
{
    const struct sample *sample = object;
    char serial[64];

    snprintf(serial, sizeof(serial), "T%" PRIu32 "#%" PRIu32, sample->thread.serial, sample->count);
    json_put_text(json, key, serial);
}

static void put_content(struct json_writer *json, const char *key, const void *object)
{
    const struct sample *sample = object;
    size_t size = 4 * sample->length + 1;
    char *text = malloc(size);

    if (text)
        hex_line(sample->content, sample->length, text, size);
    json_put_text(json, key, text);
    free(text);
}

static const struct json_field sample_fields[] = {
    JSON_ADDRESS(sample, "address", address, JSON_NULL_IF_0),
    JSON_COUNT(sample, "size", size),
    JSON_COMPUTED("serial", TEXT, put_sample_serial, JSON_LIMITS("'pattern': '^T[0-9]+#[0-9]+$'"),
                  JSON_ABOUT("thread, and n-th allocation of that thread")),
    JSON_TEXT(sample, "thread", thread.name, JSON_MAY_BE_NULL, JSON_ABOUT("its name")),
    JSON_TIME(sample, "time", time_ns),
    JSON_COMPUTED("content", TEXT, put_content, JSON_KNOWN_BY(sample, length),
                  JSON_ABOUT("its first bytes, with --content or -v; unprintable ones are \\xNN, a "
                             "backslash is \\\\")),
};

const struct json_table json_sample = JSON_TABLE(
    "sample", sample_fields, .flat = true,
    JSON_ABOUT("One block. With --stable address and time are null, and content where it "
               "may contain addresses."));
