/* json.h - a glance as a JSON document on a line of its own; docs/top.schema.json is its form. */
#ifndef TOP_JSON_H
#define TOP_JSON_H

#include "top/lines.h"

void json_write(const struct glance *glance, const struct listing_options *options, FILE *stream);

#endif
