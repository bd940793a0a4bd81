/* json_writer.h - writes JSON tokens with commas, indentation and escapes.
 *
 * The key is NULL inside an array. If a text is no valid UTF-8, each of its bytes beyond ASCII
 * becomes \u00XX, and bytes_escaped is set. Characters that leak_escape.h does not show become
 * \uXXXX. */
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
    bool some;   /* the open object or array has a member, so a comma must precede the next */
    bool flat;   /* the value is written on one line, without line breaks inside */
    bool line;   /* each outermost object is one line (NDJSON) */
    bool dense;  /* no blanks after commas and colons */
    bool markup; /* the JSON stands in an HTML page: no text may close the surrounding element */
    bool bytes_escaped;
    const void *context; /* data for put() and known_if() of struct json_field */
    /* Cache of json_parts.c: the text of each frame written before, by the frame's address;
     * json_stack_end() frees it. */
    struct arena *mem;
    struct hashmap written;
    bool frame_table; /* a stack is written as indices of frames, which json_put_frame_table()
                       * writes once at the end */
    const struct frame_text **frame_texts;
    size_t frame_count, frame_capacity;
};

/* Begins an object ('{') or an array ('['). */
void json_open(struct json_writer *json, const char *key, char bracket);
/* Ends the object ('}') or the array (']') that is open. */
void json_close(struct json_writer *json, char bracket);
/* Writes a text as a JSON string, NULL as null. */
void json_put_text(struct json_writer *json, const char *key, const char *text);
void json_put_number(struct json_writer *json, const char *key, uint64_t number);
void json_put_signed(struct json_writer *json, const char *key, int64_t number);
/* Writes a number with four significant digits. */
void json_put_fraction(struct json_writer *json, const char *key, double fraction);
/* Writes a text that is a JSON value already, without a change. */
void json_put_raw(struct json_writer *json, const char *key, const char *text, size_t length);
void json_put_bool(struct json_writer *json, const char *key, bool value);
void json_put_null(struct json_writer *json, const char *key);
/* Writes a time in ISO 8601, 0 as null. */
void json_put_time(struct json_writer *json, const char *key, uint64_t ns);
/* Writes a number as 16 hex digits. */
void json_put_id(struct json_writer *json, const char *key, uint64_t number);
/* Writes an address as "0x...". */
void json_put_address(struct json_writer *json, const char *key, uint64_t address);

#endif
