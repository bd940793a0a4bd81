/* json_schema.c - see json_schema.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/top/json_schema.h"

#define TABLES_MOST 100

/* What the schema says of a scalar type, unless the row says more. */
static const struct {
    const char *type, *limits;
} scalar[] = {
    [JSON_TYPE_TEXT] = {"string", NULL},
    [JSON_TYPE_COUNT] = {"integer", "'minimum': 0"},
    [JSON_TYPE_INTEGER] = {"integer", NULL},
    [JSON_TYPE_NUMBER] = {"number", NULL},
    [JSON_TYPE_BOOLEAN] = {"boolean", NULL},
    [JSON_TYPE_TIME] = {NULL, "'$ref': '#/definitions/time'"},
    [JSON_TYPE_ID] = {"string", "'pattern': '^[0-9a-f]{16}$'"},
    [JSON_TYPE_ADDRESS] = {"string", "'pattern': '^0x[0-9a-f]+$'"},
};

/* Members in the notation of json_field.limits. */
static void put_limits(struct json_writer *json, const char *limits)
{
    char *text = strdup(limits);

    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    json_put_raw(json, NULL, text, strlen(text));
    free(text);
}

static bool is_nullable(const struct json_field *field)
{
    return field->null && !field->optional;
}

static void put_type(struct json_writer *json, const char *type, bool null)
{
    if (!null) {
        json_put_text(json, "type", type);
        return;
    }
    json_open(json, "type", '[');
    json_put_text(json, NULL, type);
    json_put_text(json, NULL, "null");
    json_close(json, ']');
}

static void put_reference(struct json_writer *json, const char *name)
{
    char path[100];

    snprintf(path, sizeof(path), "#/definitions/%s", name);
    json_put_text(json, "$ref", path);
}

static void put_required(struct json_writer *json, const struct json_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *field = &table->fields[i];

        if (!field->key)
            put_required(json, field->table);
        else if (!field->optional)
            json_put_text(json, NULL, field->key);
    }
}

static void put_field(struct json_writer *json, const struct json_field *field);

static void put_properties(struct json_writer *json, const struct json_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].key)
            put_field(json, &table->fields[i]);
        else
            put_properties(json, table->fields[i].table);
}

/* The members of the schema of an object. */
static void put_object(struct json_writer *json, const struct json_table *table, bool null)
{
    if (table->about)
        json_put_text(json, "description", table->about);
    if (table->schema) {
        put_limits(json, table->schema);
        return;
    }
    put_type(json, "object", null);
    json_put_bool(json, "additionalProperties", false);
    json_open(json, "required", '[');
    json->flat = true;
    put_required(json, table);
    json_close(json, ']');
    json->flat = false;
    json_open(json, "properties", '{');
    put_properties(json, table);
    json_close(json, '}');
}

/* An object that is described elsewhere, or here. */
static void put_object_or_reference(struct json_writer *json, const struct json_table *table,
                                    bool null)
{
    if (!table->name) {
        put_object(json, table, null);
        return;
    }
    if (!null) {
        put_reference(json, table->name);
        return;
    }
    json_open(json, "anyOf", '[');
    json_open(json, NULL, '{');
    put_reference(json, table->name);
    json_close(json, '}');
    json_open(json, NULL, '{');
    json_put_text(json, "type", "null");
    json_close(json, '}');
    json_close(json, ']');
}

static void put_words(struct json_writer *json, const struct json_field *field)
{
    json_open(json, "enum", '[');
    for (size_t i = 0; i < field->word_count; i++)
        if (field->words[i])
            json_put_text(json, NULL, field->words[i]);
    if (is_nullable(field))
        json_put_null(json, NULL);
    json_close(json, ']');
}

static void put_list(struct json_writer *json, const struct json_field *field)
{
    put_type(json, "array", is_nullable(field));
    json_open(json, "items", '{');
    if (field->table)
        put_object_or_reference(json, field->table, false);
    else if (field->words)
        put_words(json, field);
    else
        json_put_text(json, "type", "string");
    json_close(json, '}');
}

static void put_field(struct json_writer *json, const struct json_field *field)
{
    const char *limits = field->limits;
    bool flat = json->flat;

    json_open(json, field->key, '{');
    json->flat = !field->table || field->table->name;
    if (field->about)
        json_put_text(json, "description", field->about);
    switch (field->type) {
    case JSON_TYPE_OTHER:
        break;
    case JSON_TYPE_OBJECT:
        put_object_or_reference(json, field->table, is_nullable(field));
        break;
    case JSON_TYPE_LIST:
        put_list(json, field);
        break;
    case JSON_TYPE_WORD:
        put_words(json, field);
        break;
    case JSON_TYPE_CONSTANT:
        json_put_text(json, "const", field->words[0]);
        break;
    default:
        limits = limits ? limits : scalar[field->type].limits;
        if (scalar[field->type].type)
            put_type(json, scalar[field->type].type, is_nullable(field));
    }
    if (limits)
        put_limits(json, limits);
    json_close(json, '}');
    json->flat = flat;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

struct tables {
    const struct json_table *at[TABLES_MOST];
    size_t count;
};

/* Adds the named tables that it uses, each before those that use it. */
static void collect_tables(struct tables *tables, const struct json_table *table, bool referred)
{
    for (size_t i = 0; referred && table->name && i < tables->count; i++)
        if (!strcmp(tables->at[i]->name, table->name))
            return;
    for (size_t i = 0; i < table->count; i++)
        if (table->fields[i].table)
            collect_tables(tables, table->fields[i].table, table->fields[i].key != NULL);
    if (referred && table->name && tables->count < TABLES_MOST)
        tables->at[tables->count++] = table;
}

void json_schema_write(const struct json_table *document, const char *title, FILE *stream)
{
    struct json_writer json = {.stream = stream};
    struct tables tables = {.count = 0};

    collect_tables(&tables, document, false);
    json_open(&json, NULL, '{');
    json_put_text(&json, "$schema", "http://json-schema.org/draft-07/schema#");
    json_put_text(&json, "title", title);
    put_object(&json, document, false);
    json_open(&json, "definitions", '{');
    json_open(&json, "time", '{');
    put_type(&json, "string", true);
    put_limits(&json, "'pattern': "
                      "'^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\.[0-9]{3}Z$'");
    json_put_text(&json, "description", "ISO 8601, UTC; null when unknown or left out by --stable");
    json_close(&json, '}');
    for (size_t i = 0; i < tables.count; i++) {
        json_open(&json, tables.at[i]->name, '{');
        put_object(&json, tables.at[i], false);
        json_close(&json, '}');
    }
    json_close(&json, '}');
    json_close(&json, '}');
}
