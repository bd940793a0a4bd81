/* json.h - writes the report as JSON, or as NDJSON, one JSON object a line.
 *
 * Both formats write the whole model; every key is always present, except those that are optional
 * in the schema. An unknown value is null; a list for which nothing was recorded is empty. A line
 * of NDJSON is an object: the report, a process, a record, an error or a resource. Its key "line"
 * has the kind of the object, "process" the index of its process, and the other keys are those of
 * the schema. The line of a process comes before those of its records.
 *
 * Tables of fields write the objects (json_fields.h), and docs/schema.json is made of the same
 * tables: after a change "make schema" writes it anew.
 */
#ifndef SYMBOLIZE_JSON_JSON_H
#define SYMBOLIZE_JSON_JSON_H

#include "common/encode/json_fields.h"
#include "common/view/format_api.h"

void json_write(const struct report *report, const struct view *view, FILE *stream);
void ndjson_write(const struct report *report, const struct view *view, FILE *stream);

/* The data that functions of the tables need besides the object that they write;
 * json_writer.context points to it. */
struct json_context {
    const struct process *process;
    const struct view *view;
    size_t index; /* index of the process in the report */
    const struct group_by_table *by;
};

static inline const struct json_context *json_context_of(const struct json_writer *json)
{
    return json->context;
}

/* Tables of fields: each writes one struct of the model as a JSON object. */
extern const struct json_table json_report; /* writes a struct report */
/* writes a struct process: the keys before "records" */
extern const struct json_table json_process_head;
/* writes a struct process: the keys after "resources" */
extern const struct json_table json_process_tail;
extern const struct json_table json_record;   /* writes a struct record */
extern const struct json_table json_resource; /* writes a struct resource */
extern const struct json_table json_error;    /* writes a struct json_error */
extern const struct json_table json_rule;     /* writes a struct rule */
extern const struct json_table json_total;    /* writes a struct verdict_total */
/* writes a struct process: the sum of each verdict */
extern const struct json_table json_summary;

/* Adds a member with the sampling error of a sum. Its value is null when the process was not
 * sampled, because the numbers are exact. */
extern const struct json_table json_estimate; /* writes a struct error */
#define JSON_ESTIMATE(s, m, ...)                                                                   \
    JSON_PART(s, "error", m, json_estimate, JSON_KNOWN_IF(json_is_sampled), __VA_ARGS__)
bool json_is_sampled(const struct json_writer *json, const void *object);

/* Members that records of several formats have, and the tables of their objects. */
extern const struct json_table json_retained; /* writes a struct verdict_total */
extern const struct json_table json_tag;      /* writes a struct tag_sum */
#define JSON_RETAINED(s, m)                                                                        \
    JSON_PART(s, "retained", m, json_retained, JSON_KNOWN_BY(s, m.blocks),                         \
              JSON_ABOUT("What fixing this record releases, itself included: what is reached "     \
                         "through it alone. null: unknown"))
#define JSON_TAGS(s, m, n, ...)                                                                    \
    JSON_LIST(s, "tags", m, n, json_tag,                                                           \
              JSON_ABOUT("What was allocated under a tag of the program, the largest first "       \
                         "(libleak_tag_push); the rest has none"),                                 \
              __VA_ARGS__)
void json_put_record_frames(struct json_writer *json, const char *key, const void *record);

/* ---- Objects of the list "errors" ------------------------------------------------------------ */

/* A stack of a bad free, and the name of the function that was called. form: NULL = there was no
 * such call, or it is unknown. */
struct json_trace {
    const char *form;
    struct stack stack;
};

struct json_error {
    const char *type;
    uint64_t signature;
    uint64_t address, size;
    int64_t offset;
    bool has_address, has_size, has_offset;
    const char *pool, *to_pool;
    struct thread_ref thread;
    uint64_t time_ns, count;
    struct json_trace allocated, freed, freed_again;
    const struct crash *crash;
    struct stack stack;
};

struct json_error json_error_of_bad_free(const struct bad_free *mistake);
struct json_error json_error_of_crash(const struct crash *crash);

/* ---- Objects of the leak check --------------------------------------------------------------- */

extern const struct json_table json_leak_check; /* writes a struct leak_check */
extern const struct json_table json_milestone;  /* writes a struct milestone */
extern const struct json_table json_owner;      /* writes a struct owner */
/* describes an array of steps, which json_put_path() writes */
extern const struct json_table json_path;
extern const struct json_table json_sample; /* writes a struct sample */

/* Write a path as an array, and as one text. The member must be a const struct path *, not NULL. */
void json_put_path(struct json_writer *json, const char *key, const void *path);
void json_put_path_words(struct json_writer *json, const char *key, const void *path);

#endif
