/* json_schema.h - JSON schemas (draft 7) from the tables of json_fields.h: make schema. */
#ifndef TESTS_UNIT_TOP_JSON_SCHEMA_H
#define TESTS_UNIT_TOP_JSON_SCHEMA_H

#include "common/encode/json_fields.h"

/* The schema of a document, with a definition of each named table that it uses. */
void json_schema_write(const struct json_table *document, const char *title, FILE *stream);

#endif
