/* test_schema.c - docs/ has the JSON schemas of the tables that write the reports.
 *
 * SCHEMA=rewrite (make schema) writes them anew. Run from the root of the tree.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/compare/compare.h"
#include "symbolize/json/json.h"
#include "tests/unit/suite.h"
#include "tests/unit/top/json_schema.h"

extern const struct json_table json_snapshot; /* top/listing_formats.c */

static const struct schema {
    const char *path, *title;
    const struct json_table *table;
} schemas[] = {
    {"docs/schema.json", "libleak report, version 1", &json_report},
    {"docs/merged.schema.json", "merged libleak reports, version 1", &json_merge},
    {"docs/top.schema.json", "one refresh of leaktop, version 1", &json_snapshot},
};

static void write_schema(const struct schema *schema)
{
    FILE *stream = fopen(schema->path, "w");

    ck_assert_msg(stream != NULL, "cannot write %s", schema->path);
    json_schema_write(schema->table, schema->title, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

/* Writes the path of the first member that differs; false: there is none. */
static bool find_difference(const json_t *made, const json_t *found, char *path, size_t size)
{
    size_t length = strlen(path);
    const char *key;
    json_t *value;

    if (!json_is_object(made) || !json_is_object(found))
        return !json_equal(made, found);
    json_object_foreach((json_t *)made, key, value)
    {
        snprintf(path + length, size - length, "/%s", key);
        if (find_difference(value, json_object_get(found, key), path, size))
            return true;
    }
    json_object_foreach((json_t *)found, key, value)
    {
        snprintf(path + length, size - length, "/%s", key);
        if (!json_object_get(made, key))
            return true;
    }
    path[length] = '\0';
    return false;
}

START_TEST(the_schema_in_docs_is_that_of_the_tables)
{
    const struct schema *schema = &schemas[_i];
    char *text, path[500] = "";
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    json_error_t error;
    json_t *made, *found;

    if (getenv("SCHEMA") && !strcmp(getenv("SCHEMA"), "rewrite"))
        write_schema(schema);
    json_schema_write(schema->table, schema->title, stream);
    fclose(stream);
    made = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(made != NULL, "the schema made is no JSON: %s at line %d", error.text,
                  error.line);
    found = json_load_file(schema->path, 0, &error);
    ck_assert_msg(found != NULL, "%s: %s", schema->path, error.text);
    ck_assert_msg(!find_difference(made, found, path, sizeof(path)),
                  "%s: %s differs from the table of fields; \"make schema\" writes it anew",
                  schema->path, path);
    json_decref(made);
    json_decref(found);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schema");
    TCase *tables = tcase_create("tables");

    tcase_add_loop_test(tables, the_schema_in_docs_is_that_of_the_tables, 0, ROWS(schemas));
    suite_add_tcase(suite, tables);
    return suite_run(suite);
}
