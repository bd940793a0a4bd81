/* json_bad_frees.h - what was released wrongly, as JSON. */
#ifndef SYMBOLIZE_JSON_JSON_BAD_FREES_H
#define SYMBOLIZE_JSON_JSON_BAD_FREES_H

#include "common/encode/json_writer.h"
#include "common/model/model.h"

/* The keys of one, into an open object. */
void json_mistake(struct json *json, const struct mistake *mistake);

#endif
