/* json.h - the JSON report (docs/schema.json), and the same as lines (NDJSON).
 *
 * Both formats write the whole model; every key is always present. What is unknown is null, and a
 * list that nothing was recorded for is empty. A line of NDJSON is an object: the report, a
 * process, a record, an error or a resource. Its key "line" says which, "process" is the index of
 * its process, and the other keys are those of the schema. A process comes before its parts.
 *
 * The functions below write the keys of one object into an open object, or one member whose key
 * their comment names. NULL is written as null.
 */
#ifndef SYMBOLIZE_JSON_JSON_H
#define SYMBOLIZE_JSON_JSON_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

void json_write(const struct report *report, const struct view *view, FILE *stream);
void ndjson_write(const struct report *report, const struct view *view, FILE *stream);

/* ---- The report and its processes ------------------------------------------------------------ */

/* "bytes", "blocks" and "records" of a sum. */
void json_total(struct json_writer *json, const struct verdict_total *total);

/* "tool": name and version of this program. */
void json_tool(struct json_writer *json);

/* "suppressions": rules that match nothing, and expired rules. */
void json_suppressions(struct json_writer *json, const struct report *report);

/* "summary": the totals of each verdict. */
void json_summary(struct json_writer *json, const struct process *process);

/* The keys before "records", "errors" and "resources", and the keys after them. */
void json_process_head(struct json_writer *json, const struct process *process);
void json_process_tail(struct json_writer *json, const struct process *process);

/* ---- Records and resources ------------------------------------------------------------------- */

void json_record(struct json_writer *json, const struct process *process,
                 const struct record *record);
void json_resource(struct json_writer *json, const struct resource *resource);

/* "error": the sampling error of a sum; null when the numbers are exact. */
void json_error(struct json_writer *json, const struct process *process, const struct error *error);

/* "retained": what freeing the record would release; null when unknown. */
void json_retained(struct json_writer *json, const struct record *record);

/* "tags": sums of the record for each tag of the program. */
void json_tags(struct json_writer *json, const struct record *record);

/* ---- Errors ---------------------------------------------------------------------------------- */

void json_bad_free(struct json_writer *json, const struct bad_free *mistake);
void json_crash(struct json_writer *json, const struct crash *crash);

/* ---- The leak check -------------------------------------------------------------------------- */

void json_leak_check(struct json_writer *json, const char *key, const struct leak_check *look);
void json_path(struct json_writer *json, const char *key, const struct path *path);

/* "milestones" and "owners". */
void json_milestones(struct json_writer *json, const struct process *process);
void json_owners(struct json_writer *json, const struct process *process);

/* An element of "samples". */
void json_sample(struct json_writer *json, const struct sample *sample);

#endif
