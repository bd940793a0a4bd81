/* utf8.h - is this byte sequence a character? Paths and names may hold anything. */
#ifndef COMMON_BASE_UTF8_H
#define COMMON_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the valid UTF-8 character at a terminated text, 0 = there is none. */
size_t utf8_length(const char *text);

bool utf8_valid(const char *text);

/* Each byte as the character of that number in Latin-1: at most two bytes each, not terminated.
 * Returns how many it wrote. */
size_t utf8_from_latin(const char *text, char *out);

#endif
