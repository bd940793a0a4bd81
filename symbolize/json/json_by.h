/* json_by.h - the object "by" of a process; see group_by.h. */
#ifndef SYMBOLIZE_JSON_JSON_BY_H
#define SYMBOLIZE_JSON_JSON_BY_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

void json_by(struct json *json, const struct process *process, const struct view *view);

#endif
