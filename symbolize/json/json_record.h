/* json_record.h - records and resources as JSON. */
#ifndef SYMBOLIZE_JSON_JSON_RECORD_H
#define SYMBOLIZE_JSON_JSON_RECORD_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* "error": how far off sums over the process may be; null when they are exact. */
void json_error(struct json *json, const struct process *process, const struct error *error);

/* "retained": what would go with it; null when it is not known. */
void json_retained(struct json *json, const struct record *record);

/* "tags": what of it was allocated under tags of the program's. */
void json_tags(struct json *json, const struct record *record);

/* The keys of one, into an open object. */
void json_record(struct json *json, const struct process *process, const struct record *record);
void json_resource(struct json *json, const struct resource *resource);

#endif
