/* json_fields.h - tables of JSON fields: one table writes an object and describes it.
 *
 * A table has a row for each key, in the order of the output: the type, where the value is in the C
 * struct, when it is null, and what it means. json_write_object() writes a struct with it, and
 * make schema writes the JSON schema of the same tables (docs/), so reports
 * and their description agree.
 *
 *     static const struct json_field moment_fields[] = {
 *         JSON_TIME(moment, "t", time_ns),
 *         JSON_COUNT(moment, "live_bytes", bytes, JSON_ABOUT("what the program uses")),
 *     };
 *     const struct json_table json_moment = JSON_TABLE("moment", moment_fields);
 *
 * writes { "t": "2026-01-31T...", "live_bytes": 12 } for a struct moment.
 */
#ifndef COMMON_ENCODE_JSON_FIELDS_H
#define COMMON_ENCODE_JSON_FIELDS_H

#include <stddef.h>

#include "common/encode/json_writer.h"

enum json_type {
    JSON_TYPE_TEXT,    /* const char *; NULL is written as null */
    JSON_TYPE_WORD,    /* enum, written as words[value]; values beyond word_count are null */
    JSON_TYPE_COUNT,   /* unsigned integer of any size */
    JSON_TYPE_INTEGER, /* int32_t or int64_t */
    JSON_TYPE_NUMBER,  /* double, written with four significant digits */
    JSON_TYPE_BOOLEAN, /* bool */
    JSON_TYPE_TIME,    /* uint64_t: ns since 1970, written in ISO 8601; 0 is null */
    JSON_TYPE_ID,      /* uint64_t, written as 16 hex digits */
    JSON_TYPE_ADDRESS, /* uint64_t, written as "0x..." */
    JSON_TYPE_CONSTANT,
    JSON_TYPE_OBJECT, /* struct, whose fields `table` lists */
    JSON_TYPE_LIST,   /* array of objects if `table` is set, else of texts */
    JSON_TYPE_OTHER,  /* put() writes the value, and `limits` is its schema */
};

struct json_table;

struct json_field {
    const char *key; /* key in JSON; NULL: the fields of `table` become fields of this object */
    enum json_type type;
    size_t offset, size;      /* offset in the C struct and size of the member, in bytes; for a list
                               * size is that of one element */
    size_t count;             /* list: offset of the member with its length, a size_t */
    size_t known, known_size; /* offset and size of a member that is 0 when the value is unknown;
                               * known_size 0 = the value is always known */
    bool pointer;             /* the member, or each element of a list, is a pointer to the
                               * object */
    bool inside;              /* list: the array itself is in the struct, not a pointer to it */
    bool null;                /* the schema of the key allows null */
    bool zero;                /* the value 0 means unknown and is written as null */
    bool optional;            /* if the value is unknown the key is left out, not null */
    const char *const *words; /* words of an enum by value, or the one word of a constant */
    size_t word_count;        /* number of entries of words[] */
    const struct json_table *table;
    /* Says whether the value is known; NULL = only `known` and `zero` decide. */
    bool (*known_if)(const struct json_writer *json, const void *object);
    /* Writes the value. With a put(), `type` only describes the value in the schema. */
    void (*put)(struct json_writer *json, const char *key, const void *member);
    /* Members of the JSON schema with ' in place of ". They replace those that follow from
     * `type`. */
    const char *limits;
    const char *about;
};

struct json_table {
    const char *name; /* name of the object's definition in the schema; NULL = the schema
                       * describes the object where it is used */
    const struct json_field *fields;
    size_t count;
    bool flat;          /* an object is written on one line, since there may be millions */
    const char *about;  /* description for the schema, or NULL */
    const char *schema; /* if set, the whole schema of the object, written as json_field.limits;
                         * `fields` then only lists the tables that it refers to */
};

/* ---- Macros for rows of a table: struct s, key k, type t, member m, attributes ... ----------- */

#define JSON_SIZE(s, m) sizeof(((const struct s *)0)->m)
#define JSON_MEMBER(s, k, t, m, ...)                                                               \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_##t, .offset = offsetof(struct s, m), .size = JSON_SIZE(s, m), \
        __VA_ARGS__                                                                                \
    }
/* JSON_MEMBER for a member of C type c; a member of another type is an error at compile time. */
#define JSON_TYPED(s, k, t, m, c, ...)                                                             \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_##t, .offset = offsetof(struct s, m),                          \
        .size = _Generic(((const struct s *)0)->m, c                                               \
                         : sizeof(c)),                                                             \
        __VA_ARGS__                                                                                \
    }
#define JSON_TEXT(s, k, m, ...) JSON_TYPED(s, k, TEXT, m, const char *, __VA_ARGS__)
#define JSON_COUNT(s, k, m, ...)                                                                   \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_COUNT, .offset = offsetof(struct s, m),                        \
        .size = _Generic(((const struct s *)0)->m, uint32_t : 4, uint64_t : 8), __VA_ARGS__        \
    }
