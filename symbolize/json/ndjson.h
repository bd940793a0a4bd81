/* ndjson.h - the JSON report as lines: an object for the report, each process, record, error and
 * resource, for programs that read one at a time.
 *
 * "line" says what a line is, "process" the how-manieth its process is; else the keys are those of
 * docs/schema.json. A process comes before what belongs to it.
 */
#ifndef SYMBOLIZE_JSON_NDJSON_H
#define SYMBOLIZE_JSON_NDJSON_H

#include "common/view/format_api.h"

void ndjson_write(const struct report *report, const struct view *view, FILE *stream);

#endif
