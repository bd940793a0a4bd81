/* json_by.h - the object "by" of a process; see by.h. */
#ifndef SYMBOLIZE_JSON_BY_H
#define SYMBOLIZE_JSON_BY_H

#include "symbolize/emit.h"
#include "symbolize/report.h"

void json_by(struct emit *emit, const struct process *process, const struct view *view);

#endif
