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
    JSON_TYPE_TEXT,    /* const char *; NULL is null */
    JSON_TYPE_WORD,    /* enum; written as its word, unknown ones as null */
    JSON_TYPE_COUNT,   /* unsigned integer of any size */
    JSON_TYPE_INTEGER, /* int32_t or int64_t */
    JSON_TYPE_NUMBER,  /* double, four digits */
    JSON_TYPE_BOOLEAN, /* bool */
    JSON_TYPE_TIME,    /* uint64_t: ns since 1970; 0 is null */
    JSON_TYPE_ID,      /* uint64_t: 16 hex digits */
    JSON_TYPE_ADDRESS, /* uint64_t: "0x..." */
    JSON_TYPE_CONSTANT,
    JSON_TYPE_OBJECT, /* as the table has it */
    JSON_TYPE_LIST,   /* array of objects, or of texts where there is no table */
    JSON_TYPE_OTHER,  /* as `limits` says; put() writes it */
};

struct json_table;

struct json_field {
    const char *key; /* NULL: the fields of `table` follow in this object */
    enum json_type type;
    size_t offset, size;      /* of the member; a list: size of an element */
    size_t count;             /* offset of the length of a list, a size_t */
    size_t known, known_size; /* a member that is 0 when the value is unknown; size 0 = always */
    bool pointer;             /* the object, or each element, is given by its address */
    bool inside;              /* the array of a list is in the struct */
    bool null;                /* the schema allows null */
    bool zero;                /* 0 means unknown */
    bool optional;            /* an unknown value is left out instead of null */
    const char *const *words; /* of an enum, */
    size_t word_count;        /* NULL = not in use; of a constant: its only word */
    const struct json_table *table;
    /* A second condition for the value to be known, NULL = none. */
    bool (*known_if)(const struct json_writer *json, const void *object);
    /* Writes the member in place of the type's own code; the type is then for the schema. */
    void (*put)(struct json_writer *json, const char *key, const void *member);
    /* Members for the JSON schema, with ' in place of ". They replace the limits that follow from
     * the type. */
    const char *limits;
    const char *about;
};

struct json_table {
    const char *name; /* of its definition in the schema; NULL = described where it is used */
    const struct json_field *fields;
    size_t count;
    bool flat;          /* objects are on one line: there may be millions */
    const char *about;  /* or NULL */
    const char *schema; /* instead of that of an object, as json_field.limits; the fields only name
                           tables that it refers to */
};

/* ---- Rows: struct, key, member, attributes --------------------------------------------------- */

#define JSON_SIZE(s, m) sizeof(((const struct s *)0)->m)
#define JSON_MEMBER(s, k, t, m, ...)                                                               \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_##t, .offset = offsetof(struct s, m), .size = JSON_SIZE(s, m), \
        __VA_ARGS__                                                                                \
    }
/* The same, when the member has the type c; anything else is an error at compile time. */
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

/* Objects: the member is a struct; a pointer, NULL is null; or the object has members of the same
 * struct. */
#define JSON_PART(s, k, m, t, ...) JSON_MEMBER(s, k, OBJECT, m, .table = &(t), __VA_ARGS__)
#define JSON_POINTER(s, k, m, t, ...) JSON_PART(s, k, m, t, .pointer = true, __VA_ARGS__)
#define JSON_GROUP(k, t, ...)                                                                      \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_OBJECT, .table = &(t), __VA_ARGS__                             \
    }

/* The fields of another table in this object, all null while unknown. */
#define JSON_INCLUDE(s, m, t, ...) JSON_PART(s, NULL, m, t, __VA_ARGS__)
#define JSON_INCLUDE_POINTER(s, m, t, ...) JSON_POINTER(s, NULL, m, t, __VA_ARGS__)

/* Lists of `n` structs, of pointers to structs, and of texts. */
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

/* Written by a function, from the member or from the whole struct. */
#define JSON_PUT(s, k, t, m, f, ...) JSON_MEMBER(s, k, t, m, .put = f, __VA_ARGS__)
#define JSON_COMPUTED(k, t, f, ...)                                                                \
    {                                                                                              \
        .key = k, .type = JSON_TYPE_##t, .put = f, __VA_ARGS__                                     \
    }

/* Attributes. */
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

/* ---- Writing --------------------------------------------------------------------------------- */

/* Into an open object; NULL writes null for each. */
void json_write_fields(struct json_writer *json, const struct json_table *table,
                       const void *object);
void json_write_object(struct json_writer *json, const char *key, const struct json_table *table,
                       const void *object);

#endif
