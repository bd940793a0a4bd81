/* strbuf.h - builds and reads short strings without stdio, locale or memory.
 *
 * A string buffer is a window on the caller's memory: what does not fit is cut, and the string is
 * always NUL-terminated. Pure functions, callable anywhere.
 */
#ifndef PRELOAD_BASE_STRBUF_H
#define PRELOAD_BASE_STRBUF_H

#include "preload/base/base.h"

struct strbuf {
    char *bytes;
    size_t size, length; /* length < size */
    bool cut;            /* something did not fit */
};

#define STRBUF_ON(buffer) strbuf_on((buffer), sizeof(buffer))

struct strbuf strbuf_on(char *buffer, size_t size);
void strbuf_add(struct strbuf *text, const char *string);
/* Adds foreign text in the form that leak_escape.h describes. */
void strbuf_add_shown(struct strbuf *text, const char *string);
/* Several strings, which end with NULL. */
void strbuf_add_all(struct strbuf *text, ...) __attribute__((sentinel));
void strbuf_add_bytes(struct strbuf *text, const char *bytes, size_t length);
void strbuf_add_number(struct strbuf *text, uint64_t number);
void strbuf_add_hex(struct strbuf *text, uint64_t number); /* 0x… */
void strbuf_add_time(struct strbuf *text, uint64_t ns);    /* as parse_time reads it; ms at least */
void strbuf_add_fd_path(struct strbuf *text, int fd);      /* /proc/self/fd/N */

/* What follows the last slash, or all of the path. */
const char *path_file_name(const char *path);
bool starts_with(const char *string, const char *prefix);
/* Is the string of that length the word? */
bool equals_word(const char *string, size_t length, const char *word);
/* 0 and 1, off and on, no and yes, false and true; false: anything else. */
bool parse_bool(const char *string, size_t length, bool *out);
/* Decimal or 0x hex, the whole of [string, string + length); false when it is anything else. */
bool parse_number(const char *string, size_t length, uint64_t *out);
/* Reads as many hex digits as there are, and moves *at behind them. */
uint64_t parse_hex(const char **at);
/* Parses a size: a number with an optional k, m or g (powers of 1024). */
bool parse_size(const char *string, size_t length, uint64_t *out);
/* Nanoseconds: a whole number of ms, s, m or h, without a unit of seconds. */
bool parse_time(const char *string, size_t length, uint64_t *out);
/* "fd,thread" or "none": sets a bit for each word of the list, by its index in words (index 0 holds
 * no word). False: the list contains another word. */
bool parse_word_set(const char *list, size_t length, const char *const *words, size_t count,
                    uint32_t *out);

#endif