#define JSON_INTEGER(s, k, m, ...)                                                                 \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_INTEGER, .offset = offsetof(struct s, m),                      \
        .size = _Generic(((const struct s *)0)->m, int32_t : 4, int64_t : 8), __VA_ARGS__          \
    }
#define JSON_NUMBER(s, k, m, ...) JSON_TYPED(s, k, NUMBER, m, double, __VA_ARGS__)
#define JSON_BOOLEAN(s, k, m, ...) JSON_TYPED(s, k, BOOLEAN, m, bool, __VA_ARGS__)
#define JSON_TIME(s, k, m, ...) JSON_TYPED(s, k, TIME, m, uint64_t, .null = true, __VA_ARGS__)
#define JSON_ID(s, k, m, ...) JSON_TYPED(s, k, ID, m, uint64_t, __VA_ARGS__)
#define JSON_ADDRESS(s, k, m, ...) JSON_TYPED(s, k, ADDRESS, m, uint64_t, __VA_ARGS__)
#define JSON_WORD(s, k, m, w, n, ...)                                                              \
    JSON_MEMBER(s, k, WORD, m, .words = w, .word_count = n, __VA_ARGS__)
#define JSON_CONSTANT(k, w)                                                                        \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_CONSTANT, .words = (const char *const[]){w}, .word_count = 1   \
    }

/* Rows for objects. JSON_PART: the member is a struct; JSON_POINTER: it points to one, NULL is
 * null; JSON_GROUP: the fields of the object are members of the struct s itself. */
#define JSON_PART(s, k, m, t, ...) JSON_MEMBER(s, k, OBJECT, m, .table = &(t), __VA_ARGS__)
#define JSON_POINTER(s, k, m, t, ...) JSON_PART(s, k, m, t, .pointer = true, __VA_ARGS__)
#define JSON_GROUP(k, t, ...)                                                                      \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_OBJECT, .table = &(t), __VA_ARGS__                             \
    }

/* Puts all fields of another table into this object; all are null while the member is unknown. */
#define JSON_INCLUDE(s, m, t, ...) JSON_PART(s, NULL, m, t, __VA_ARGS__)
#define JSON_INCLUDE_POINTER(s, m, t, ...) JSON_POINTER(s, NULL, m, t, __VA_ARGS__)

/* Rows for lists of structs, of pointers to structs, and of texts. The member n of struct s has the
 * number of elements. */
#define JSON_LENGTH(s, n) _Generic(((const struct s *)0)->n, size_t : offsetof(struct s, n))
#define JSON_LIST(s, k, m, n, t, ...)                                                              \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_LIST, .offset = offsetof(struct s, m),                         \
        .size = sizeof(*((const struct s *)0)->m), .count = JSON_LENGTH(s, n), .table = &(t),      \
        __VA_ARGS__                                                                                \
    }
#define JSON_LIST_OF_POINTERS(s, k, m, n, t, ...)                                                  \
    JSON_LIST(s, k, m, n, t, .pointer = true, __VA_ARGS__)
#define JSON_TEXTS(s, k, m, n, ...)                                                                \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_LIST, .offset = offsetof(struct s, m), .size = sizeof(char *), \
        .count = JSON_LENGTH(s, n), .pointer = true, __VA_ARGS__                                   \
    }

/* Rows whose value a function writes: JSON_PUT passes it the member, JSON_COMPUTED the whole
 * struct. */
#define JSON_PUT(s, k, t, m, f, ...) JSON_MEMBER(s, k, t, m, .put = f, __VA_ARGS__)
#define JSON_COMPUTED(k, t, f, ...)                                                                \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_##t, .put = f, __VA_ARGS__                                     \
    }

/* Attributes of a key, as last arguments of a row such as JSON_COUNT(...). */
#define JSON_MAY_BE_NULL .null = true
#define JSON_NULL_IF_0 .null = true, .zero = true
#define JSON_KNOWN_BY(s, m)                                                                        \
    .null = true, .known = offsetof(struct s, m), .known_size = JSON_SIZE(s, m)
#define JSON_KNOWN_IF(f) .null = true, .known_if = f
#define JSON_OPTIONAL .optional = true
#define JSON_LIMITS(l) .limits = l
#define JSON_ABOUT(a) .about = a

#define JSON_TABLE(n, f, ...)                                                                      \
    {                                                                                              \
        .name = n, .fields = f, .count = sizeof(f) / sizeof(*(f)), __VA_ARGS__                     \
    }

/* ---- Writing objects ------------------------------------------------------------------------- */

/* Writes all fields of a struct into an object that is open. object NULL: each key is null. */
void json_write_fields(struct json_writer *json, const struct json_table *table,
                       const void *object);
void json_write_object(struct json_writer *json, const char *key, const struct json_table *table,
                       const void *object);

#endif
