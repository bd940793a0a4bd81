/* field_values.c - see types.h. */
#include "symbolize/types/types.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MOST 8 /* of an array that are shown */
#define TEXT_MOST 40    /* characters of a text */
#define VALUE_SIZE 256

/* A sample's content while its fields are written. */
struct content {
    const uint8_t *bytes;
    size_t length;
};

/* ---- Contents of other samples --------------------------------------------------------------- */

/* The sample that begins at an address; NULL = none with content. */
static const struct leak_sample *find_sample(struct types *types, uint64_t address)
{
    const struct store_leak_check *look = types->store->look;
    uint64_t at;

    for (size_t i = 0; !types->contents.used && i < look->sample_count; i++)
        *hashmap_put(&types->contents, look->samples[i].address, NULL) = i + 1;
    at = hashmap_get(&types->contents, address);
    return at && look->samples[at - 1].content.count ? &look->samples[at - 1] : NULL;
}

/* ---- One value ------------------------------------------------------------------------------- */

static uint64_t read_number(const uint8_t *bytes, uint64_t size)
{
    uint64_t number = 0;

    memcpy(&number, bytes, size < sizeof(number) ? size : sizeof(number));
    return number;
}

static int64_t extend_sign(uint64_t number, unsigned bits)
{
    return bits && bits < 64 ? (int64_t)(number << (64 - bits)) >> (64 - bits) : (int64_t)number;
}

/* "abc", with "…" where the content ends before the text does. */
static void write_text(const uint8_t *bytes, size_t length, bool whole, char value[VALUE_SIZE])
{
    size_t at = 0, used = 1;

    value[0] = '"';
    while (at < length && at < TEXT_MOST && bytes[at]) {
        unsigned char byte = bytes[at++];

        used += (size_t)snprintf(value + used, VALUE_SIZE - used,
                                 byte == '"' || byte == '\\' ? "\\%c"
                                 : isprint(byte)             ? "%c"
                                                             : "\\x%02x",
                                 byte);
    }
    snprintf(value + used, VALUE_SIZE - used, "\"%s",
             (at == length && !whole) || (at == TEXT_MOST && at < length) ? "…" : "");
}

static void write_pointer(struct types *types, const struct named_field *field, uint64_t number,
                          char value[VALUE_SIZE])
{
    const struct leak_sample *target;

    if (!number) {
        snprintf(value, VALUE_SIZE, "NULL");
        return;
    }
    target = field->text ? find_sample(types, number) : NULL;
    if (target)
        write_text(types->store->look->contents + target->content.first, target->content.count,
                   target->content.count == target->size, value);
    else
        snprintf(value, VALUE_SIZE, "0x%" PRIx64, number);
}

static void write_float(const uint8_t *bytes, uint64_t size, char value[VALUE_SIZE])
{
    double number = 0;
    float single;

    if (size == sizeof(single)) {
        memcpy(&single, bytes, sizeof(single));
        number = (double)single;
    } else if (size == sizeof(number)) {
        memcpy(&number, bytes, sizeof(number));
    }
    snprintf(value, VALUE_SIZE, "%g", number);
}

