/* strbuf.h - builds and parses short strings without stdio, locale or allocated memory.
 *
 * A string buffer writes into memory of the caller. Text that does not fit is cut, and the string
 * is always NUL-terminated. The functions have no state and may be called anywhere, also in signal
 * handlers.
 */
#ifndef PRELOAD_BASE_STRBUF_H
#define PRELOAD_BASE_STRBUF_H

#include "preload/base/base.h"

struct strbuf {
    char *bytes;
    size_t size, length; /* length < size, so that the NUL fits */
    bool cut;            /* some text did not fit */
};

#define STRBUF_ON(buffer) strbuf_on((buffer), sizeof(buffer))

struct strbuf strbuf_on(char *buffer, size_t size);
void strbuf_add(struct strbuf *text, const char *string);
/* Adds text that does not come from libleak; control characters are escaped as leak_escape.h says. */
void strbuf_add_shown(struct strbuf *text, const char *string);
/* Adds several strings; NULL ends the list. */
void strbuf_add_all(struct strbuf *text, ...) __attribute__((sentinel));
void strbuf_add_bytes(struct strbuf *text, const char *bytes, size_t length);
void strbuf_add_number(struct strbuf *text, uint64_t number);
void strbuf_add_hex(struct strbuf *text, uint64_t number); /* in the form 0x… */
/* Adds a time in s or ms, as parse_time reads it. */
void strbuf_add_time(struct strbuf *text, uint64_t ns);
void strbuf_add_fd_path(struct strbuf *text, int fd); /* adds "/proc/self/fd/N" */

/* Returns what follows the last slash, or the whole path. */
const char *path_file_name(const char *path);
bool starts_with(const char *string, const char *prefix);
bool equals_word(const char *string, size_t length, const char *word);
/* Parses 0 or 1, off or on, no or yes, false or true. False: the string is another one. */
bool parse_bool(const char *string, size_t length, bool *out);
/* Parses a decimal number, or a hexadecimal one with 0x. False: the string of that length is not
 * such a number. */
bool parse_number(const char *string, size_t length, uint64_t *out);
/* Reads hexadecimal digits as far as there are any, and moves *at behind them. */
uint64_t parse_hex(const char **at);
/* Parses a size: a number with an optional k, m or g (powers of 1024). */
bool parse_size(const char *string, size_t length, uint64_t *out);
/* Parses a time into nanoseconds: a whole number, followed by ms, s, m or h; without a unit it
 * means seconds. */
bool parse_time(const char *string, size_t length, uint64_t *out);
/* Parses a list of words such as "fd,thread", or "none". For the word with index i in words (from
 * 1: words[0] is not used) sets bit i of *out. False: the list contains another word. */
bool parse_word_set(const char *list, size_t length, const char *const *words, size_t count,
                    uint32_t *out);

#endif
