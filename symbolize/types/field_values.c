/* field_values.c - writes the values of the fields of sample blocks; described in types.h. */
#include "symbolize/types/types.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MOST 8 /* number of elements of an array that are written */
#define TEXT_MOST 40    /* number of characters of a string that are written */
#define VALUE_SIZE 256

/* The content of a sample block while its fields are written. */
struct content {
    uint64_t address; /* address of the first byte in the program */
    const uint8_t *bytes;
    size_t length;
};

/* ---- Finding the content of another sample block --------------------------------------------- */

/* Returns the sample block that begins at an address; NULL = there is none, or its content is
 * unknown. */
static const struct leak_sample *find_sample(struct types *types, uint64_t address)
{
    const struct store_leak_check *look = types->store->look;
    bool known = types->contents.used;
    uint64_t at;

    for (size_t i = 0; !known && i < look->sample_count; i++)
        *hashmap_put(&types->contents, look->samples[i].address, NULL) = i + 1;
    at = hashmap_get(&types->contents, address);
    return at && look->samples[at - 1].content.count ? &look->samples[at - 1] : NULL;
}

/* ---- Writing one value ----------------------------------------------------------------------- */

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

/* Writes a string as "abc"; with "…" behind it when it is cut: after TEXT_MOST characters, or where
 * the known content of the block ends. whole: `bytes` are the whole field, so the string is not cut
 * at their end. */
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
             (at < length ? bytes[at] != 0 : !whole) ? "…" : "");
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

/* ---- Writing a whole field ------------------------------------------------------------------- */

/* Writes the elements of an array as "{1, 2, 3, …}". */
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

/* Writes the value of a field. False: the content of the sample ends before the field. */
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

/* ---- Objects of libstdc++ -------------------------------------------------------------------- */

/* Says whether the field is the member `member` of an object. *prefix: the length of the object's
 * name in the name of the field, with its '.'. */
static bool is_member(const struct named_field *field, const char *member, size_t *prefix)
{
    size_t length = strlen(field->name), of_member = strlen(member);

    if (length < of_member || strcmp(field->name + length - of_member, member) != 0)
        return false;
    *prefix = length - of_member;
    return !*prefix || field->name[*prefix - 1] == '.';
}

/* Counts the fields, beginning with fields[0], that are members of the same libstdc++ object.
 * prefix: length of the object's name in the names of the fields. */
static size_t count_members(const struct named_field *fields, size_t count, size_t prefix)
{
    size_t members = 1;

    while (members < count && strncmp(fields[members].name, fields->name, prefix) == 0 &&
           strncmp(fields[members].name + prefix, "_M_", 3) == 0)
        members++;
    return members;
}

static uint64_t word_at(const struct content *content, uint64_t offset)
{
    return offset + sizeof(uint64_t) <= content->length
               ? read_number(content->bytes + offset, sizeof(uint64_t))
               : 0;
}

static void write_characters(struct types *types, const struct content *content, uint64_t address,
                             uint64_t length, char value[VALUE_SIZE])
{
    const struct leak_sample *target;
    uint64_t offset = address - content->address;

    if (address >= content->address && offset < content->length) {
        uint64_t left = content->length - offset;

        write_text(content->bytes + offset, length < left ? length : left, length <= left, value);
        return;
    }
    target = find_sample(types, address);
    if (target)
        write_text(types->store->look->contents + target->content.first,
                   length < target->content.count ? length : target->content.count,
                   length <= target->content.count, value);
    else
        snprintf(value, VALUE_SIZE, "%" PRIu64 " characters at 0x%" PRIx64, length, address);
}

/* Writes a std::string, which has a pointer and a length. Returns the number of fields that belong
 * to the string; 0: the fields are no std::string. */
static size_t write_string(struct types *types, const struct named_field *fields, size_t count,
                           const struct content *content, char value[VALUE_SIZE])
{
    size_t prefix, length_prefix;

    if (count < 2 || !fields[0].text || !is_member(&fields[0], "_M_p", &prefix) ||
        !is_member(&fields[1], "_M_string_length", &length_prefix) || prefix != length_prefix ||
        fields[1].offset + sizeof(uint64_t) > content->length)
        return 0;
    write_characters(types, content, word_at(content, fields[0].offset),
                     word_at(content, fields[1].offset), value);
    return count_members(fields, count, prefix);
}

/* Writes a std::vector, which has three pointers. Returns their number; 0: the fields are no
 * std::vector. */
