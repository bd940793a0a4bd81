/* json_leak_check.h - what a look at the heap says, as JSON: the look itself, paths, owners,
 * samples. */
#ifndef SYMBOLIZE_JSON_JSON_LEAK_CHECK_H
#define SYMBOLIZE_JSON_JSON_LEAK_CHECK_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* NULL is null. */
void json_look(struct json *json, const char *key, const struct look *look);
void json_path(struct json *json, const char *key, const struct path *path);

void json_milestones(struct json *json, const struct process *process);
void json_owners(struct json *json, const struct process *process);
void json_sample(struct json *json, const struct sample *sample);

#endif
