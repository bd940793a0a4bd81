/* strbuf.h - building and reading short texts without stdio, locale or memory.
 *
 * A text is a window on the caller's buffer: what does not fit is cut, always NUL-terminated.
 * Pure functions: callable anywhere.
 */
#ifndef PRELOAD_BASE_STRBUF_H
#define PRELOAD_BASE_STRBUF_H

#include "preload/base/base.h"

struct text {
    char *bytes;
    size_t size, length; /* length < size */
    bool cut;            /* something did not fit */
};

#define TEXT_ON(buffer) text_on((buffer), sizeof(buffer))

struct text text_on(char *buffer, size_t size);
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_number(struct text *text, uint64_t number);
void text_add_hex(struct text *text, uint64_t number); /* 0x… */
void text_add_time(struct text *text, uint64_t ns);    /* as text_read_time takes it; ms at least */
void text_add_signed(struct text *text, int64_t number);
void text_add_descriptor(struct text *text, int fd); /* as a path of this process */

bool text_starts(const char *string, const char *prefix);
/* Decimal or 0x hex, the whole of [string, string + length); false when it is anything else. */
bool text_read_number(const char *string, size_t length, uint64_t *out);
/* Hex digits as they come, *at behind them. */
uint64_t text_take_hex(const char **at);
/* Like text_read_number, with an optional k, m or g (powers of 1024). */
bool text_read_size(const char *string, size_t length, uint64_t *out);
/* Nanoseconds: a whole number of ms, s, m or h; without a unit of seconds. */
bool text_read_time(const char *string, size_t length, uint64_t *out);

/* "fd,thread" or "none": a bit for each word of a list, by its place in words (place 0 has no
 * word). False: there is another word in it. */
bool text_read_set(const char *list, size_t length, const char *const *words, size_t count,
                   uint32_t *out);

#endif