static size_t write_vector(const struct named_field *fields, size_t count,
                           const struct content *content, char value[VALUE_SIZE])
{
    size_t prefix, finish_prefix, end_prefix;
    uint64_t start, finish, end;

    if (count < 3 || !is_member(&fields[0], "_M_start", &prefix) ||
        !is_member(&fields[1], "_M_finish", &finish_prefix) || finish_prefix != prefix ||
        !is_member(&fields[2], "_M_end_of_storage", &end_prefix) || end_prefix != prefix ||
        fields[2].offset + sizeof(uint64_t) > content->length)
        return 0;
    start = word_at(content, fields[0].offset);
    finish = word_at(content, fields[1].offset);
    end = word_at(content, fields[2].offset);
    if (finish < start || end < finish)
        return 0;
    if (!start)
        snprintf(value, VALUE_SIZE, "{}");
    else
        snprintf(value, VALUE_SIZE, "%" PRIu64 " of %" PRIu64 " bytes used at 0x%" PRIx64,
                 finish - start, end - start, start);
    return 3;
}

/* Writes a reference count in the control block of std::shared_ptr as use_count() would return it.
 * All shared_ptrs together hold one weak reference, which is subtracted from the weak count. False:
 * the field is no such count. */
static bool write_count(const struct named_field *field, const struct content *content,
                        char name[TYPE_FIELD_NAME_SIZE], char value[VALUE_SIZE])
{
    size_t prefix;
    bool weak = is_member(field, "_M_weak_count", &prefix);
    int32_t count, used = 0;

    if ((!weak && !is_member(field, "_M_use_count", &prefix)) || field->size != sizeof(count) ||
        field->offset + sizeof(count) > content->length)
        return false;
    memcpy(&count, content->bytes + field->offset, sizeof(count));
    if (weak && field->offset >= sizeof(used))
        memcpy(&used, content->bytes + field->offset - sizeof(used), sizeof(used));
    snprintf(name, TYPE_FIELD_NAME_SIZE, "%.*s%s", (int)prefix, field->name,
             weak ? "weak_count" : "use_count");
    snprintf(value, VALUE_SIZE, "%" PRId64, (int64_t)count - (used != 0));
    return true;
}

/* Writes the fields at the beginning of `fields` as one object of libstdc++. Returns how many
 * fields belong to the object, 0: they are no such object. name: is set to the name of the
 * object. */
static size_t write_object(struct types *types, const struct named_field *fields, size_t count,
                           const struct content *content, char name[TYPE_FIELD_NAME_SIZE],
                           char value[VALUE_SIZE])
{
    size_t members = write_string(types, fields, count, content, value);
    const char *end;

    if (!members)
        members = write_vector(fields, count, content, value);
    end = members ? strrchr(fields->name, '.') : NULL;
    snprintf(name, TYPE_FIELD_NAME_SIZE, "%.*s", end ? (int)(end - fields->name) : 0, fields->name);
    return end ? members : 0;
}

/* ---- Filling in the samples of a record ------------------------------------------------------ */

static const char *copy_of(struct types *types, const char *text)
{
    return arena_copy(types->mem, text, strlen(text));
}

static const char *object_type(const struct named_field *first)
{
    return first->text ? "std::string" : "std::vector";
}

static void fill_sample(struct types *types, const struct site_type *of, struct sample *sample)
{
    struct named_field fields[TYPE_FIELDS_MOST];
    size_t at = of->type->at < sample->length ? (size_t)of->type->at : sample->length;
    struct content content = {sample->address + at, sample->content + at, sample->length - at};
    size_t count = content.length ? types_fields(of->binary, of->id, fields) : 0;
    struct field_value *values = arena_alloc_array(types->mem, count, sizeof(*values));
    char value[VALUE_SIZE], name[TYPE_FIELD_NAME_SIZE];

    for (size_t i = 0, members; i < count; i += members) {
        members = write_object(types, &fields[i], count - i, &content, name, value);
        if (!members && write_count(&fields[i], &content, name, value))
            members = 1;
        else if (!members && *fields[i].name &&
                 write_field(types, of->binary, &fields[i], &content, value))
            snprintf(name, sizeof(name), "%s", fields[i].name);
        else if (!members)
            *name = 0;
        members += !members;
        if (*name)
            values[sample->field_count++] = (struct field_value){
                .name = copy_of(types, name),
                .type = copy_of(types, members > 1 ? object_type(&fields[i]) : fields[i].type),
                .offset = at + fields[i].offset,
                .value = copy_of(types, value)};
    }
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
