/* json_fields.c - writes C structs as JSON objects, each as its table of fields says. */
#include "common/encode/json_fields.h"

#include <string.h>

static bool is_zero(const void *member, size_t size)
{
    const char *bytes = member;

    while (size && !bytes[size - 1])
        size--;
    return !size;
}

static const void *load_pointer(const void *member)
{
    return *(const void *const *)member;
}

static uint64_t load_count(const void *member, size_t size)
{
    uint64_t count = 0;

    memcpy(&count, member, size); /* works since all supported CPUs store the low byte first */
    return count;
}

static bool is_known(const struct json_writer *json, const struct json_field *field,
                     const void *object)
{
    const char *member;

    if (!object ||
        (field->known_size && is_zero((const char *)object + field->known, field->known_size)))
        return false;
    member = (const char *)object + field->offset;
    if (field->known_if && !field->known_if(json, object))
        return false;
    if (field->type == JSON_TYPE_OBJECT && field->pointer)
        return load_pointer(member) != NULL;
    return !field->zero || !is_zero(member, field->size);
}

static void write_list(struct json_writer *json, const struct json_field *field, const void *object)
{
    const char *member = (const char *)object + field->offset;
    size_t count = *(const size_t *)((const char *)object + field->count);
    const char *element = field->inside ? member : load_pointer(member);

    json_open(json, field->key, '[');
    for (size_t i = 0; i < count; i++, element += field->size) {
        const void *item = field->pointer ? load_pointer(element) : element;

        if (field->table)
            json_write_object(json, NULL, field->table, item);
        else
            json_put_text(json, NULL, item);
    }
    json_close(json, ']');
}

static void write_value(struct json_writer *json, const struct json_field *field,
                        const void *object)
{
    const void *member = (const char *)object + field->offset;
    uint64_t word;

    switch (field->type) {
    case JSON_TYPE_TEXT:
        json_put_text(json, field->key, load_pointer(member));
        break;
    case JSON_TYPE_WORD:
        word = load_count(member, field->size);
        json_put_text(json, field->key, word < field->word_count ? field->words[word] : NULL);
        break;
    case JSON_TYPE_COUNT:
        json_put_number(json, field->key, load_count(member, field->size));
        break;
    case JSON_TYPE_INTEGER:
        json_put_signed(json, field->key,
                        field->size == 4 ? *(const int32_t *)member : *(const int64_t *)member);
        break;
    case JSON_TYPE_NUMBER:
        json_put_fraction(json, field->key, *(const double *)member);
        break;
    case JSON_TYPE_BOOLEAN:
        json_put_bool(json, field->key, *(const bool *)member);
        break;
    case JSON_TYPE_TIME:
        json_put_time(json, field->key, *(const uint64_t *)member);
        break;
    case JSON_TYPE_ID:
        json_put_id(json, field->key, *(const uint64_t *)member);
        break;
    case JSON_TYPE_ADDRESS:
        json_put_address(json, field->key, *(const uint64_t *)member);
        break;
    case JSON_TYPE_CONSTANT:
        json_put_text(json, field->key, field->words[0]);
        break;
    case JSON_TYPE_OBJECT:
        json_write_object(json, field->key, field->table,
                          field->pointer ? load_pointer(member) : member);
        break;
    case JSON_TYPE_LIST:
        write_list(json, field, object);
        break;
    case JSON_TYPE_OTHER:
        break;
    }
}

static void write_field(struct json_writer *json, const struct json_field *field,
                        const void *object)
{
    bool known = is_known(json, field, object);
    const void *member = known ? (const char *)object + field->offset : NULL;

    if (!field->key)
        json_write_fields(json, field->table,
                          known && field->pointer ? load_pointer(member) : member);
    else if (known && field->put)
        field->put(json, field->key, member);
    else if (known)
        write_value(json, field, object);
    else if (!field->optional)
        json_put_null(json, field->key);
}

void json_write_fields(struct json_writer *json, const struct json_table *table, const void *object)
{
    for (size_t i = 0; i < table->count; i++)
        write_field(json, &table->fields[i], object);
}

void json_write_object(struct json_writer *json, const char *key, const struct json_table *table,
                       const void *object)
{
    bool flat = json->flat;

    json_open(json, key, '{');
    json->flat |= table->flat;
    json_write_fields(json, table, object);
    json_close(json, '}');
    json->flat = flat;
}
