/* json.h - the whole model as JSON, every key always there (docs/schema.json). */
#ifndef SYMBOLIZE_JSON_JSON_H
#define SYMBOLIZE_JSON_JSON_H

#include "common/view/format_api.h"

void json_write(const struct report *report, const struct view *view, FILE *stream);

#endif
