/* json_writer.h - JSON tokens with commas, indentation and escapes in the right places.
 *
 * A key is NULL inside an array. Texts that are no valid UTF-8 are written byte by byte as \u00XX
 * and remembered in bytes_escaped.
 */
#ifndef COMMON_ENCODE_JSON_WRITER_H
#define COMMON_ENCODE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/hashmap.h"
#include "common/base/arena.h"

struct emit {
    FILE *stream;
    int depth;
    bool some;   /* the open object or array has a member already */
    bool flat;   /* everything on one line, for small objects there are millions of … */
    bool line;   /* … or always: each outermost object is a line */
    bool markup; /* it stands in a page: no text may close the element around it */
    bool bytes_escaped;
    struct mem *mem;    /* json_stack.c's: frames that were written before, */
    struct map written; /* by their address; see json_stack_end() */
};

void emit_open(struct emit *emit, const char *key, char bracket);     /* '{' or '[' */
void emit_close(struct emit *emit, char bracket);                     /* '}' or ']' */
void emit_text(struct emit *emit, const char *key, const char *text); /* NULL = null */
void emit_number(struct emit *emit, const char *key, uint64_t number);
/* The number, or null. */
void emit_known(struct emit *emit, const char *key, bool known, uint64_t number);
void emit_signed(struct emit *emit, const char *key, int64_t number);
void emit_fraction(struct emit *emit, const char *key, double fraction); /* 4 digits */
/* A value that was made before. */
void emit_made(struct emit *emit, const char *key, const char *text, size_t length);
void emit_bool(struct emit *emit, const char *key, bool value);
void emit_null(struct emit *emit, const char *key);
void emit_empty(struct emit *emit, const char *key);                     /* [] */
void emit_time(struct emit *emit, const char *key, uint64_t ns);         /* ISO 8601, 0 = null */
void emit_id(struct emit *emit, const char *key, uint64_t number);       /* 16 hex digits */
void emit_address(struct emit *emit, const char *key, uint64_t address); /* "0x..." */

#endif
