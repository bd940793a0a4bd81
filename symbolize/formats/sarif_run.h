/* sarif_run.h - what a run of SARIF says beside its results. Into an open run. */
#ifndef SYMBOLIZE_FORMATS_SARIF_RUN_H
#define SYMBOLIZE_FORMATS_SARIF_RUN_H

#include "common/encode/json_writer.h"
#include "common/view/format_api.h"

void sarif_tool(struct json *json);

/* Where relative paths begin, when there is such a place. */
void sarif_base(struct json *json, const struct view *view);

/* Notes; and that so many results were left out. */
void sarif_invocation(struct json *json, const struct report *report, uint64_t left);

#endif
