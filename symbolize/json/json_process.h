/* json_process.h - what is said of a process beside its records, errors and resources, as JSON. */
#ifndef SYMBOLIZE_JSON_JSON_PROCESS_H
#define SYMBOLIZE_JSON_JSON_PROCESS_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* "tool": what writes this. */
void json_tool(struct json *json);

/* "suppressions": rules that fit nothing, and those that have expired. */
void json_suppressions(struct json *json, const struct report *report);

/* "summary": the totals of each verdict. */
void json_summary(struct json *json, const struct process *process);

/* The keys before those three, and the keys after them; into an open object. */
void json_process_head(struct json *json, const struct process *process);
void json_process_rest(struct json *json, const struct process *process);

#endif
