/* json_crash.h - the crash of a process, as one of its errors. */
#ifndef SYMBOLIZE_JSON_JSON_CRASH_H
#define SYMBOLIZE_JSON_JSON_CRASH_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* Its keys, into an open object. */
void json_crash(struct json *json, const struct crash *crash);

#endif
