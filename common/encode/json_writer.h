/* json_writer.h - writes JSON tokens with commas, indentation and escapes.
 *
 * The key is NULL inside an array. Each byte of a text that is no valid UTF-8 becomes \u00XX, and
 * bytes_escaped records it; so does each character that leak_escape.h does not show, which a reader
 * of JSON gets back as it was.
 */
#ifndef COMMON_ENCODE_JSON_WRITER_H
#define COMMON_ENCODE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/hashmap.h"
#include "common/base/arena.h"

struct json_writer {
    FILE *stream;
    int depth;
    bool some;   /* the open object or array already has a member */
    bool flat;   /* everything on one line: for small objects that occur by the million */
    bool line;   /* each outermost object is one line */
    bool markup; /* inside an HTML page: no text may close the surrounding element */
    bool bytes_escaped;
    const void *context;    /* of the functions in tables of fields; see json_fields.h */
    struct arena *mem;      /* json_parts.c's: the text of frames written before, */
    struct hashmap written; /* by their address; see json_stack_end() */
};

void json_open(struct json_writer *json, const char *key, char bracket);         /* '{' or '[' */
void json_close(struct json_writer *json, char bracket);                         /* '}' or ']' */
void json_put_text(struct json_writer *json, const char *key, const char *text); /* NULL = null */
void json_put_number(struct json_writer *json, const char *key, uint64_t number);
void json_put_signed(struct json_writer *json, const char *key, int64_t number);
void json_put_fraction(struct json_writer *json, const char *key, double fraction); /* 4 digits */
/* A value that is JSON already. */
void json_put_raw(struct json_writer *json, const char *key, const char *text, size_t length);
void json_put_bool(struct json_writer *json, const char *key, bool value);
void json_put_null(struct json_writer *json, const char *key);
void json_put_time(struct json_writer *json, const char *key, uint64_t ns); /* ISO 8601, 0 = null */
void json_put_id(struct json_writer *json, const char *key, uint64_t number); /* 16 hex digits */
void json_put_address(struct json_writer *json, const char *key, uint64_t address); /* "0x..." */

#endif