/* One element of a field. */
static void write_element(struct types *types, struct binary *binary,
                          const struct named_field *field, const uint8_t *bytes,
                          char value[VALUE_SIZE])
{
    uint64_t number = read_number(bytes, field->size);
    unsigned bits = field->bit_size ? field->bit_size : (unsigned)field->size * 8;
    const char *name;

    if (field->bit_size && field->bit_offset < 64)
        number = number >> field->bit_offset & (~0ull >> (64 - field->bit_size));
    switch (field->form) {
    case FIELD_SIGNED:
        snprintf(value, VALUE_SIZE, "%" PRId64, extend_sign(number, bits));
        break;
    case FIELD_BOOL:
        snprintf(value, VALUE_SIZE, "%s", number == 0 ? "false" : number == 1 ? "true" : "?");
        break;
    case FIELD_CHAR:
        snprintf(value, VALUE_SIZE, number < 128 && isprint((int)number) ? "'%c'" : "%u",
                 (unsigned)number);
        break;
    case FIELD_FLOAT:
        write_float(bytes, field->size, value);
        break;
    case FIELD_POINTER:
        write_pointer(types, field, number, value);
        break;
    case FIELD_ENUM:
        name = binary_find_enumerator(binary, field->id, extend_sign(number, bits));
        if (name)
            snprintf(value, VALUE_SIZE, "%.200s", name);
        else
            snprintf(value, VALUE_SIZE, "%" PRId64, extend_sign(number, bits));
        break;
    default:
        snprintf(value, VALUE_SIZE, "%" PRIu64, number);
    }
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* "{1, 2, 3, …}" */
static void write_array(struct types *types, struct binary *binary, const struct named_field *field,
                        const struct content *content, char value[VALUE_SIZE])
{
    const uint8_t *bytes = content->bytes + field->offset;
    size_t left = content->length - field->offset, used = 1;
    uint64_t shown = 0;
    char one[VALUE_SIZE];

    value[0] = '{';
    for (; shown < field->count && shown < ELEMENTS_MOST && left >= field->size; shown++) {
        write_element(types, binary, field, bytes, one);
        if (used + strlen(one) + 16 > VALUE_SIZE)
            break;
        used += (size_t)snprintf(value + used, VALUE_SIZE - used, "%s%s", shown ? ", " : "", one);
        bytes += field->size;
        left -= field->size;
    }
    snprintf(value + used, VALUE_SIZE - used, "%s}",
             shown == field->count ? ""
             : shown               ? ", …"
                                   : "…");
}

/* False: the content ends before the field. */
static bool write_field(struct types *types, struct binary *binary, const struct named_field *field,
                        const struct content *content, char value[VALUE_SIZE])
{
    size_t left;

    if (!field->size || field->size > sizeof(uint64_t) || field->form == FIELD_BYTES ||
        field->offset >= content->length)
        return false;
    left = content->length - field->offset;
    if (field->form == FIELD_CHAR && field->size == 1 && field->count != 1) {
        size_t length = field->count && field->count < left ? field->count : left;

        write_text(content->bytes + field->offset, length, length == field->count, value);
        return true;
    }
    if (field->count != 1) {
        write_array(types, binary, field, content, value);
        return true;
    }
    if (left < field->size)
        return false;
    write_element(types, binary, field, content->bytes + field->offset, value);
    return true;
}

static const char *copy_of(struct types *types, const char *text)
{
    return arena_copy(types->mem, text, strlen(text));
}

static void fill_sample(struct types *types, const struct site_type *of, struct sample *sample)
{
    struct named_field fields[TYPE_FIELDS_MOST];
    size_t at = of->type->at < sample->length ? (size_t)of->type->at : sample->length;
    struct content content = {sample->content + at, sample->length - at};
    size_t count = content.length ? types_fields(of->binary, of->id, fields) : 0;
    struct field_value *values = arena_alloc_array(types->mem, count, sizeof(*values));
    char value[VALUE_SIZE];

    for (size_t i = 0; i < count; i++)
        if (*fields[i].name && write_field(types, of->binary, &fields[i], &content, value))
            values[sample->field_count++] =
                (struct field_value){.name = copy_of(types, fields[i].name),
                                     .type = copy_of(types, fields[i].type),
                                     .offset = at + fields[i].offset,
                                     .value = copy_of(types, value)};
    sample->fields = values;
}

static bool share_has_sample(const struct store_leak_check *look, const struct share *share,
                             uint64_t address)
{
    const struct store_found *found = &look->found[share->found];

    for (uint32_t i = 0; i < found->sample_count; i++)
        if (look->samples[found->sample + i].address == address)
            return true;
    return false;
}

void types_fill_fields(struct types *types, const struct share *shares, size_t count,
                       struct record *record)
{
    const struct store_leak_check *look = types->store->look;

    for (size_t i = 0; i < record->sample_count; i++)
        for (size_t k = 0; k < count; k++) {
            const struct site_type *of;

            if (shares[k].found == STORE_NONE ||
                !share_has_sample(look, &shares[k], record->samples[i].address))
                continue;
            of = types_of_share(types, &shares[k]);
            if (of->type)
                fill_sample(types, of, (struct sample *)&record->samples[i]);
            break;
        }
}
